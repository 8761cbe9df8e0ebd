// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "eliminate/factor_data.h"
#include "sample/chart/chart_cell.h"

namespace taproot::detail {

/// The chart of a sentence for making trees choice by choice, in double or over Wide.
class ChartTables {
 public:
  /// `data` must outlive this object.
  void build(const FactorData& data, Scratch& scratch);

  int n() const { return data_->table.n; }
  const ChartShape& shape() const { return data_->chart.shape; }
  /// Whether double does not have the range for this sentence.
  bool is_wide() const { return data_->wide; }
  /// Whether a probability that is 0 in double belongs to something impossible.
  bool fits_double() const { return fits_double_; }
  /// Fills the chart over Wide, unless that has been done.
  void widen(Scratch& scratch);

  /// T is double or Wide.
  template <typename T>
  ChartView<const T> view() const;

  /// The length of a law, a multiple of 8, and a bound on the number of choices of a tree.
  std::size_t width() const { return (shape().rows() + 7) / 8 * 8; }
  std::size_t most_choices() const { return 2 * shape().rows() + 1; }

  /// Fills p, [width()], with the probabilities of the alternatives of a cell.
  template <typename T>
  void find_law(const ChartCell& cell, T* p) const;

 private:
  const FactorData* data_ = nullptr;
  Chart wide_;
  bool fits_double_ = false;
  bool has_wide_ = false;
};

/// The choices of a trie over projective trees: the alternatives of one cell of the chart after
/// another. Their laws do not depend on the choices before, are exact, and cost one cell each, so
/// nothing is cached.
template <typename T>
class ChartLaws {
 public:
  using Scalar = T;
  using Tables = ChartTables;
  static constexpr std::size_t kNodeBytes = 0;

  void build(const ChartTables& tables);
  std::size_t width() const { return tables_->width(); }
  std::size_t most_choices() const { return tables_->most_choices(); }
  void add_node() {}

  void start(std::size_t limit, Scratch& scratch);
  bool complete() const { return pending_.empty(); }
  std::int32_t place() const { return 0; }  // Nobody asks for the exact law of an exact one.
  double find(std::int32_t node, const T& left, T* p);
  void find_exact(std::int32_t node, std::int32_t place, T* p);
  void decide(std::int32_t node, int choice);

  void write_heads(std::int32_t* heads) const;
  void read_heads(const std::int32_t* heads);
  int choice_read() const;

  void shrink(std::size_t) {}
  std::size_t bytes() const { return 0; }

 private:
  const ChartTables* tables_ = nullptr;
  std::vector<ChartCell> pending_;     // The cells that are still to be decided, next one last.
  IndexedVector<std::int32_t> heads_;  // Of the path, by word.
  IndexedVector<std::int32_t> read_;   // By position, -1 for ROOT.
};

}  // namespace taproot::detail
