// SPDX-License-Identifier: Apache-2.0
//
// What an edge stands for while wide_divergence() eliminates, on the host and on the device.
#pragma once

#include <cstdint>

#include "core/host_device.h"
#include "core/wide.h"

namespace taproot::detail {

/// What the mean under p is taken of: -log q(tree), or log p(tree) - log q(tree).
enum class Divergence : std::uint8_t { kCrossEntropy, kRelativeEntropy };

/// While words are eliminated, an edge comes to stand for many ways from its head to its modifier.
/// `p` and `q` are its weights, and `gap` is the mean under p, over these ways, of the log of a
/// way's share in q or, for the KL divergence, of that share over the way's share in p.
struct WideEntry {
  Wide p;
  Wide q;
  double gap;
};

/// Whether b is too small beside a to matter, also when it is multiplied by a log (below 2^60).
TAPROOT_HOST_DEVICE inline bool is_negligible(const WideEntry& a, const WideEntry& b) {
  constexpr std::int64_t kBits = 64;
  return (b.p.is_zero() || (!a.p.is_zero() && a.p.exponent() - b.p.exponent() > 2 * kBits)) &&
         (b.q.is_zero() || (!a.q.is_zero() && a.q.exponent() - b.q.exponent() > kBits));
}

template <Divergence kKind>
TAPROOT_HOST_DEVICE double part_of_gap(const WideEntry& part, const Wide& p, const Wide& q) {
  if (part.p.is_zero()) return 0;
  const Wide share = part.p / p;
  Wide ratio = part.q / q;
  if constexpr (kKind == Divergence::kRelativeEntropy) ratio = ratio / share;
  return to_double(share) * (part.gap + log_of(ratio));
}

/// An edge that stands for the ways of both.
template <Divergence kKind>
TAPROOT_HOST_DEVICE WideEntry sum(const WideEntry& a, const WideEntry& b) {
  if (is_negligible(a, b)) return a;
  WideEntry both{a.p + b.p, a.q + b.q, 0};
  if (!both.p.is_zero()) {
    both.gap = part_of_gap<kKind>(a, both.p, both.q) + part_of_gap<kKind>(b, both.p, both.q);
  }
  return both;
}

/// The part of a pivot that one of its edges has.
TAPROOT_HOST_DEVICE inline WideEntry share_of(const WideEntry& edge, const WideEntry& pivot) {
  return {edge.p / pivot.p, edge.q / pivot.q, edge.gap - pivot.gap};
}

/// One edge after the other.
TAPROOT_HOST_DEVICE inline WideEntry chained(const WideEntry& a, const WideEntry& b) {
  return {a.p * b.p, a.q * b.q, a.gap + b.gap};
}

}  // namespace taproot::detail
