// SPDX-License-Identifier: Apache-2.0
//
// The interface of sampling without replacement; its law is tested in law/.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/interrupt.h"
#include "eliminate/factor_data.h"
#include "property/check.h"
#include "taproot/taproot.h"
#include "testing/families.h"
#include "testing/linear_congruential.h"
#include "testing/misuse.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr WithoutReplacementAlgorithm kAll[] = {
    WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
    WithoutReplacementAlgorithm::kBeam, WithoutReplacementAlgorithm::kList};
constexpr std::size_t kEverything = 1 << 20;

std::set<Tree> trees_of(const WithoutReplacementSample& sample) {
  std::set<Tree> trees;
  for (std::size_t i = 0; i < sample.size(); ++i) trees.emplace(sample[i].begin(), sample[i].end());
  return trees;
}

void expect_sound(const WithoutReplacementSample& sample, const Factorization& f) {
  EXPECT_EQ(trees_of(sample).size(), sample.size());
  ASSERT_EQ(sample.heads.size(), sample.size() * static_cast<std::size_t>(sample.n));
  ASSERT_EQ(sample.gumbel.size(), sample.size());
  ASSERT_EQ(sample.weight.size(), sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    EXPECT_TRUE(is_tree(sample[i], f.root_rule()));
    EXPECT_EQ(sample.log_prob[i], log_prob(f, sample[i]));
    EXPECT_GT(sample.log_prob[i], -HUGE_VAL);
    EXPECT_GT(sample.gumbel[i], i + 1 < sample.size() ? sample.gumbel[i + 1] : sample.kappa);
    EXPECT_EQ(sample.weight[i], horvitz_thompson_weight(sample.log_prob[i], sample.kappa));
  }
  EXPECT_TRUE(!sample.exhausted || sample.kappa == -HUGE_VAL);
}

TEST(WithoutReplacementSampler, RefusesMisuse) {
  WithoutReplacementSampler sampler;
  Workspace workspace;
  WithoutReplacementTree tree{};
  Tree heads(4);
  WithoutReplacementSample out;
  expect_misuse("WithoutReplacementSampler::next", [&] { sampler.next(heads, tree, workspace); });
  expect_misuse("WithoutReplacementSampler::sample", [&] { sampler.sample(1, out, workspace); });
  const std::vector<double> nothing(25, -HUGE_VAL);
  const Factorization none = eliminate(ScoreView(nothing.data(), 4));
  expect_sentence_error(Status::kNoTree, [&] { sampler.build(none, {}, 0, workspace); });
  expect_misuse("WithoutReplacementSampler::next", [&] { sampler.next(heads, tree, workspace); });
  const Factorization f = factored(oracle::gaussian(4, 1, 1), Root::kSingle);
  sampler.build(f, {WithoutReplacementAlgorithm::kBeam}, 0, workspace);
  expect_misuse("WithoutReplacementSampler::next", [&] { sampler.next(heads, tree, workspace); });
  sampler.build(f, {}, 0, workspace);
  expect_misuse("WithoutReplacementSampler::next",
                [&] { sampler.next(std::span(heads).first(3), tree, workspace); });
}

// One by one or at once, however many: the same trees (all but beam), the same kappa.
TEST(WithoutReplacementSampler, IsIncremental) {
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const Factorization f = factored(oracle::gaussian(6, 3, 2), root);
    for (const WithoutReplacementAlgorithm algorithm :
         {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
          WithoutReplacementAlgorithm::kList}) {
      const WithoutReplacementSample many = sample_without_replacement(f, 60, {algorithm, 5});
      expect_sound(many, f);
      WithoutReplacementSampler sampler;
      Workspace workspace;
      sampler.build(f, {algorithm, 5}, 0, workspace);
      Tree heads(6);
      WithoutReplacementTree tree{};
      for (std::size_t i = 0; i < many.size(); ++i) {
        ASSERT_TRUE(sampler.next(heads, tree, workspace));
        EXPECT_TRUE(std::equal(heads.begin(), heads.end(), many[i].begin()));
        EXPECT_EQ(tree.log_prob, many.log_prob[i]);
        EXPECT_EQ(tree.gumbel, many.gumbel[i]);
        if (i == 9) {
          const WithoutReplacementSample few = sample_without_replacement(f, 10, {algorithm, 5});
          EXPECT_EQ(sampler.kappa(workspace), few.kappa);
          EXPECT_EQ(few.heads, std::vector(many.heads.begin(), many.heads.begin() + 60));
        }
      }
      EXPECT_EQ(sampler.size(), many.size());
      WithoutReplacementSample again;
      sampler.sample(60, again, workspace);  // Starts over.
      EXPECT_EQ(again.heads, many.heads);
      EXPECT_EQ(again.kappa, many.kappa);
    }
  }
}

