// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/wide_entry.h"

namespace taproot::detail {

/// WideEntry as a number for inside_simply(): alternatives are added, and independent choices
/// multiplied. So the gap of Z is the mean under p of log q(tree), or of log q(tree) - log p(tree).
template <Divergence kKind>
struct DivergenceEntry : WideEntry {
  DivergenceEntry() = default;
  TAPROOT_HOST_DEVICE DivergenceEntry(const WideEntry& entry)  // NOLINT: implicit
      : WideEntry(entry) {}
  TAPROOT_HOST_DEVICE explicit DivergenceEntry(int both) : WideEntry{Wide(both), Wide(both), 0} {}

  TAPROOT_HOST_DEVICE friend DivergenceEntry operator*(const DivergenceEntry& a,
                                                       const DivergenceEntry& b) {
    return chained(a, b);
  }
  TAPROOT_HOST_DEVICE friend DivergenceEntry operator+(const DivergenceEntry& a,
                                                       const DivergenceEntry& b) {
    return sum<kKind>(a, b);
  }
};

}  // namespace taproot::detail
