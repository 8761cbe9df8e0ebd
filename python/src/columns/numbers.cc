// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "columns/answers.h"
#include "pool.h"

namespace taproot::python {
namespace {

std::size_t cells_of(const Rows& rows, std::size_t sentence) {
  return (rows.words(sentence) + 1) * (rows.words(sentence) + 1);
}

// Finds the edges of matrices [side][side][labels].
class EdgeFinder {
 public:
  // A probability of 0 is never an edge, whatever the threshold; the diagonal and column 0 are 0.
  EdgeFinder(std::size_t labels, double threshold)
      : labels_(labels), least_(std::max(threshold, std::numeric_limits<double>::denorm_min())) {}

  /// How many edges each modifier has, to counts[0..side), and all of them together. Without a
  /// branch, so that it is done in vectors.
  std::size_t count(const double* p, std::size_t side, std::vector<std::size_t>& counts) const {
    counts.assign(side, 0);
    for (std::size_t h = 0; h < side; ++h) {
      const double* const row = p + h * side * labels_;
      if (labels_ == 1) {
        for (std::size_t m = 0; m < side; ++m) counts[m] += row[m] >= least_ ? 1 : 0;
        continue;
      }
      for (std::size_t i = 0; i < side * labels_; ++i) {
        counts[i / labels_] += row[i] >= least_ ? 1 : 0;
      }
    }
    std::size_t all = 0;
    for (const std::size_t own : counts) all += own;
    return all;
  }

  /// Writes them to columns from `at` on. `counts` are those of count().
  void write(const double* p, std::size_t side, std::vector<std::size_t>& counts, std::size_t at,
             SparseMarginals& to) const {
    for (std::size_t& place : counts) {
      const std::size_t own = place;
      place = at;
      at += own;
    }
    for (std::size_t h = 0; h < side; ++h) {
      for (std::size_t m = 1; m < side; ++m) {
        for (std::size_t l = 0; l < labels_; ++l) {
          const double probability = p[(h * side + m) * labels_ + l];
          if (!(probability >= least_)) continue;
          const std::size_t place = counts[m]++;
          to.head.data()[place] = static_cast<std::int32_t>(h);
          to.modifier.data()[place] = static_cast<std::int32_t>(m);
          if (to.label.size() > 0) to.label.data()[place] = static_cast<std::int32_t>(l);
          to.probability.data()[place] = probability;
        }
      }
    }
  }

 private:
  std::size_t labels_;
  double least_;
};

}  // namespace

Column<double> find_numbers(Rows& rows, NumberQuestion question) {
  rows.prepare();
  Column<double> column;
  std::fill_n(column.grow(rows.size()), rows.size(), 0.0);
  std::vector<double> found;
  rows.ask(
      [&](DependencyTrees& trees, std::size_t) {
        found.resize(trees.size());
        return (trees.*question)(found);
      },
      [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i) {
          if (rows.ok(i)) column.data()[rows.row(i)] = found[i - first];
        }
      });
  return column;
}

DenseMarginals find_dense_marginals(Rows& rows) {
  rows.prepare();
  DenseMarginals found;
  std::size_t all = 0;
  for (std::size_t i = 0; i < rows.sentences(); ++i) all += cells_of(rows, i);
  found.marginals.reserve(all);
  found.offsets.reserve(rows.size());
  std::size_t begin = 0;
  rows.ask(
      [&](DependencyTrees& trees, std::size_t first) {
        begin = found.marginals.size();
        std::vector<EdgeMatrix> out;
        for (std::size_t i = first; i < first + trees.size(); ++i) {
          out.push_back({found.marginals.grow(cells_of(rows, i)),
                         static_cast<std::ptrdiff_t>(rows.words(i) + 1)});
        }
        return trees.marginals(out);
      },
      [&](std::size_t first, std::size_t end) {
        // Those without an answer are closed up.
        double* to = found.marginals.data() + begin;
        const double* from = to;
        for (std::size_t i = first; i < end; from += cells_of(rows, i), ++i) {
          if (!rows.ok(i)) continue;
          if (to != from) std::copy_n(from, cells_of(rows, i), to);
          to += cells_of(rows, i);
          found.offsets.fill(rows.row(i));
          found.offsets.add(cells_of(rows, i));
        }
        found.marginals.cut(static_cast<std::size_t>(to - found.marginals.data()));
      });
  found.offsets.fill(rows.size());
  return found;
}

SparseMarginals find_sparse_marginals(Rows& rows, double threshold) {
  rows.prepare();
  SparseMarginals found;
  const bool labeled = rows.label_count() > 0;
  const auto labels = static_cast<std::size_t>(std::max(1, rows.label_count()));
  const EdgeFinder finder(labels, threshold);
  Column<double> memory;
  std::vector<double*> matrices;
  std::vector<std::vector<std::size_t>> counts;
  std::vector<std::size_t> sizes;
  rows.ask(
      [&](DependencyTrees& trees, std::size_t first) {
        std::size_t cells = 0;
        for (std::size_t b = 0; b < trees.size(); ++b) cells += cells_of(rows, first + b) * labels;
        memory.cut(0);
        memory.reserve(cells);
        matrices.clear();
        std::vector<EdgeMatrix> out;
        for (std::size_t b = 0; b < trees.size(); ++b) {
          const std::size_t side = rows.words(first + b) + 1;
          matrices.push_back(memory.grow(side * side * labels));
          out.push_back({matrices.back(), static_cast<std::ptrdiff_t>(side * labels)});
        }
        return labeled ? trees.label_marginals(out) : trees.marginals(out);
      },
      [&](std::size_t first, std::size_t end) {
        counts.resize(std::max(counts.size(), end - first));
        sizes.assign(end - first, 0);
        pool().for_each(end - first, [&](std::size_t b) {
          if (!rows.ok(first + b)) return;
          sizes[b] = finder.count(matrices[b], rows.words(first + b) + 1, counts[b]);
        });
        std::vector<std::size_t> places;
        std::size_t at = found.head.size();
        for (std::size_t b = 0; b < end - first; ++b) {
          places.push_back(at);
          at += sizes[b];
          if (!rows.ok(first + b)) continue;
          found.offsets.fill(rows.row(first + b));
          found.offsets.add(sizes[b]);
        }
        const std::size_t more = at - found.head.size();
        found.head.grow(more);
        found.modifier.grow(more);
        if (labeled) found.label.grow(more);
        found.probability.grow(more);
        pool().for_each(end - first, [&](std::size_t b) {
          if (!rows.ok(first + b)) return;
          finder.write(matrices[b], rows.words(first + b) + 1, counts[b], places[b], found);
        });
      });
  found.offsets.fill(rows.size());
  return found;
}

}  // namespace taproot::python
