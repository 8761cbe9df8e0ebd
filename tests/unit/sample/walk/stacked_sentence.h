// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "property/check.h"
#include "sample/walk/walk.h"

namespace taproot::detail {

/// The alias tables of a problem, and trees of it by the definition and by popping.
class StackedSentence {
 public:
  StackedSentence(const oracle::Problem& problem, oracle::Root root)
      : StackedSentence(factored(problem, root)) {}

  explicit StackedSentence(Factorization f) : f_(std::move(f)) {
    const bool single = f_.root_rule() == RootRule::kSingle;
    walk_.build(Access::data(f_), !single, Access::scratch(workspace_));
    tables_ = walk_.tables();
    if (!single) return;
    const std::vector<double> law = root_marginals(f_);
    const int n = f_.n();
    const auto words = static_cast<std::size_t>(n);
    planes_.resize(words * static_cast<std::size_t>(alias_planes(n)));
    std::vector<double> shares(words);
    std::vector<std::int32_t> queues(2 * words);
    fill_alias(law.data(), n, alias_planes_at(planes_.data(), n, words, std::size_t{0}),
               shares.data(), queues.data(), queues.data() + words);
    tables_.root = alias_planes_at<const std::uint32_t>(planes_.data(), n, words, std::size_t{0});
  }

  const PopTables& tables() const { return tables_; }
  const Factorization& factorization() const { return f_; }

 private:
  Factorization f_;
  Workspace workspace_;
  Walk walk_;
  std::vector<std::uint32_t> planes_;
  PopTables tables_;
};

/// Some trees of a sentence, in a row.
struct PoppedTrees {
  std::vector<std::int32_t> heads;
  std::vector<std::int32_t> roots;
  std::vector<std::uint64_t> steps;

  PoppedTrees(int n, int count)
      : heads(static_cast<std::size_t>(n * count), -1),
        roots(static_cast<std::size_t>(count), -1),
        steps(static_cast<std::size_t>(count), 0) {}
  /// Trees that were given up have no heads.
  void forget_given_up(int n) {
    for (std::size_t t = 0; t < steps.size(); ++t) {
      if (steps[t] != kGivenUp) continue;
      const auto first = heads.begin() + static_cast<std::ptrdiff_t>(t) * n;
      std::fill(first, first + n, -1);
    }
  }
  bool operator==(const PoppedTrees&) const = default;
};

inline std::vector<std::uint32_t> samples_from(std::uint32_t first, int count) {
  std::vector<std::uint32_t> samples;
  for (int t = 0; t < count; ++t) samples.push_back(first + static_cast<std::uint32_t>(t));
  return samples;
}

/// Walks, by the definition.
inline PoppedTrees walked(const PopTables& tables, const StreamKey& key, const WalkLimits& limits,
                          const std::vector<std::uint32_t>& samples) {
  const int n = tables.n;
  PoppedTrees trees(n, static_cast<int>(samples.size()));
  for (std::size_t t = 0; t < samples.size(); ++t) {
    const Stacks stacks{key, samples[t]};
    trees.roots[t] = tables.root.first == nullptr ? 0 : 1 + stacks.choose(tables.root, n, 0, 0);
    trees.steps[t] = walk_simply(tables, trees.roots[t], stacks, limits,
                                 trees.heads.data() + t * static_cast<std::size_t>(n));
  }
  trees.forget_given_up(n);
  return trees;
}

inline PoppedTrees popped(const PopTables& tables, const StreamKey& key, const WalkLimits& limits,
                          const std::vector<std::uint32_t>& samples, PopWay way,
                          Workspace& workspace, std::int32_t* trap = nullptr) {
  const int count = static_cast<int>(samples.size());
  PoppedTrees trees(tables.n, count);
  PopRequest request;
  request.tables = tables;
  request.key = key;
  request.limits = limits;
  request.way = way;
  request.trap = trap;
  request.count = count;
  request.samples = samples.data();
  request.heads = trees.heads.data();
  request.stride = tables.n;
  request.roots = trees.roots.data();
  request.steps = trees.steps.data();
  pop_trees(request, Access::scratch(workspace));
  trees.forget_given_up(tables.n);
  return trees;
}

inline constexpr PopWay kPopWays[] = {PopWay::kFastest, PopWay::kInRegisters, PopWay::kSingly,
                                      PopWay::kGiveUp};

/// Pops in every way and from every start, and expects the trees of the definition.
inline void expect_popped(const PopTables& tables, const StreamKey& key, const WalkLimits& limits,
                          const std::vector<std::uint32_t>& samples, const PoppedTrees& expected,
                          Workspace& workspace) {
  for (const PopWay way : kPopWays) {
    EXPECT_EQ(popped(tables, key, limits, samples, way, workspace), expected)
        << tables.n << " words, " << samples.size() << " trees, way " << static_cast<int>(way);
  }
  for (const std::int32_t begin : {kLongCycles, 0, 1, (tables.n + 1) / 2, tables.n}) {
    std::int32_t trap = begin;
    EXPECT_EQ(popped(tables, key, limits, samples, PopWay::kGiveUp, workspace, &trap), expected)
        << tables.n << " words, " << samples.size() << " trees, trap " << begin;
    EXPECT_TRUE(trap >= kLongCycles && trap <= tables.n) << trap;
  }
}

}  // namespace taproot::detail
