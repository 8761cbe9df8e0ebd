// SPDX-License-Identifier: Apache-2.0
#include "sample/walk/walk.h"

#include <algorithm>

#include "sample/conditionals/weights_by_modifier.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {

void Walk::build(const FactorData& data, bool with_root, Scratch& scratch) {
  n_ = data.table.n;
  SampleScratch& own = scratch.get<SampleScratch>();
  const std::size_t nodes = data.table.nodes();
  const double* weights = weights_by_modifier(data, with_root, scratch);
  stride_ = nodes * static_cast<std::size_t>(alias_words(n_ + 1));
  const MatrixView slots(slots_.resize(nodes * stride_), stride_);
  double* shares = own.alias_shares.resize(nodes);
  std::int32_t* queues = own.alias_queues.resize(2 * nodes);
  for (int m = 1; m <= n_; ++m) {
    const double* row = MatrixView(weights, data.table.ld).row(m);
    // A word without heads can only be the root, from which no walk takes a step.
    if (std::all_of(row, row + nodes, [](double w) { return w == 0; })) continue;
    fill_alias(row, n_ + 1, slots.row(m), shares, queues, queues + nodes);
  }
}

bool Walk::run(int root, std::uint64_t limit, Stream& stream, std::uint8_t* in_tree,
               std::int32_t* heads, std::uint64_t& steps, Interrupt* interrupt) const {
  std::fill(in_tree, in_tree + n_ + 1, std::uint8_t{0});
  in_tree[root] = 1;
  if (root != 0) heads[root - 1] = 0;
  // A walk may take longer than anybody lives: it asks now and then whether to go on.
  constexpr std::uint64_t kStepsBetween = std::uint64_t{1} << 16;
  Place place;
  std::uint64_t taken = 0;
  bool finished = false;
  while (true) {
    finished = go_on(place, std::min(limit, taken + kStepsBetween), stream, in_tree, heads, taken);
    if (finished || taken == limit) break;
    check(interrupt);
  }
  steps += taken;
  return finished;
}

bool Walk::go_on(Place& place, std::uint64_t limit, Stream& stream, std::uint8_t* in_tree,
                 std::int32_t* heads, std::uint64_t& steps) const {
  const int count = n_ + 1;
  const MatrixView slots(slots_.data(), stride_);
  std::uint64_t taken = steps;
  int node = place.node;
  for (int start = place.start; start <= n_; node = ++start) {
    while (in_tree[node] == 0) {
      if (taken == limit) {
        steps = taken;
        place = {start, node};
        return false;
      }
      ++taken;
      const int head = sample_alias(slots.row(node), count, stream);
      heads[node - 1] = head;  // A walk that returns overwrites this, which erases its loop.
      node = head;
    }
    for (node = start; in_tree[node] == 0; node = heads[node - 1]) in_tree[node] = 1;
  }
  steps = taken;
  return true;
}

bool Walk::run_on_budget(int root, Stream& stream, std::uint8_t* left, std::int32_t* heads,
                         std::uint64_t& steps) const {
  // left[m] is 0 in the tree, else one more than the number of heads that m may still take.
  constexpr std::uint8_t kInTree = 0;
  constexpr std::uint8_t kSpent = 1;
  const int count = n_ + 1;
  const MatrixView slots(slots_.data(), stride_);
  std::fill(left, left + count, static_cast<std::uint8_t>(kHeadsPerWord + kSpent));
  left[root] = kInTree;
  if (root != 0) heads[root - 1] = 0;
  const std::int64_t limit = most_steps(n_);
  std::int64_t more = limit;
  bool finished = true;
  for (int start = 1; start <= n_; ++start) {
    int node = start;
    std::uint8_t here = left[node];
    while (here > kSpent && more > 0) {
      --more;
      left[node] = static_cast<std::uint8_t>(here - 1);
      const int head = sample_alias(slots.row(node), count, stream);
      heads[node - 1] = head;
      node = head;
      here = left[node];
    }
    finished = here == kInTree;
    if (!finished) break;
    for (node = start; left[node] != kInTree; node = heads[node - 1]) left[node] = kInTree;
  }
  steps += static_cast<std::uint64_t>(limit - more);
  return finished;
}

}  // namespace taproot::detail