// A sampler that was stopped on the way counts as not built, and built anew gives the same trees.
TEST(WithoutReplacementSampler, MayBeStopped) {
  const Factorization f = factored(oracle::gaussian(30, 1, 2), Root::kSingle);
  for (const WithoutReplacementAlgorithm algorithm : kAll) {
    const WithoutReplacementSample whole = sample_without_replacement(f, 300, {algorithm, 5});
    WithoutReplacementSampler sampler;
    Workspace workspace;
    sampler.build(f, {algorithm, 5}, 0, workspace);
    const std::function<void()> nobody;
    detail::Interrupt interrupt(nobody);
    interrupt.stop();
    detail::Access::scratch(workspace).interrupt = &interrupt;
    WithoutReplacementSample out;
    EXPECT_THROW(sampler.sample(300, out, workspace), detail::Stopped);
    detail::Access::scratch(workspace).interrupt = nullptr;
    expect_misuse("WithoutReplacementSampler::sample",
                  [&] { sampler.sample(300, out, workspace); });
    sampler.build(f, {algorithm, 5}, 0, workspace);
    sampler.sample(300, out, workspace);
    EXPECT_EQ(out.heads, whole.heads);
    EXPECT_EQ(out.kappa, whole.kappa);
  }
}

TEST(WithoutReplacementSampler, AutoSamplesTheTreesOfSampleWithoutRepeats) {
  const Factorization f = factored(oracle::gaussian(20, 1, 2), Root::kSingle);
  const std::vector<Tree> repeated = sample(f, 40, {Algorithm::kAuto, 9, 0});
  const WithoutReplacementSample distinct =
      sample_without_replacement(f, 40, {WithoutReplacementAlgorithm::kAuto, 9});
  std::set<Tree> seen;
  std::size_t i = 0;
  for (const Tree& tree : repeated) {
    if (!seen.insert(tree).second) continue;
    EXPECT_TRUE(std::equal(tree.begin(), tree.end(), distinct[i++].begin()));
  }
  EXPECT_GT(i, 30U);
}

TEST(WithoutReplacementSampler, MemoryDecidesTheTimeAndNotTheTrees) {
  for (const int n : {12, 40}) {
    const Factorization f = factored(oracle::gaussian(n, 4, 3), Root::kSingle);
    WithoutReplacementOptions options{WithoutReplacementAlgorithm::kTrie, 3};
    const WithoutReplacementSample free = sample_without_replacement(f, 300, options);
    for (const std::size_t limit : {std::size_t{0}, free.memory / 2, free.memory * 3 / 4}) {
      options.memory_limit = limit;
      const WithoutReplacementSample limited = sample_without_replacement(f, 300, options);
      EXPECT_EQ(limited.heads, free.heads) << n << " " << limit;
      EXPECT_EQ(limited.gumbel, free.gumbel);
      EXPECT_LT(limited.memory, free.memory);
    }
  }
}

TEST(WithoutReplacementSampler, TakesAllTreesOfShortSentences) {
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    for (const int n : {1, 2, 3, 4}) {
      const Problem problem = oracle::gaussian(n, 2, 4);
      const Factorization f = factored(problem, root);
      const std::size_t count = oracle::all_trees(problem, root).size();
      for (const WithoutReplacementAlgorithm algorithm : kAll) {
        const WithoutReplacementSample all =
            sample_without_replacement(f, kEverything, {algorithm, 1});
        expect_sound(all, f);
        EXPECT_EQ(all.size(), count);
        EXPECT_TRUE(all.exhausted);
        const WithoutReplacementSample exactly =
            sample_without_replacement(f, count, {algorithm, 1});
        EXPECT_EQ(exactly.size(), count);
        EXPECT_TRUE(exactly.exhausted);
        const WithoutReplacementSample but_one =
            sample_without_replacement(f, count - 1, {algorithm, 1});
        EXPECT_FALSE(but_one.exhausted);
        EXPECT_EQ(but_one.size(), count - 1);
        EXPECT_EQ(sample_without_replacement(f, 0, {algorithm, 1}).size(), 0U);
      }
    }
  }
}

