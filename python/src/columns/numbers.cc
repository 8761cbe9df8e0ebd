// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "columns/answers.h"
#include "pool.h"

namespace taproot::python {
namespace {

std::size_t cells_of(const Rows& rows, std::size_t sentence) {
  return (rows.words(sentence) + 1) * (rows.words(sentence) + 1);
}

// The edges of a matrix [side][side][labels] that have at least the probability `least`, to room
// from `at` on, ordered by modifier, head and label; returns how many. There is no branch that
// depends on a probability, because no processor could foresee it.
std::size_t find_edges(const double* matrix, std::size_t side, std::size_t labels, double least,
                       std::size_t at, SparseMarginals& room) {
  struct Edge {
    std::uint32_t head;
    std::uint32_t cell;  // In the head's row.
  };
  thread_local std::vector<Edge> edges;
  thread_local std::vector<std::size_t> places;  // Of the edges of each modifier.
  const std::size_t row = side * labels;
  edges.resize(std::max(edges.size(), side * row + 1));
  Edge* const edge = edges.data();
  std::size_t count = 0;
  for (std::size_t h = 0; h < side; ++h) {
    const double* const of_head = matrix + h * row;
    for (std::size_t i = 0; i < row; ++i) {
      edge[count] = {static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(i)};
      count += of_head[i] >= least ? 1 : 0;
    }
  }
  // In the order of modifiers. Heads and labels are in order already.
  const auto modifier_of = [&](const Edge& e) { return labels == 1 ? e.cell : e.cell / labels; };
  places.assign(side + 1, 0);
  for (std::size_t e = 0; e < count; ++e) ++places[modifier_of(edge[e]) + 1];
  for (std::size_t m = 0; m < side; ++m) places[m + 1] += places[m];
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t m = modifier_of(edge[e]);
    const std::size_t to = at + places[m]++;
    room.modifier.data()[to] = static_cast<std::int32_t>(m);
    room.head.data()[to] = static_cast<std::int32_t>(edge[e].head);
    room.probability.data()[to] = matrix[edge[e].head * row + edge[e].cell];
    if (room.label.size() > 0) {
      room.label.data()[to] = static_cast<std::int32_t>(edge[e].cell - m * labels);
    }
  }
  return count;
}

// visit(i) for every i < count, on all threads, a few at a time.
template <typename Visit>
void for_each_of(std::size_t count, const Visit& visit) {
  constexpr std::size_t kTogether = 16;
  pool().for_each((count + kTogether - 1) / kTogether, [&](std::size_t block) {
    const std::size_t end = std::min(count, (block + 1) * kTogether);
    for (std::size_t i = block * kTogether; i < end; ++i) visit(i);
  });
}

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
  // A probability of 0 is never an edge; the diagonal and column 0 are 0.
  const double least = std::max(threshold, std::numeric_limits<double>::denorm_min());
  Column<double> memory;
  SparseMarginals room;  // Of a chunk, where each sentence has room for all cells of its matrix.
  std::vector<std::size_t> begins;  // Of the matrices, and of the edges' room.
  std::vector<std::size_t> counts;
  std::vector<std::size_t> places;
  rows.ask(
      [&](DependencyTrees& trees, std::size_t first) {
        begins.clear();
        std::size_t cells = 0;
        for (std::size_t b = 0; b < trees.size(); ++b) {
          begins.push_back(cells);
          cells += cells_of(rows, first + b) * labels;
        }
        memory.cut(0);
        memory.grow(cells);
        // One more, because the last edge may be followed by one that is not kept.
        if (room.head.size() <= cells) room.grow(cells + 1 - room.head.size(), labeled);
        std::vector<EdgeMatrix> out;
        for (std::size_t b = 0; b < trees.size(); ++b) {
          const std::size_t row = (rows.words(first + b) + 1) * labels;
          out.push_back({memory.data() + begins[b], static_cast<std::ptrdiff_t>(row)});
        }
        return labeled ? trees.label_marginals(out) : trees.marginals(out);
      },
      [&](std::size_t first, std::size_t end) {
        counts.assign(end - first, 0);
        for_each_of(end - first, [&](std::size_t b) {
          if (!rows.ok(first + b)) return;
          counts[b] = find_edges(memory.data() + begins[b], rows.words(first + b) + 1, labels,
                                 least, begins[b], room);
        });
        places.clear();
        std::size_t size = found.head.size();
        for (std::size_t b = 0; b < end - first; ++b) {
          places.push_back(size);
          size += counts[b];
          if (!rows.ok(first + b)) continue;
          found.offsets.fill(rows.row(first + b));
          found.offsets.add(counts[b]);
        }
        // The first chunk shows how many edges there will be.
        if (first == 0 && end < rows.sentences())
          found.reserve(size / 8 * 9 / end * rows.sentences(), labeled);
        found.grow(size - found.head.size(), labeled);
        const auto copy = [&](std::size_t b, auto& from, auto& to) {
          std::copy_n(from.data() + begins[b], counts[b], to.data() + places[b]);
        };
        for_each_of(end - first, [&](std::size_t b) {
          copy(b, room.head, found.head);
          copy(b, room.modifier, found.modifier);
          if (labeled) copy(b, room.label, found.label);
          copy(b, room.probability, found.probability);
        });
      });
  found.offsets.fill(rows.size());
  return found;
}

}  // namespace taproot::python
