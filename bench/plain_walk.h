// SPDX-License-Identifier: Apache-2.0
//
// Wilson's walk as it was before trees were sampled by popping cycles: the contender of bench_pop.
// Its draws have running numbers, and a slot of an alias table is one word of 64 bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "sample/conditionals/weights_by_modifier.h"
#include "sample/un_elimination/un_elimination.h"
#include "sample/walk/alias.h"
#include "taproot/taproot.h"

namespace taproot::bench {

/// Samples the trees of "auto", or without a budget those of wilson-marginal and wilson, for up to
/// kMostPacked - 1 words.
class PlainWalk {
 public:
  void build(const Factorization& f, bool on_budget, Workspace& workspace) {
    const detail::FactorData& data = detail::Access::data(f);
    detail::Scratch& scratch = detail::Access::scratch(workspace);
    n_ = f.n();
    on_budget_ = on_budget;
    single_ = f.root_rule() == RootRule::kSingle;
    const auto nodes = static_cast<std::size_t>(n_) + 1;
    if (single_) {
      law_.resize(nodes - 1);
      root_marginals(f, std::span(law_), workspace);
      roots_.resize(nodes - 1);
      fill(law_.data(), n_, roots_.data());
    }
    const double* weights = detail::weights_by_modifier(data, !single_, scratch);
    heads_.resize(nodes * nodes);
    for (std::size_t m = 1; m < nodes; ++m) {
      const double* row = weights + m * data.table.ld;
      if (std::all_of(row, row + nodes, [](double w) { return w == 0; })) continue;
      fill(row, n_ + 1, heads_.data() + m * nodes);
    }
    if (on_budget) elimination_.build(data);
    left_.resize(nodes);
  }

  void sample(std::uint64_t seed, std::uint32_t first, std::size_t count, std::int32_t* out,
              Workspace& workspace) {
    const detail::StreamKey key = detail::stream_key(seed, 0);
    for (std::size_t s = 0; s < count; ++s, out += n_) {
      const auto number = first + static_cast<std::uint32_t>(s);
      detail::Stream stream(key, number, detail::Purpose::kTree);
      const int root = single_ ? 1 + choose(roots_.data(), n_, stream) : 0;
      if (on_budget_ ? walk<true>(root, stream, out) : walk<false>(root, stream, out)) continue;
      detail::Stream fresh = detail::Stream::of_many(key, number, detail::Purpose::kFallback);
      elimination_.sample(root, fresh, detail::Access::scratch(workspace), out);
    }
  }

 private:
  using Slot = std::uint64_t;

  // The planes of a table, joined: 53 bits of the threshold above 11 of the alias.
  void fill(const double* weights, int count, Slot* slots) {
    const auto size = static_cast<std::size_t>(count);
    planes_.resize(2 * size);
    shares_.resize(size);
    queues_.resize(2 * size);
    detail::fill_alias(weights, count,
                       detail::alias_planes_at(planes_.data(), count, size, std::size_t{0}),
                       shares_.data(), queues_.data(), queues_.data() + size);
    for (std::size_t i = 0; i < size; ++i) {
      const Slot first = planes_[i];
      slots[i] = (first >> detail::kAliasBits) << 43 | Slot{planes_[size + i]} << 11 |
                 (first & detail::kAliasMask);
    }
  }

  static int choose(const Slot* slots, int count, detail::Stream& stream) {
    const auto product = detail::multiply_wide(stream.bits(), static_cast<std::uint64_t>(count));
    const Slot slot = slots[product.high];
    const Slot mask = detail::kAliasMask;
    return static_cast<int>((product.low | mask) < (slot | mask) ? product.high : slot & mask);
  }

  template <bool kBudget>
  bool walk(int root, detail::Stream& stream, std::int32_t* heads) {
    // left[m] is 0 in the tree, else one more than the number of heads that m may still take.
    std::uint8_t* left = left_.data();
    std::fill(left, left + n_ + 1, static_cast<std::uint8_t>(detail::kHeadsPerWord + 1));
    left[root] = 0;
    if (root != 0) heads[root - 1] = 0;
    std::int64_t more = detail::most_steps(n_);
    const auto nodes = static_cast<std::size_t>(n_) + 1;
    for (int start = 1; start <= n_; ++start) {
      int node = start;
      for (std::uint8_t here = left[node]; here != 0; here = left[node]) {
        if (kBudget && (here == 1 || more-- == 0)) return false;
        if (kBudget) left[node] = static_cast<std::uint8_t>(here - 1);
        const int head =
            choose(heads_.data() + static_cast<std::size_t>(node) * nodes, n_ + 1, stream);
        heads[node - 1] = head;  // A walk that returns overwrites this, which erases its loop.
        node = head;
      }
      for (node = start; left[node] != 0; node = heads[node - 1]) left[node] = 0;
    }
    return true;
  }

  int n_ = 0;
  bool on_budget_ = false;
  bool single_ = false;
  std::vector<double> law_;
  std::vector<Slot> roots_;
  std::vector<Slot> heads_;
  std::vector<std::uint8_t> left_;
  detail::EliminationSampler elimination_;
  std::vector<std::uint32_t> planes_;
  std::vector<double> shares_;
  std::vector<std::int32_t> queues_;
};

}  // namespace taproot::bench
