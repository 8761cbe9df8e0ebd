// SPDX-License-Identifier: Apache-2.0
//
// A projective tree is a walk down the chart: at every span, a choice among its splits, whose law
// does not depend on what is chosen elsewhere. The sampler of trees, the sampler without
// replacement and the search for the k best all walk in this way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "projective/chart.h"

namespace taproot::detail {

/// A choice that is still to be made.
struct ChartCell {
  enum Kind : std::int32_t {
    kRoot,       ///< Single-root: which position is the root.
    kRightSpan,  ///< Of an entry of kRight: which is the last modifier of its first position.
    kLeftSpan,   ///< Of an entry of kLeft: which is the first modifier of its last position.
    kSplitSpan,  ///< Of an entry of kSplit: where the kRight span ends.
  };
  Kind kind;
  std::int32_t d;
  std::int32_t i;
};

/// How many alternatives the cell has.
inline int choice_count(const ChartShape& shape, const ChartCell& cell) {
  return cell.kind == ChartCell::kRoot ? shape.size : cell.d;
}

/// The alternatives of a span: alternative e has the factors a[e * up] and b[e * (1 - up)].
template <typename T>
struct ChartProducts {
  const T* a;
  const T* b;
  std::ptrdiff_t up;

  T operator()(std::ptrdiff_t e) const { return a[e * up] * b[e * (1 - up)]; }
};

template <typename T>
ChartProducts<T> products_of(const ChartView<const T>& c, const ChartCell& cell) {
  const auto up = static_cast<std::ptrdiff_t>(c.ld());
  switch (cell.kind) {
    case ChartCell::kRightSpan:
      return {&c(kRightEdge, 1, cell.i), &c(kRight, cell.d - 1, cell.i + 1), up};
    case ChartCell::kLeftSpan:
      return {&c(kLeft, 0, cell.i), &c(kLeftEdge, cell.d, cell.i), up};
    default:
      return {&c(kRight, 0, cell.i), &c(kLeft, cell.d - 1, cell.i + 1), up};
  }
}

/// Takes alternative e of a cell: calls attach(modifier, head) for the edges that are decided by it
/// (positions, and -1 for ROOT), and push(cell) for the cells in which there is a choice to make.
template <typename Attach, typename Push>
TAPROOT_HOST_DEVICE void take_choice(const ChartShape& shape, const ChartCell& cell, int e,
                                     Attach&& attach, Push&& push) {
  // A span of two positions has one alternative, which is taken here.
  const auto right = [&](int i, int d) {
    if (d == 1) attach(i + 1, i);
    if (d >= 2) push(ChartCell{ChartCell::kRightSpan, d, i});
  };
  const auto left = [&](int i, int d) {
    if (d == 1) attach(i, i + 1);
    if (d >= 2) push(ChartCell{ChartCell::kLeftSpan, d, i});
  };
  const auto split = [&](int i, int d) {
    if (d >= 2) push(ChartCell{ChartCell::kSplitSpan, d, i});
  };
  const int i = cell.i;
  const int d = cell.d;
  switch (cell.kind) {
    case ChartCell::kRoot:
      attach(e, -1);
      left(0, e);
      right(e, shape.size - 1 - e);
      return;
    case ChartCell::kRightSpan:
      attach(i + e + 1, i);
      right(i + e + 1, d - 1 - e);
      split(i, e + 1);
      return;
    case ChartCell::kLeftSpan:
      attach(i + e, i + d);
      left(i, e);
      split(i + e, d - e);
      return;
    case ChartCell::kSplitSpan:
      right(i, e);
      left(i + e + 1, d - 1 - e);
      return;
  }
}

/// The first alternative at which the running sum of weight(e) passes the target. Rounding may
/// leave the sum of all below the target: then it is the last one of positive weight.
template <typename Weight>
TAPROOT_HOST_DEVICE int scan_alternatives(int count, double target, Weight&& weight) {
  double running = 0;
  for (int e = 0; e < count; ++e) {
    running += weight(e);
    if (running > target) return e;
  }
  int last = count - 1;
  while (last > 0 && !(weight(last) > 0)) --last;
  return last;
}

/// Begins a walk. Single-root: pushes the choice of the root. Multi-root: pushes the span of ROOT
/// and all words, or attaches the word if there is only one.
template <typename Attach, typename Push>
TAPROOT_HOST_DEVICE void start_walk(const ChartShape& shape, Attach&& attach, Push&& push) {
  if (shape.single()) {
    push(ChartCell{ChartCell::kRoot, shape.size - 1, 0});
  } else if (shape.size == 2) {
    attach(1, 0);
  } else {
    push(ChartCell{ChartCell::kRightSpan, shape.size - 1, 0});
  }
}

}  // namespace taproot::detail