// Scores so far apart that most trees lie far below the smallest double: none is lost.
TEST(WithoutReplacementSampler, ReachesTreesThatDoubleCannot) {
  const std::vector<std::pair<std::string, Problem>> problems{
      {"attractors", oracle::attractor_pairs(4, 900, 1)},
      {"masks", oracle::masked(4, -1e9, 2)},
      {"heavy", oracle::heavy_tailed(5, 3)},
      {"range", oracle::gaussian(4, 500, 4)},
      {"offsets", oracle::column_offsets(4, 1e8, 5)}};
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    for (const auto& [label, problem] : problems) {
      SCOPED_TRACE(label + " " + name(root));
      const Factorization f = factored(problem, root);
      const std::size_t count = oracle::all_trees(problem, root).size();
      for (const WithoutReplacementAlgorithm algorithm :
           {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
            WithoutReplacementAlgorithm::kBeam}) {
        const WithoutReplacementSample all =
            sample_without_replacement(f, kEverything, {algorithm, 1});
        EXPECT_EQ(all.size(), count) << to_string(algorithm);
        EXPECT_TRUE(all.exhausted);
        expect_sound(all, f);
      }
      const WithoutReplacementSample list =
          sample_without_replacement(f, kEverything, {WithoutReplacementAlgorithm::kList, 1});
      EXPECT_TRUE(list.status == Status::kNumericalLoss || list.size() == count);
      expect_sound(list, f);
    }
  }
}

// Scores in multiples of 35 to 250, some edges forbidden: nothing is lost, nothing comes out of
// order by more than two Gumbels can differ, and nothing is NaN.
TEST(WithoutReplacementSampler, LosesNothingWhateverTheRange) {
  LinearCongruential numbers(7);
  const auto random = [&](std::uint64_t below) { return numbers.below(below); };
  int tested = 0;
  for (int graph = 0; graph < 1500; ++graph) {
    const int n = 1 + static_cast<int>(random(4));
    const double unit = 35.0 + static_cast<double>(random(216));
    Problem problem{n, std::vector<double>(static_cast<std::size_t>((n + 1) * (n + 1)), -HUGE_VAL)};
    for (double& s : problem.scores) {
      if (random(4) != 0) s = -unit * static_cast<double>(random(8));
    }
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const Factorization f = factored(problem, root);
      if (!f.outcome().ok()) continue;
      const std::size_t count = oracle::all_trees(problem, root).size();
      for (const WithoutReplacementAlgorithm algorithm :
           {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
            WithoutReplacementAlgorithm::kBeam}) {
        const WithoutReplacementOptions options{algorithm, static_cast<std::uint64_t>(graph)};
        const WithoutReplacementSample all = sample_without_replacement(f, count + 1, options);
        ASSERT_EQ(all.size(), count) << graph << " " << to_string(algorithm) << " " << name(root);
        EXPECT_TRUE(all.exhausted);
        double least = HUGE_VAL;
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_GT(all.gumbel[i] - all.log_prob[i], -5);
          EXPECT_LT(all.gumbel[i] - all.log_prob[i], 46);
          EXPECT_LT(all.log_prob[i], least + 51);
          least = std::min(least, all.log_prob[i]);
        }
        if (count < 3) continue;
        const WithoutReplacementSample few = sample_without_replacement(f, count / 2, options);
        EXPECT_FALSE(few.exhausted);
        EXPECT_LT(few.kappa, few.gumbel.back());
        EXPECT_GT(few.kappa, all.log_prob[count / 2] - 46);
        ++tested;
      }
    }
  }
  EXPECT_GT(tested, 1000);
}

