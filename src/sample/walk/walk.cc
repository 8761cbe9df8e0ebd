// SPDX-License-Identifier: Apache-2.0
#include "sample/walk/walk.h"

#include <algorithm>
#include <cmath>

#include "sample/conditionals/weights_by_modifier.h"

namespace taproot::detail {

void Walk::build(const FactorData& data, bool with_root, Scratch& scratch) {
  n_ = data.table.n;
  const auto side = static_cast<std::size_t>(n_) + 1;
  const double* weights = weights_by_modifier(data, with_root, scratch);
  stride_ = side * static_cast<std::size_t>(alias_words(n_ + 1));
  AliasSlot* slots = slots_.resize(side * stride_);
  double* shares = scratch.rows.resize(side);
  std::int32_t* work = scratch.integers.resize(2 * side + 2);
  for (std::size_t m = 1; m < side; ++m) {
    const double* row = weights + m * data.table.ld;
    // A word without heads can only be the root: it is never walked from.
    if (std::all_of(row, row + side, [](double w) { return w == 0; })) continue;
    fill_alias(row, n_ + 1, slots + m * stride_, shares, work, work + side);
  }
}

bool Walk::run(int root, std::uint64_t limit, Stream& stream, std::uint8_t* in_tree,
               std::int32_t* heads, std::uint64_t& steps, Interrupt* interrupt) const {
  // A walk may take longer than anybody lives: it asks now and then whether to go on.
  constexpr std::uint64_t kStepsBetween = std::uint64_t{1} << 16;
  const int count = n_ + 1;
  std::fill(in_tree, in_tree + count, std::uint8_t{0});
  in_tree[root] = 1;
  if (root != 0) heads[root - 1] = 0;
  std::uint64_t taken = 0;
  std::uint64_t pause = std::min(limit, kStepsBetween);
  for (int start = 1; start <= n_; ++start) {
    int node = start;
    while (in_tree[node] == 0) {
      if (taken == pause) {
        if (taken == limit) {
          steps += taken;
          return false;
        }
        check(interrupt);
        pause += std::min(limit - taken, kStepsBetween);
      }
      ++taken;
      const int head =
          sample_alias(slots_.data() + static_cast<std::size_t>(node) * stride_, count, stream);
      heads[node - 1] = head;  // Overwritten when the walk comes back: that erases its loops.
      node = head;
    }
    for (node = start; in_tree[node] == 0; node = heads[node - 1]) in_tree[node] = 1;
  }
  steps += taken;
  return true;
}

}  // namespace taproot::detail
