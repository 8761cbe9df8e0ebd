// SPDX-License-Identifier: Apache-2.0
//
// The samplers' interface; what they draw from is tested in law/.
#include "taproot/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "property/check.h"
#include "testing/families.h"
#include "testing/misuse.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

const std::vector<Algorithm>& all_algorithms() {
  static const std::vector<Algorithm> all{Algorithm::kAuto,         Algorithm::kElimination,
                                          Algorithm::kWilson,       Algorithm::kWilsonMarginal,
                                          Algorithm::kWilsonReject, Algorithm::kColbourn,
                                          Algorithm::kWilsonRc};
  return all;
}

TEST(Sampler, RefusesTheWrongRootRule) {
  const Factorization single = factored(oracle::gaussian(4, 1, 1), Root::kSingle);
  const Factorization multi = factored(oracle::gaussian(4, 1, 1), Root::kMulti);
  Sampler sampler;
  Workspace workspace;
  EXPECT_THROW(sampler.build(single, Algorithm::kWilson, workspace), std::invalid_argument);
  for (const Algorithm algorithm :
       {Algorithm::kWilsonMarginal, Algorithm::kWilsonReject, Algorithm::kWilsonRc}) {
    EXPECT_THROW(sampler.build(multi, algorithm, workspace), std::invalid_argument);
  }
}

TEST(Sampler, RefusesWhatHasNoTreeBeforeAnyWalk) {
  const std::vector<double> nothing(16, -HUGE_VAL);
  const Factorization f = eliminate(ScoreView(nothing.data(), 3), RootRule::kMulti);
  Sampler sampler;
  Workspace workspace;
  expect_sentence_error(Status::kNoTree, [&] { sampler.build(f, Algorithm::kWilson, workspace); });
  Tree heads(3);
  expect_misuse("Sampler::sample", [&] {
    sampler.sample(0, {}, 1, {heads.data(), 3}, {}, nullptr, workspace);
  });
}

// Tree s of sentence b is what it is, drawn alone or among others, forwards or backwards.
TEST(Sampler, TreesDependOnSeedSentenceAndSampleAlone) {
  for (const Algorithm algorithm : all_algorithms()) {
    const Root root = algorithm == Algorithm::kWilson ? Root::kMulti : Root::kSingle;
    const Factorization f = factored(oracle::gaussian(12, 1, 3), root);
    Sampler sampler;
    Workspace workspace;
    sampler.build(f, algorithm, workspace);
    const auto trees = [&](std::uint64_t id, std::uint32_t first, std::size_t count) {
      std::vector<std::int32_t> heads(count * 12);
      sampler.sample(id, {algorithm, 77, 0, first}, count, {heads.data(), 12}, {}, nullptr,
                     workspace);
      return heads;
    };
    const std::size_t count = 50;
    const std::vector<std::int32_t> together = trees(9, 100, count);
    std::set<Tree> distinct;
    for (std::size_t s = count; s-- > 0;) {
      const Tree alone = trees(9, static_cast<std::uint32_t>(100 + s), 1);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                             together.begin() + static_cast<std::ptrdiff_t>(12 * s)));
      distinct.insert(alone);
    }
    EXPECT_GT(distinct.size(), 40U) << to_string(algorithm);
    for (const std::uint64_t id : {std::uint64_t{8}, (std::uint64_t{1} << 32) + 9}) {
      const Tree other = trees(id, 100, 1);
      EXPECT_FALSE(std::equal(other.begin(), other.end(), together.begin()));
    }
  }
}

