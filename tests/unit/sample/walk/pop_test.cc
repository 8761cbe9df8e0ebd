// SPDX-License-Identifier: Apache-2.0
//
// Popping gives the trees of the walk on the same stacks, one by one.
#include "sample/walk/pop.h"

#include <gtest/gtest.h>

#include <utility>

#include "law/trained.h"
#include "testing/families.h"
#include "testing/paths.h"
#include "testing/uniform_weights.h"
#include "unit/core/targets.h"
#include "unit/sample/walk/stacked_sentence.h"

namespace taproot::detail {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr Root kRules[] = {Root::kSingle, Root::kMulti};

// Under each instruction set, and as the library chooses for itself, which may use more.
template <typename Body>
void everywhere(Body&& body) {
  body();
  for_each_target(body);
}

void expect_the_walk(const PopTables& tables, const WalkLimits& limits, int count,
                     std::uint32_t first = 0) {
  const StreamKey key = stream_key(5, 9);
  const auto samples = samples_from(first, count);
  const PoppedTrees expected = walked(tables, key, limits, samples);
  Workspace workspace;
  everywhere([&] { expect_popped(tables, key, limits, samples, expected, workspace); });
}

TEST(Pop, GivesTheTreesOfTheWalkAtEveryLength) {
  for (int n = 1; n <= 300; ++n) {
    for (const Root root : kRules) {
      const StackedSentence sentence(bench::uniform_weights(n, static_cast<std::uint64_t>(n)),
                                     root);
      expect_the_walk(sentence.tables(), WalkLimits::budget(n), kMostPopped);
    }
  }
}

TEST(Pop, GivesTheTreesOfTheWalkOnTrainedScores) {
  for (const auto& [name, problem] : law::trained_sentences(oracle::golden_file("trained.json"))) {
    SCOPED_TRACE(name);
    for (const Root root : kRules) {
      if (!factored(problem, root).outcome().ok()) continue;
      const StackedSentence sentence(problem, root);
      expect_the_walk(sentence.tables(), WalkLimits::budget(problem.n), kMostPopped);
    }
  }
}

// A group that is not full leaves slots free.
TEST(Pop, GivesTheSameTreesInGroupsOfAnySize) {
  for (const int n : {1, 3, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256}) {
    const StackedSentence sentence(oracle::gaussian(n, 1, 3), Root::kSingle);
    for (int count = 1; count <= kMostPopped; ++count) {
      expect_the_walk(sentence.tables(), WalkLimits::budget(n), count, ~0U - 20);
    }
  }
}

// Words that attract each other exhaust the budget, or take hundreds of heads without one.
TEST(Pop, GivesUpTheTreesThatTheWalkGivesUp) {
  std::uint64_t given_up = 0;
  for (const int n : {2, 5, 12, 20, 40, 90, 150, 300}) {
    const std::vector<Problem> problems{
        oracle::attractor_pairs(n, 3, 1), oracle::attractor_pairs(n, 5, 2),
        oracle::heavy_tailed(n, 3), oracle::rings(n, n, 4, 4), oracle::sparse(n, 0.5, 5)};
    for (const Problem& problem : problems) {
      for (const Root root : kRules) {
        if (!factored(problem, root).outcome().ok()) continue;
        const StackedSentence sentence(problem, root);
        const auto words = static_cast<std::uint64_t>(n);
        for (const WalkLimits& limits :
             {WalkLimits::budget(n), WalkLimits{2 * words, kMostDepth},
              WalkLimits{words, kMostDepth}, WalkLimits{words - 1, kMostDepth},
              WalkLimits{kMostDepth, 1}, WalkLimits{kMostDepth, 3}, WalkLimits{kMostDepth, 249},
              WalkLimits{100 * words, 250}, WalkLimits{100 * words, 251}}) {
          expect_the_walk(sentence.tables(), limits, kMostPopped);
          for (const std::uint64_t steps :
               walked(sentence.tables(), stream_key(5, 9), limits, samples_from(0, 16)).steps) {
            given_up += steps == kGivenUp ? 1U : 0U;
          }
        }
      }
    }
  }
  EXPECT_GT(given_up, 1000U);
}

// Without a limit, two words take thousands of heads from each other.
TEST(Pop, GoesOnWithoutALimit) {
  for (const int n : {4, 10, 30, 60, 100, 200, 260}) {
    for (const Root root : kRules) {
      const StackedSentence sentence(oracle::attractor_pairs(n, 8, 1), root);
      expect_the_walk(sentence.tables(), {}, 3);
    }
  }
}

TEST(Pop, TablesBeyondTheirPackedFormGiveTheTreesOfTheWalk) {
  // A word's table has n + 1 entries, and the root's n.
  constexpr std::pair<int, Root> kSentences[] = {{kMostPacked - 1, Root::kSingle},
                                                 {kMostPacked, Root::kSingle},
                                                 {kMostPacked, Root::kMulti},
                                                 {kMostPacked + 1, Root::kSingle}};
  for (const auto& [n, root] : kSentences) {
    const StackedSentence sentence(bench::uniform_weights(n, 1), root);
    expect_the_walk(sentence.tables(), WalkLimits::budget(n), 2);
  }
}

// Tables whose thresholds are where the draws fall, so that the high halves decide nothing.
TEST(Pop, ChoicesThatTheHighHalfLeavesOpenAreTheWalks) {
  const StreamKey key = stream_key(5, 9);
  for (int n = 2; n <= 300; n += n < 70 ? 1 : 13) {
    for (const bool single : {true, false}) {
      const auto words = static_cast<std::size_t>(n);
      const std::size_t nodes = words + 1;
      std::vector<std::uint32_t> heads(2 * nodes * nodes + kPopPadding);
      std::vector<std::uint32_t> roots(2 * words);
      Stream stream(stream_key(6, 0), static_cast<std::uint32_t>(n), Purpose::kTree);
      const auto random = [&](std::uint64_t below) {
        return static_cast<std::uint32_t>((stream.bits() >> 32) % below);
      };
      const auto first_choice = single ? 1U : 0U;
      for (std::size_t i = 0; i < nodes * nodes; ++i) {
        heads[i] = random(1U << 21) << kAliasBits | (first_choice + random(nodes - first_choice));
        if (i % nodes < first_choice) heads[i] &= kAliasMask;  // ROOT is never chosen.
      }
      for (std::size_t i = 0; i < words; ++i)
        roots[i] = random(1U << 21) << kAliasBits | random(words);
      const auto samples = samples_from(7, 4);
      int opened = 0;
      const auto open = [&](std::uint32_t* first, std::uint32_t count, std::uint32_t high) {
        const std::uint64_t product = std::uint64_t{high} * count;
        const std::uint32_t index = static_cast<std::uint32_t>(product >> 32);
        if (count == nodes && index < first_choice) return;
        const std::uint32_t top = static_cast<std::uint32_t>(product) >> 11;
        first[index] = (first[index] & kAliasMask) | top << kAliasBits;
        opened += choose_alias_by_high(first, static_cast<int>(count), high) < 0 ? 1 : 0;
      };
      for (const std::uint32_t sample : samples) {
        const Stacks stacks{key, sample};
        open(roots.data(), static_cast<std::uint32_t>(n), stacks.word(Purpose::kStack, 0, 0));
        for (int m = 1; m <= n; ++m) {
          for (std::uint64_t depth = 0; depth < 6; ++depth) {
            open(heads.data() + static_cast<std::size_t>(m) * nodes,
                 static_cast<std::uint32_t>(nodes), stacks.word(Purpose::kStack, m, depth));
          }
        }
      }
      EXPECT_GT(opened, n);
      for (std::size_t i = 0; i < nodes * nodes; ++i) heads[nodes * nodes + i] = random(~0U);
      for (std::size_t i = 0; i < words; ++i) roots[words + i] = random(~0U);
      PopTables tables;
      tables.n = n;
      tables.heads =
          alias_planes_at<const std::uint32_t>(heads.data(), n + 1, nodes * nodes, std::size_t{0});
      if (single) {
        tables.root = alias_planes_at<const std::uint32_t>(roots.data(), n, words, std::size_t{0});
      }
      const WalkLimits limits{static_cast<std::uint64_t>(30 * n), 60};
      const PoppedTrees expected = walked(tables, key, limits, samples);
      Workspace workspace;
      everywhere([&] { expect_popped(tables, key, limits, samples, expected, workspace); });
    }
  }
}

}  // namespace
}  // namespace taproot::detail