TEST(WithoutReplacementSampler, RefusesAnUnknownAlgorithm) {
  const Factorization f = factored(oracle::gaussian(4, 1, 1), Root::kSingle);
  WithoutReplacementSampler sampler;
  Workspace workspace;
  sampler.build(f, {}, 0, workspace);
  expect_misuse("WithoutReplacementSampler::build", [&] {
    sampler.build(f, {static_cast<WithoutReplacementAlgorithm>(9)}, 0, workspace);
  });
  Tree heads(4);
  WithoutReplacementTree tree{};
  expect_misuse("WithoutReplacementSampler::next", [&] { sampler.next(heads, tree, workspace); });
}

// What list delivered is what was asked for, though nothing more could be.
TEST(WithoutReplacementSampler, ListHasLostNothingUntilItIsAskedForMore) {
  const double x = -HUGE_VAL;
  const Problem problem{2, {x, 0, -25, x, x, 0, x, 0, x}};
  const Factorization f = factored(problem, Root::kSingle);
  const WithoutReplacementSample one =
      sample_without_replacement(f, 1, {WithoutReplacementAlgorithm::kList, 1});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(one.status, Status::kOk);
  EXPECT_FALSE(one.exhausted);
  const WithoutReplacementSample two =
      sample_without_replacement(f, 2, {WithoutReplacementAlgorithm::kList, 1});
  EXPECT_EQ(two.size(), 1U);
  EXPECT_EQ(two.status, Status::kNumericalLoss);
}

// An object that has served a longer sentence reports, and draws, as a fresh one does.
TEST(WithoutReplacementSampler, RemembersNothing) {
  const Factorization longer = factored(oracle::gaussian(40, 2, 1), Root::kSingle);
  const Factorization f = factored(oracle::gaussian(9, 2, 2), Root::kMulti);
  for (const WithoutReplacementAlgorithm algorithm : kAll) {
    WithoutReplacementSampler sampler;
    Workspace workspace;
    WithoutReplacementSample sample;
    sampler.build(longer, {algorithm, 1}, 0, workspace);
    sampler.sample(100, sample, workspace);
    sampler.build(f, {algorithm, 1}, 0, workspace);
    sampler.sample(20, sample, workspace);
    const WithoutReplacementSample fresh = sample_without_replacement(f, 20, {algorithm, 1});
    EXPECT_EQ(sample.heads, fresh.heads);
    EXPECT_EQ(sample.weight, fresh.weight);
    EXPECT_EQ(sample.memory, fresh.memory);
  }
}

// Long sentences on which peers fail.
TEST(WithoutReplacementSampler, WorksOnLongAndHardSentences) {
  const std::vector<std::pair<std::string, Problem>> problems{
      {"uniform", oracle::uniform(120)},
      {"pairs-30", oracle::attractor_pairs(60, 30, 1)},
      {"rings", oracle::rings(40, 3, 12, 2)},
      {"sparse", oracle::near_empty_columns(100, 3)},
      {"peaked", oracle::gaussian(50, 12, 4)},
      {"masked", oracle::masked(40, -1e4, 5)},
      {"pairs-400", oracle::attractor_pairs(16, 400, 6)}};
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    for (const auto& [label, problem] : problems) {
      SCOPED_TRACE(label + " " + name(root));
      const Factorization f = factored(problem, root);
      for (const WithoutReplacementAlgorithm algorithm :
           {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
            WithoutReplacementAlgorithm::kBeam}) {
        const WithoutReplacementSample sample = sample_without_replacement(f, 20, {algorithm, 1});
        EXPECT_EQ(sample.size(), 20U);
        expect_sound(sample, f);
      }
    }
  }
}

// Trees are the same on every instruction set; Gumbels up to rounding.
TEST(WithoutReplacementSampler, SamplesTheSameOnEveryTarget) {
  for (const int n : {12, 40}) {
    const Problem problem = oracle::gaussian(n, 2, 6);
    for (const WithoutReplacementAlgorithm algorithm : kAll) {
      const WithoutReplacementSample first =
          sample_without_replacement(factored(problem, Root::kSingle), 30, {algorithm, 2});
      for_each_target([&] {
        const WithoutReplacementSample other =
            sample_without_replacement(factored(problem, Root::kSingle), 30, {algorithm, 2});
        EXPECT_EQ(other.heads, first.heads) << to_string(algorithm);
        for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(other.gumbel[i], first.gumbel[i], 1e-9);
      });
    }
  }
}

}  // namespace
}  // namespace taproot
