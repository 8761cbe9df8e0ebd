// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/wide.h"
#include "query/wide_divergence.h"

namespace taproot::detail {

/// A set of alternatives in two distributions p and q: the sums of their weights and, as `gap`, the
/// mean under p, over the alternatives, of the log of an alternative's share in q or, for the KL
/// divergence, of that share over the alternative's share in p. Alternatives are added, and
/// independent choices multiplied.
template <Divergence kKind>
struct DivergenceEntry {
  Wide p = 0.0;
  Wide q = 0.0;
  double gap = 0;

  DivergenceEntry() = default;
  DivergenceEntry(Wide p_weight, Wide q_weight, double mean)
      : p(p_weight), q(q_weight), gap(mean) {}
  explicit DivergenceEntry(int both) : p(both), q(both) {}

  friend DivergenceEntry operator*(const DivergenceEntry& a, const DivergenceEntry& b) {
    return {a.p * b.p, a.q * b.q, a.gap + b.gap};
  }
  friend DivergenceEntry operator+(const DivergenceEntry& a, const DivergenceEntry& b) {
    if (is_negligible(a, b)) return a;
    DivergenceEntry both(a.p + b.p, a.q + b.q, 0);
    if (!both.p.is_zero()) both.gap = a.part_of_gap(both) + b.part_of_gap(both);
    return both;
  }

 private:
  // Whether b is too small beside a to matter, also when it is multiplied by a log (below 2^60).
  static bool is_negligible(const DivergenceEntry& a, const DivergenceEntry& b) {
    constexpr std::int64_t kBits = 64;
    return (b.p.is_zero() || (!a.p.is_zero() && a.p.exponent() - b.p.exponent() > 2 * kBits)) &&
           (b.q.is_zero() || (!a.q.is_zero() && a.q.exponent() - b.q.exponent() > kBits));
  }
  double part_of_gap(const DivergenceEntry& both) const {
    if (p.is_zero()) return 0;
    const Wide share = p / both.p;
    Wide ratio = q / both.q;
    if constexpr (kKind == Divergence::kRelativeEntropy) ratio = ratio / share;
    return to_double(share) * (gap + log_of(ratio));
  }
};

}  // namespace taproot::detail
