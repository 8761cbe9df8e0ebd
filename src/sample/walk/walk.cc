// SPDX-License-Identifier: Apache-2.0
#include "sample/walk/walk.h"

#include <algorithm>
#include <vector>

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
  double* shares = own.alias_shares.resize(nodes);
  std::int32_t* queues = own.alias_queues.resize(2 * nodes);
  for (int m = 0; m <= n; ++m) {
    const double* row = MatrixView(weights, data.table.ld).row(m);
    const std::size_t offset = static_cast<std::size_t>(m) * nodes;
    // A word without heads can only be the root, from which no walk takes a step. But code that
    // chooses for all words at once reads its table, too.
    if (m == 0 || std::all_of(row, row + nodes, [](double w) { return w == 0; })) {
      std::fill(planes + offset, planes + offset + nodes, 0U);
      continue;
    }
    fill_alias(row, n + 1, alias_planes_at(planes, n + 1, size, offset), shares, queues,
               queues + nodes);
  }
  tables_ = {n, alias_planes_at<const std::uint32_t>(planes, n + 1, size, std::size_t{0}), {}};
}

std::uint64_t walk_simply(const PopTables& tables, int root, const Stacks& stacks,
                          const WalkLimits& limits, std::int32_t* heads) {
  const auto nodes = static_cast<std::size_t>(tables.n) + 1;
  std::vector<std::uint64_t> depth(nodes);
  std::vector<bool> in_tree(nodes);
  const auto head_of = [&](std::size_t m) -> std::int32_t& { return heads[m - 1]; };
  in_tree[static_cast<std::size_t>(root)] = true;
  if (root != 0) head_of(static_cast<std::size_t>(root)) = 0;
  std::uint64_t taken = 0;
  for (std::size_t start = 1; start < nodes; ++start) {
    for (std::size_t m = start; !in_tree[m]; m = static_cast<std::size_t>(head_of(m))) {
      if (taken == limits.steps || depth[m] == limits.heads_of_a_word) return kGivenUp;
      ++taken;
      // A walk that returns to a word overwrites its head, which erases the loop.
      const int word = static_cast<int>(m);
      head_of(m) = stacks.choose(tables.heads_of(word), tables.n + 1, word, depth[m]++);
    }
    for (std::size_t m = start; !in_tree[m]; m = static_cast<std::size_t>(head_of(m))) {
      in_tree[m] = true;
    }
  }
  return taken;
}

}  // namespace taproot::detail
