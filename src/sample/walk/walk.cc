// SPDX-License-Identifier: Apache-2.0
#include "sample/walk/walk.h"

#include <algorithm>

#include "core/check.h"
#include "sample/conditionals/weights_by_modifier.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {

void Walk::build(const FactorData& data, bool with_root, Scratch& scratch) {
  const int n = data.table.n;
  TAPROOT_ASSERT(n < kMostStackedWords);
  SampleScratch& own = scratch.get<SampleScratch>();
  const std::size_t nodes = data.table.nodes();
  const double* weights = weights_by_modifier(data, with_root, scratch);
  const std::size_t size = nodes * nodes;
  std::uint32_t* planes =
      planes_.resize(size * static_cast<std::size_t>(alias_planes(n + 1)) + kPopPadding);
  std::fill(planes, planes + nodes, 0U);
  double* shares = own.alias_shares.resize(nodes);
  std::int32_t* queues = own.alias_queues.resize(2 * nodes);
  for (int m = 1; m <= n; ++m) {
    const double* row = MatrixView(weights, data.table.ld).row(m);
    // A word without heads can only be the root, from which no walk takes a step.
    if (std::all_of(row, row + nodes, [](double w) { return w == 0; })) continue;
    const std::size_t offset = static_cast<std::size_t>(m) * nodes;
    fill_alias(row, n + 1, alias_planes_at(planes, n + 1, size, offset), shares, queues,
               queues + nodes);
  }
  tables_ = {n, alias_planes_at<const std::uint32_t>(planes, n + 1, size, std::size_t{0}), {}};
}

bool Walk::run(int root, const Stacks& stacks, const WalkLimits& limits, std::uint64_t* depth,
               std::uint8_t* in_tree, std::int32_t* heads, std::uint64_t& steps,
               Interrupt* interrupt) const {
  const int n = tables_.n;
  std::fill(depth, depth + n + 1, std::uint64_t{0});
  std::fill(in_tree, in_tree + n + 1, std::uint8_t{0});
  in_tree[root] = 1;
  if (root != 0) heads[root - 1] = 0;
  // A walk may take longer than anybody lives: it asks now and then whether to go on.
  constexpr std::uint64_t kStepsBetween = std::uint64_t{1} << 16;
  std::uint64_t taken = 0;
  for (int start = 1; start <= n; ++start) {
    for (int node = start; in_tree[node] == 0; node = heads[node - 1]) {
      if (taken == limits.steps || depth[node] == limits.heads_of_a_word) {
        steps += limits.steps;
        return false;
      }
      if (++taken % kStepsBetween == 0) check(interrupt);
      // A walk that returns to a word overwrites its head, which erases the loop.
      heads[node - 1] = stacks.choose(tables_.heads_of(node), n + 1, node, depth[node]++);
    }
    for (int node = start; in_tree[node] == 0; node = heads[node - 1]) in_tree[node] = 1;
  }
  steps += taken;
  return true;
}

}  // namespace taproot::detail
