// SPDX-License-Identifier: Apache-2.0
//
// What the passes over charts side by side share. Included once per target; see core/simd-inl.h for
// the guard.
//
// A chart has one square of cells per pair of tables, by node. Of a span i..j, what points to the
// right is in cell (i, j), and what points to the left in cell (j, i); so an edge h -> m is in cell
// (h, m). Spans are filled in tiles of two first and two last positions, which share what they
// load.
#if defined(TAPROOT_LANES_CHART_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_CHART_TILES_INL_H_
#undef TAPROOT_LANES_CHART_TILES_INL_H_
#else
#define TAPROOT_LANES_CHART_TILES_INL_H_
#endif

#include <cstddef>

#include "lanes/cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// The squares of a chart. The outside pass reads all and overwrites the weights with marginals. If
// there is none, `edges` may be the same cells as `weights`.
struct ChartCells {
  size_t first;    // The node at the first position: 1 under the single-root rule, else 0.
  size_t n;        // The node at the last position.
  Cells weights;   // kRightWeight and kLeftWeight; under the single-root rule, row 0 has ROOT's.
  Cells complete;  // kRight and kLeft, with 1 on the diagonal.
  Cells edges;     // kRightEdge and kLeftEdge.
};

// One sum for each span of a tile with the first positions a, b = a + 1 and the last positions
// j, k = j + 1.
struct Quad {
  V aj;
  V ak;
  V bj;
  V bk;

  // Adds the products of what belongs to the first position and what belongs to the last one.
  HWY_INLINE void add(V a, V b, V j, V k) {
    aj = hn::MulAdd(a, j, aj);
    ak = hn::MulAdd(a, k, ak);
    bj = hn::MulAdd(b, j, bj);
    bk = hn::MulAdd(b, k, bk);
  }
};

HWY_INLINE Quad zero_quad() {
  const V zero = hn::Zero(D());
  return {zero, zero, zero, zero};
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_CHART_TILES_INL_H_
