// SPDX-License-Identifier: Apache-2.0
//
// Finds the best edge into a node of a contracted graph. Included once per target; see
// core/simd-inl.h for the guard.
#if defined(TAPROOT_DECODE_FIND_BEST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_DECODE_FIND_BEST_INL_H_
#undef TAPROOT_DECODE_FIND_BEST_INL_H_
#else
#define TAPROOT_DECODE_FIND_BEST_INL_H_
#endif

#include <cmath>

#include "core/simd-inl.h"
#include "decode/contracted_graph.h"
#include "decode/exact_costs.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Twice the unit in the last place, because both sides of a comparison have errors.
inline constexpr double kUnit = 0x1p-51;

// The edge from head h into a node.
HWY_INLINE Edge edge_into(const ContractedGraph& g, int32_t id, size_t h) {
  const MatrixView modifiers(g.modifiers.data(), g.edges.ld);
  const int32_t modifier =
      id <= g.edges.n ? id : static_cast<int32_t>(modifiers(g.nodes[id].row, h));
  return {static_cast<int32_t>(h), modifier};
}

// The head of the largest entry of a row, or -1 if all are -inf. Heads before `begin` (0 or 1) are
// left out. Entries that may be the largest within their errors are compared exactly.
HWY_INLINE int find_best(const ContractedGraph& g, ExactCosts& exact, int32_t id,
                         const double* HWY_RESTRICT row, size_t begin) {
  const D d;
  const size_t ld = g.edges.ld;
  const ContractedGraph::Node& node = g.nodes[id];
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  const auto skipped = hn::FirstN(d, begin);
  V top = hn::IfThenElse(skipped, minus_inf, hn::LoadU(d, row));
  for (size_t j = kLanes; j < ld; j += kLanes) top = hn::Max(top, hn::LoadU(d, row + j));
  const double value = hn::GetLane(hn::MaxOfLanes(d, top));
  if (value == -HUGE_VAL) return -1;
  const double slack = node.rounds * kUnit * (std::abs(value) + node.magnitude);
  const V bar = hn::Set(d, value - slack);
  size_t count = 0;
  intptr_t found = -1;
  for (size_t j = 0; j < ld; j += kLanes) {
    auto above = hn::Ge(hn::LoadU(d, row + j), bar);
    if (j == 0) above = hn::AndNot(skipped, above);
    const size_t here = hn::CountTrue(d, above);
    if (here == 0) continue;
    if (found < 0) found = static_cast<intptr_t>(j) + hn::FindFirstTrue(d, above);
    count += here;
  }
  if (HWY_UNLIKELY(count > 1)) {
    for (size_t h = static_cast<size_t>(found) + 1; h < ld; ++h) {
      if (!(row[h] >= value - slack)) continue;
      const Edge best = edge_into(g, id, static_cast<size_t>(found));
      if (exact.compare(edge_into(g, id, h), best, id) > 0) found = static_cast<intptr_t>(h);
    }
  }
  return static_cast<int>(found);
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_DECODE_FIND_BEST_INL_H_
