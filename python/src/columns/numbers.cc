// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "columns/answers.h"
#include "pool.h"
#include "taproot/query.h"

namespace taproot::python {
namespace {

std::size_t cells_of(const Rows& rows, std::size_t sentence) {
  return (rows.words(sentence) + 1) * (rows.words(sentence) + 1);
}

// Writes the edges of a matrix [side][side][labels], whose cells are given in order, to `out` from
// `at` on, ordered by modifier, head and label.
void write_edges(const double* matrix, std::size_t side, std::size_t labels,
                 std::span<const std::uint32_t> cells, std::size_t at, SparseMarginals& out) {
  thread_local std::vector<std::size_t> places;  // Of the edges of each modifier.
  const auto row = static_cast<std::uint32_t>(side * labels);
  const auto depth = static_cast<std::uint32_t>(labels);
  // Quotients by way of doubles: exact, because the half keeps them away from integers by more than
  // they are rounded, and five times as fast as dividing.
  const auto quotient = [](std::uint32_t x, double inverse) {
    return static_cast<std::uint32_t>((static_cast<double>(x) + 0.5) * inverse);
  };
  const double of_row = 1.0 / row;
  const double of_depth = 1.0 / depth;
  places.assign(side + 1, 0);
  places[0] = at;
  for (const std::uint32_t cell : cells) {
    ++places[quotient(cell - quotient(cell, of_row) * row, of_depth) + 1];
  }
  for (std::size_t m = 1; m <= side; ++m) places[m] += places[m - 1];
  for (const std::uint32_t cell : cells) {  // Heads and labels are in order already.
    const std::uint32_t head = quotient(cell, of_row);
    const std::uint32_t in_row = cell - head * row;
    const std::uint32_t modifier = quotient(in_row, of_depth);
    const std::size_t to = places[modifier]++;
    out.modifier.data()[to] = static_cast<std::int32_t>(modifier);
    out.head.data()[to] = static_cast<std::int32_t>(head);
    out.probability.data()[to] = matrix[cell];
    if (out.label.size() > 0) {
      out.label.data()[to] = static_cast<std::int32_t>(in_row - modifier * depth);
    }
  }
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
        const auto size_of = [&](std::size_t i) { return cells_of(rows, i); };
        close_gaps(rows, first, end, begin, size_of, found.marginals);
        for (std::size_t i = first; i < end; ++i) {
          if (rows.ok(i)) found.offsets.add_at(rows.row(i), size_of(i));
        }
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
  // Fresh pages would take a tenth of the time, so a thread that asks keeps its memory. It is taken
  // out for the question, because a signal handler of Python may ask another one meanwhile.
  thread_local Column<double> kept_memory;
  thread_local Column<std::uint32_t> kept_cells;
  Column<double> memory = std::exchange(kept_memory, {});
  Column<std::uint32_t> cells_of_edges = std::exchange(kept_cells, {});  // With room for all cells.
  std::vector<std::size_t> begins;  // Of the matrices, and of the room for their cells.
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
        cells_of_edges.cut(0);
        cells_of_edges.grow(cells);
        std::vector<EdgeMatrix> out;
        for (std::size_t b = 0; b < trees.size(); ++b) {
          const std::size_t row = (rows.words(first + b) + 1) * labels;
          out.push_back({memory.data() + begins[b], static_cast<std::ptrdiff_t>(row)});
        }
        return labeled ? trees.label_marginals(out) : trees.marginals(out);
      },
      [&](std::size_t first, std::size_t end) {
        counts.assign(end - first, 0);
        const auto size_of = [&](std::size_t b) { return cells_of(rows, first + b) * labels; };
        for_each_of(end - first, [&](std::size_t b) {
          if (!rows.ok(first + b)) return;
          counts[b] = cells_at_least(std::span(memory.data() + begins[b], size_of(b)), least,
                                     std::span(cells_of_edges.data() + begins[b], size_of(b)));
        });
        places.clear();
        std::size_t size = found.head.size();
        for (std::size_t b = 0; b < end - first; ++b) {
          places.push_back(size);
          size += counts[b];
          if (rows.ok(first + b)) found.offsets.add_at(rows.row(first + b), counts[b]);
        }
        // The first chunk shows how many edges there will be.
        if (first == 0 && end < rows.sentences())
          found.reserve(size / 8 * 9 / end * rows.sentences(), labeled);
        found.grow(size - found.head.size(), labeled);
        for_each_of(end - first, [&](std::size_t b) {
          write_edges(memory.data() + begins[b], rows.words(first + b) + 1, labels,
                      std::span(cells_of_edges.data() + begins[b], counts[b]), places[b], found);
        });
      });
  found.offsets.fill(rows.size());
  kept_memory = std::move(memory);
  kept_cells = std::move(cells_of_edges);
  return found;
}

}  // namespace taproot::python
