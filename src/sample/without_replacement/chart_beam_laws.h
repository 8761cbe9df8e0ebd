// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sample/without_replacement/beam_candidate.h"
#include "sample/without_replacement/chart_laws.h"

namespace taproot::detail {

/// The prefixes of a beam over projective trees: every level decides the next cell of each prefix.
/// Prefixes need different numbers of choices; one that is a tree already has one child, itself.
/// The functions are those of HeadBeamLaws. T is double or Wide.
template <typename T>
class ChartBeamLaws {
 public:
  using Scalar = T;
  using Tables = ChartTables;

  int start(const ChartTables& tables, Scratch& scratch);
  int level_beyond() const { return static_cast<int>(tables_->most_choices()) + 1; }
  bool begin_level(int level, std::size_t states) const;
  std::size_t width() const { return tables_->width(); }

  double find_law(int level, std::int32_t state, T* p) const;
  void find_exact_law(int level, std::int32_t state, T* p) const { find_law(level, state, p); }
  void make_level(int level, std::span<const BeamCandidate> candidates);

  void write_heads(std::span<std::int32_t> states, std::int32_t* out) const;
  std::size_t bytes() const;

 private:
  static constexpr std::int32_t kNone = -1;

  // A prefix is the list of the cells that it has to decide, next one first. Lists share their
  // tails.
  struct Pending {
    ChartCell cell;
    std::int32_t rest;  // Or kNone.
  };
  struct Level {
    IndexedVector<std::int32_t> states;  // The first cell of each list, or kNone for a tree.
    IndexedVector<BeamLink> links;
  };

  const ChartTables* tables_ = nullptr;
  IndexedVector<Pending> pending_;
  IndexedVector<Level> levels_;
  int last_ = 0;  // The last level.
};

}  // namespace taproot::detail
