// SPDX-License-Identifier: Apache-2.0
//
// The chart of the projective trees of one sentence (Eisner 1996). This is the entry to the folder,
// and these are its files:
//   chart.h           the tables, and what is kept of a sentence
//   simply.h          the inside and the outside pass by their definition, over any scalar
//   semirings-inl.h   the vector arithmetic that the passes are written over
//   inside.h, .cc     the inside pass in vectors, over (+, *) and over (max, +)
//   outside.h, .cc    the outside pass in vectors, and both passes with a derivative
//   fill_chart.h, .cc weights, scaling, and the choice between double and Wide
//   support.h, .cc    which edges some projective tree has
//   counting.h, .cc   whether all trees of a graph are projective
// docs/math.md ("Projective trees") has the mathematics.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/buffer.h"
#include "core/host_device.h"
#include "core/wide.h"
#include "taproot/types.h"

namespace taproot::detail {

/// The tables of a chart. A span has d + 1 positions i..i+d.
enum ChartTable : std::uint8_t {
  kRight,        ///< All words of the span descend from its first position.
  kLeft,         ///< All words of the span descend from its last position.
  kSplit,        ///< A kRight span and, right after it, a kLeft span: an edge may join their ends.
  kRightEdge,    ///< kSplit with the edge from the first to the last position.
  kLeftEdge,     ///< kSplit with the edge from the last to the first position.
  kRightWeight,  ///< The weight of the edge i -> i+d.
  kLeftWeight,   ///< The weight of the edge i+d -> i.
  kChartTables,
};

/// The tables that the outside pass fills: derivatives with respect to an entry of the tables
/// above.
enum OutsideTable : std::uint8_t { kOutRight, kOutLeft, kOutSplit, kOutsideTables };

/// The shape of a chart. Positions are words 1..n under the single-root rule, whose ROOT edges are
/// kept apart, and nodes 0..n under the multi-root rule.
struct ChartShape {
  int size = 0;   ///< The number of positions.
  int first = 0;  ///< The node at position 0: 1 under the single-root rule, else 0.
  std::size_t ld = 0;

  TAPROOT_HOST_DEVICE bool single() const { return first == 1; }
  std::size_t rows() const { return static_cast<std::size_t>(size); }
  /// How much memory `tables` tables take, with a row for the ROOT edges and room in front.
  std::size_t memory(std::size_t tables) const { return kFront + (tables * rows() + 1) * ld; }

  /// Kernels read up to 7 entries before a row and up to 7 beyond its last entry. These are zeros:
  /// the last 8 entries of the row before, and the block after the last one that has entries.
  static constexpr std::size_t kFront = 8;
};

inline ChartShape chart_shape(int n, RootRule root) {
  const int first = root == RootRule::kSingle ? 1 : 0;
  const int size = n + 1 - first;
  const std::size_t ld = (static_cast<std::size_t>(size) + 7) / 8 * 8 + ChartShape::kFront;
  return {size, first, ld % 64 == 0 ? ld + 8 : ld};
}

/// Tables by diagonals: entry (table, d, i) belongs to the span i..i+d. So all spans of one length
/// are contiguous, and sums over splits are sums of products of contiguous runs.
template <typename T>
class ChartView {
  template <typename>
  friend class ChartView;

 public:
  using Value = std::remove_const_t<T>;

  ChartView(T* memory, const ChartShape& shape, std::size_t tables)
      : data_(memory + ChartShape::kFront), shape_(shape), tables_(tables) {}

  /// The same tables, to be read.
  template <typename U>
  requires(std::is_const_v<T>&& std::is_same_v<U, Value>)
      ChartView(const ChartView<U>& writable)  // NOLINT(google-explicit-constructor)
      : data_(writable.data_), shape_(writable.shape_), tables_(writable.tables_) {}

  const ChartShape& shape() const { return shape_; }
  int size() const { return shape_.size; }
  std::size_t ld() const { return shape_.ld; }
  T* table(std::size_t table) const { return data_ + table * shape_.rows() * shape_.ld; }
  T* row(std::size_t t, std::integral auto d) const {
    return table(t) + static_cast<std::size_t>(d) * shape_.ld;
  }
  T& operator()(std::size_t t, std::integral auto d, std::integral auto i) const {
    return row(t, d)[i];
  }
  /// The weights of the ROOT edges by position, under the single-root rule.
  T* roots() const { return table(tables_); }

  /// The whole chart: Z.
  Value total() const {
    const int last = size() - 1;
    if (!shape_.single()) return (*this)(kRight, last, 0);
    Value sum = Value(0);
    for (int m = 0; m <= last; ++m) sum = sum + root_term(m);
    return sum;
  }
  /// The part of Z that has position m as its root, under the single-root rule.
  Value root_term(int m) const {
    return roots()[m] * (*this)(kLeft, m, 0) * (*this)(kRight, size() - 1 - m, m);
  }

 private:
  T* data_;
  ChartShape shape_;
  std::size_t tables_;
};

/// What is kept of a sentence: its inside tables.
struct Chart {
  ChartShape shape;
  bool wide = false;  ///< Whether the tables are over Wide.
  Buffer<double> memory;
  Buffer<Wide> wide_memory;
  /// Z of the sentence's scaled weights (see ScoreTable) is mantissa * 2^exponent.
  double mantissa = 1;
  double exponent = 0;

  ChartView<double> view() { return {memory.data(), shape, kChartTables}; }
  ChartView<const double> view() const { return {memory.data(), shape, kChartTables}; }
  ChartView<Wide> wide_view() { return {wide_memory.data(), shape, kChartTables}; }
  ChartView<const Wide> wide_view() const { return {wide_memory.data(), shape, kChartTables}; }

  /// visit(view) with the tables in the scalar that they have.
  template <typename Visit>
  decltype(auto) with_view(Visit&& visit) const {
    return wide ? visit(wide_view()) : visit(view());
  }
};

}  // namespace taproot::detail
