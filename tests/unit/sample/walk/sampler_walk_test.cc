// SPDX-License-Identifier: Apache-2.0
//
// Samplers that walk, their statistics and their limits, against their definition: the walk on
// stacks, one tree after the other.
#include <gtest/gtest.h>

#include "sample/un_elimination/un_elimination.h"
#include "testing/families.h"
#include "testing/uniform_weights.h"
#include "unit/sample/walk/stacked_sentence.h"

namespace taproot::detail {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr std::uint64_t kSeed = 21;
constexpr std::uint64_t kId = 4;
constexpr std::size_t kTrees = 100;

struct Sampled {
  std::vector<Tree> trees;  // Trees that were given up are empty.
  SampleStatistics statistics;
};

bool operator==(const Sampled& a, const Sampled& b) {
  return a.trees == b.trees && a.statistics.trees == b.statistics.trees &&
         a.statistics.steps == b.statistics.steps && a.statistics.tries == b.statistics.tries &&
         a.statistics.fallbacks == b.statistics.fallbacks;
}

// The trees of one sampler, in calls for so many at a time.
Sampled sampled(const Factorization& f, SampleOptions options, std::size_t at_a_time = kTrees) {
  const auto n = static_cast<std::size_t>(f.n());
  std::vector<std::int32_t> heads(n * kTrees);
  std::vector<Status> statuses(kTrees);
  Workspace workspace;
  Sampler sampler;
  Sampled found;
  sampler.build(f, options.algorithm, workspace);
  for (std::size_t s = 0; s < kTrees; s += at_a_time) {
    options.first_tree = static_cast<std::uint32_t>(s);
    sampler.sample(kId, options, at_a_time, {heads.data() + s * n, f.n()},
                   std::span(statuses).subspan(s, at_a_time), &found.statistics, workspace);
  }
  for (std::size_t s = 0; s < kTrees; ++s) {
    const auto first = heads.begin() + static_cast<std::ptrdiff_t>(s * n);
    found.trees.push_back(
        statuses[s] == Status::kOk ? Tree(first, first + static_cast<std::ptrdiff_t>(n)) : Tree{});
  }
  return found;
}

std::vector<Problem> problems(int n) {
  return {bench::uniform_weights(n, 1),     oracle::gaussian(n, 3, 2),
          oracle::heavy_tailed(n, 3),       oracle::attractor_pairs(n, 5, 4),
          oracle::attractor_pairs(n, 9, 5), oracle::rings(n, n, 8, 6)};
}

// wilson-reject: walks from ROOT until one root is left. Each try has stacks of its own, and the
// limit holds for all tries of a tree together.
Sampled rejected_by_definition(const Factorization& f, const PopTables& tables,
                               std::uint64_t limit) {
  Sampled found;
  for (std::uint32_t s = 0; s < kTrees; ++s) {
    Tree heads(static_cast<std::size_t>(f.n()));
    std::uint64_t taken = 0;
    for (std::uint32_t attempt = 0;; ++attempt) {
      ++found.statistics.tries;
      const Stacks stacks{stream_key(kSeed, kId, attempt), s};
      const std::uint64_t steps =
          walk_simply(tables, 0, stacks, {limit - taken, kMostDepth}, heads.data());
      taken = steps == kGivenUp ? limit : taken + steps;
      if (steps != kGivenUp && std::count(heads.begin(), heads.end(), 0) == 1) break;
      if (taken == limit) {
        heads.clear();
        break;
      }
    }
    found.statistics.steps += taken;
    ++found.statistics.trees;
    found.trees.push_back(heads);
  }
  return found;
}

TEST(SamplerWalks, WilsonRejectFollowsItsDefinition) {
  std::uint64_t lost = 0;
  std::uint64_t tries = 0;
  for (const int n : {1, 2, 5, 7, 8, 20, 70}) {
    for (const Problem& problem : problems(n)) {
      const Factorization f = factored(problem, Root::kSingle);
      Workspace workspace;
      Walk walk;
      walk.build(Access::data(f), true, Access::scratch(workspace));
      for (const std::uint64_t limit : {3U * static_cast<unsigned>(n), 5000U}) {
        const Sampled expected = rejected_by_definition(f, walk.tables(), limit);
        EXPECT_EQ(sampled(f, {Algorithm::kWilsonReject, kSeed, limit}), expected)
            << n << " words, limit " << limit;
        for (const Tree& tree : expected.trees) lost += tree.empty() ? 1U : 0U;
        tries += expected.statistics.tries;
      }
    }
  }
  EXPECT_GT(lost, 500U);
  EXPECT_GT(tries, 8000U);
}

// "auto": a tree beyond its budget is un-eliminated with the same root, and counts as its budget.
// Between trees of the same sentence, in one call or several, the order of popping changes; the
// trees do not.
TEST(SamplerWalks, AutoFollowsItsDefinition) {
  std::uint64_t fallbacks = 0;
  for (const int n : {1, 2, 5, 7, 8, 16, 20, 40, 90, 150, 260}) {
    for (const Problem& problem : problems(n)) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        const StackedSentence sentence(problem, root);
        const Factorization& f = sentence.factorization();
        EliminationSampler elimination;
        elimination.build(Access::data(f));
        Workspace workspace;
        const WalkLimits limits = WalkLimits::budget(n);
        const StreamKey key = stream_key(kSeed, kId);
        const PoppedTrees walks =
            walked(sentence.tables(), key, limits, samples_from(0, static_cast<int>(kTrees)));
        Sampled expected;
        expected.statistics.trees = expected.statistics.tries = kTrees;
        for (std::size_t s = 0; s < kTrees; ++s) {
          const auto first = walks.heads.begin() + static_cast<std::ptrdiff_t>(s) * n;
          Tree heads(first, first + n);
          expected.statistics.steps += std::min(walks.steps[s], limits.steps);
          if (walks.steps[s] == kGivenUp) {
            ++expected.statistics.fallbacks;
            Stream stream = Stream::of_many(key, static_cast<std::uint32_t>(s), Purpose::kFallback);
            elimination.sample(walks.roots[s], stream, Access::scratch(workspace), heads.data());
          }
          expected.trees.push_back(heads);
        }
        for (const std::size_t at_a_time : {kTrees, kTrees / 4, std::size_t{1}}) {
          EXPECT_EQ(sampled(f, {Algorithm::kAuto, kSeed}, at_a_time), expected)
              << n << " words, " << at_a_time << " trees at a time";
        }
        fallbacks += expected.statistics.fallbacks;
      }
    }
  }
  EXPECT_GT(fallbacks, 2000U);
}

}  // namespace
}  // namespace taproot::detail
