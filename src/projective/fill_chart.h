// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scratch.h"
#include "projective/chart.h"
#include "projective/simply.h"
#include "scores/score_table.h"

namespace taproot::detail {

/// The memory that charts are worked on in.
struct ProjectiveScratch : StageScratch {
  static constexpr Stage kStage = Stage::kProjective;

  Buffer<double> factors;          ///< [ld]: the powers of two that scale the columns.
  Buffer<double> column_sums;      ///< [ld]
  Buffer<double> outside;          ///< kOutsideTables tables, and twice as many with derivatives.
  Buffer<double> slopes;           ///< A chart, and its derivatives behind it.
  Buffer<Wide> wide_outside;       ///< kOutsideTables tables over Wide.
  Buffer<Dual<Wide>> wide_slopes;  ///< A chart over Wide with derivatives.
  Buffer<Dual<Wide>> wide_out_slopes;  ///< kOutsideTables tables of these.
  Buffer<Truth> truth;                 ///< A chart of what is possible.
  Buffer<Truth> out_truth;             ///< kOutsideTables tables of that.
};

/// Sets the power of two by which each column of the weights is multiplied, factors[m], so that it
/// sums to less than 1. Then every entry of the inside tables, and every derivative of Z, is less
/// than 1, because it is at most what words that choose their heads independently of each other
/// would give. Single-root, factors[0] does the same for the ROOT row, which is multiplied by both;
/// multi-root it is 1. Returns the sum of the exponents taken away. See fill_chart() for the rest.
double scale_columns(const ScoreTable& table, const double* weights, const double* sums,
                     double* factors);

/// Whether the weights that were stored as 0, none of them above 2^flushed, are below
/// 2^-kNegligibleBits of Z, if Z of columns that sum to less than 1 is 2^-bits.
bool covers_flushed(double flushed, double bits, int n);

/// Fills the chart of a sentence: inside tables and Z, in double where that is enough and over Wide
/// elsewhere. `weights` is [n+1][ld] and `sums` [ld], with `flushed`, from fill_weights(): the
/// weights of all heads, the sums of the columns over word heads, and the exponent of the largest
/// weight lost. Returns false if there is no projective tree.
bool fill_chart(const ScoreTable& table, const double* weights, const double* sums, double flushed,
                Chart& chart, ProjectiveScratch& scratch);

/// The chart of a sentence over Wide. There must be a projective tree.
void fill_wide_chart(const ScoreTable& table, Chart& chart);

/// Copies a matrix over edges, [n+1][ld] with row = head, to the diagonals of the weight tables and
/// to the ROOT row of a chart: value(h, m, x) becomes the entry of edge h -> m with number x. The
/// rest of each block that has entries becomes `zero`.
template <typename T, typename Value>
void load_diagonals(const ChartView<T>& chart, const double* matrix, std::size_t ld, T zero,
                    Value&& value) {
  const ChartShape& shape = chart.shape();
  for (int h = 0; h < shape.size; ++h) {
    const int head = h + shape.first;
    const double* row = MatrixView(matrix, ld).row(head);
    T* left = &chart(kLeftWeight, h, 0);
    const auto back = static_cast<std::ptrdiff_t>(shape.ld) - 1;
    for (int m = 0; m < h; ++m, left -= back) {
      *left = value(head, m + shape.first, row[m + shape.first]);
    }
    T* right = &chart(kRightWeight, 0, h) + shape.ld;
    for (int m = h + 1; m < shape.size; ++m, right += shape.ld) {
      *right = value(head, m + shape.first, row[m + shape.first]);
    }
  }
  for (int d = 0; d < shape.size; ++d) {
    for (int i = shape.size - d; i % 8 != 0; ++i) {
      chart(kRightWeight, d, i) = chart(kLeftWeight, d, i) = zero;
    }
  }
  if (!shape.single()) return;
  for (int m = 0; m < shape.size; ++m) chart.roots()[m] = value(0, m + 1, matrix[m + 1]);
}

}  // namespace taproot::detail
