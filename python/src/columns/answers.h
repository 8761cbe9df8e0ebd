// SPDX-License-Identifier: Apache-2.0
//
// The answers of rows as columns. Rows without an answer have an empty list, or 0, and Python
// makes them null.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "columns/column.h"
#include "columns/rows.h"

namespace taproot::python {

/// Closes the gaps that sentences without an answer leave in a column whose values from `begin` on
/// belong to the sentences first to end, size(i) values to sentence i.
template <typename T, typename Size>
void close_gaps(const Rows& rows, std::size_t first, std::size_t end, std::size_t begin,
                const Size& size, Column<T>& column) {
  T* to = column.data() + begin;
  const T* from = to;
  for (std::size_t i = first; i < end; from += size(i), ++i) {
    if (!rows.ok(i)) continue;
    if (to != from) std::copy_n(from, size(i), to);
    to += size(i);
  }
  column.cut(static_cast<std::size_t>(to - column.data()));
}

using NumberQuestion = std::vector<Outcome> (DependencyTrees::*)(std::span<double>);
/// One number per row.
Column<double> find_numbers(Rows& rows, NumberQuestion question);

/// A list per row: matrices [n+1][n+1], row-major.
struct DenseMarginals {
  ListOffsets offsets;
  Column<double> marginals;
};
DenseMarginals find_dense_marginals(Rows& rows);

/// Lists per row of the edges (with labels: of edges and labels) of positive probability that is at
/// least `threshold`, ordered by modifier, head and label.
struct SparseMarginals {
  ListOffsets offsets;
  Column<std::int32_t> head;
  Column<std::int32_t> modifier;
  Column<std::int32_t> label;
  Column<double> probability;

  void reserve(std::size_t size, bool labeled) {
    head.reserve(size);
    modifier.reserve(size);
    if (labeled) label.reserve(size);
    probability.reserve(size);
  }
  void grow(std::size_t by, bool labeled) {
    head.grow(by);
    modifier.grow(by);
    if (labeled) label.grow(by);
    probability.grow(by);
  }
};
SparseMarginals find_sparse_marginals(Rows& rows, double threshold);

/// Trees of rows: row i has the trees rows[i] to rows[i + 1], tree t the heads words[t] to
/// words[t + 1], and numbers per tree. Columns that a question does not have are empty.
struct TreeColumns {
  ListOffsets rows;
  ListOffsets words;
  Column<std::int32_t> heads;
  Column<std::int32_t> labels;
  Column<double> log_prob;
  Column<double> score;
  Column<double> gumbel;
  Column<double> weight;
  Column<double> kappa;            ///< Per row.
  Column<std::uint8_t> exhausted;  ///< Per row.
};
TreeColumns find_best(Rows& rows, bool mbr);
TreeColumns find_samples(Rows& rows, std::size_t k, const SampleOptions& options);
TreeColumns find_without_replacement(Rows& rows, std::size_t k,
                                     const WithoutReplacementOptions& options);
TreeColumns find_kbest(Rows& rows, std::size_t k);

}  // namespace taproot::python