// Whatever the weights, what comes out is a tree under the root rule, of allowed edges.
TEST(Sampler, SamplesValidTreesOfEveryFamily) {
  const std::vector<Problem> problems{
      oracle::uniform(1),          oracle::uniform(40),
      oracle::gaussian(2, 1, 1),   oracle::gaussian(17, 1, 2),
      oracle::sparse(12, 0.5, 5),  oracle::attractor_pairs(9, 3, 4),
      oracle::masked(12, -1e9, 6), oracle::column_offsets(9, 1e6, 9)};
  // A walk might not come home from these.
  const std::vector<Problem> beyond_walks{
      oracle::attractor_pairs(12, 30, 1), oracle::attractor_pairs(12, 900, 2),
      oracle::nested_rings(12, 40, 3),    oracle::gaussian(14, 60, 4),
      oracle::heavy_tailed(15, 3),        oracle::wide_range(8, 600, 8),
      oracle::near_empty_columns(20, 7)};
  const auto check = [](const Problem& problem, Algorithm algorithm) {
    const Root root = algorithm == Algorithm::kWilson ? Root::kMulti : Root::kSingle;
    const bool both = algorithm == Algorithm::kAuto || algorithm == Algorithm::kElimination ||
                      algorithm == Algorithm::kColbourn;
    for (const Root r : both ? std::vector{Root::kSingle, Root::kMulti} : std::vector{root}) {
      const Factorization f = factored(problem, r);
      if (!f.outcome().ok()) continue;
      for (const Tree& tree : sample(f, 25, {algorithm, 1, 0})) {
        EXPECT_TRUE(std::isfinite(log_prob(f, tree)))
            << to_string(algorithm) << " n = " << problem.n << " " << name(r);
      }
    }
  };
  for (const Algorithm algorithm : all_algorithms()) {
    for (const Problem& problem : problems) check(problem, algorithm);
  }
  for (const Problem& problem : beyond_walks) {
    for (const Algorithm algorithm :
         {Algorithm::kAuto, Algorithm::kElimination, Algorithm::kColbourn}) {
      check(problem, algorithm);
    }
  }
}

TEST(Sampler, StepLimitIsAStatusAndWritesNothing) {
  const Factorization f = factored(oracle::attractor_pairs(6, 40, 1), Root::kSingle);
  for (const Algorithm algorithm : {Algorithm::kWilsonMarginal, Algorithm::kWilsonReject}) {
    Sampler sampler;
    Workspace workspace;
    sampler.build(f, algorithm, workspace);
    std::vector<std::int32_t> heads(3 * 6, -7);
    std::vector<Status> statuses(3);
    SampleStatistics statistics;
    EXPECT_EQ(sampler.sample(0, {algorithm, 1, 1000}, 3, {heads.data(), 6}, statuses, &statistics,
                             workspace),
              0U);
    for (const Status status : statuses) EXPECT_EQ(status, Status::kStepLimit);
    for (const std::int32_t head : heads) EXPECT_EQ(head, -7);
    EXPECT_EQ(statistics.steps, 3000U);
    expect_sentence_error(Status::kStepLimit, [&] { sample(f, 2, {algorithm, 1, 1000}); });
  }
}

TEST(Sampler, CountsTriesAsExpected) {
  const Problem problem = oracle::gaussian(8, 1, 5);
  const Factorization f = factored(problem, Root::kSingle);
  Sampler sampler;
  Workspace workspace;
  sampler.build(f, Algorithm::kWilsonReject, workspace);
  const std::size_t count = 40000;
  std::vector<std::int32_t> heads(count * 8);
  SampleStatistics statistics;
  sampler.sample(0, {Algorithm::kWilsonReject, 1}, count, {heads.data(), 8}, {}, &statistics,
                 workspace);
  const double mean = static_cast<double>(statistics.tries) / static_cast<double>(count);
  const double expected = expected_tries(f);
  // Geometric: its standard deviation is below its mean.
  EXPECT_NEAR(mean, expected, 6 * expected / std::sqrt(static_cast<double>(count)));
  // And the walk's length has the mean that expected_steps says.
  sampler.build(f, Algorithm::kWilsonMarginal, workspace);
  statistics = {};
  sampler.sample(0, {Algorithm::kWilsonMarginal, 1}, count, {heads.data(), 8}, {}, &statistics,
                 workspace);
  EXPECT_NEAR(
      static_cast<double>(statistics.steps) / static_cast<double>(count) / expected_steps(f), 1,
      0.03);
}

}  // namespace
}  // namespace taproot
