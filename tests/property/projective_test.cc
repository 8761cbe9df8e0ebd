// SPDX-License-Identifier: Apache-2.0
//
// Projective trees against enumeration and against a chart in multiprecision: log Z to 1e-12,
// marginals to 1e-13, entropy to 1e-11.
#include <gtest/gtest.h>

#include <cmath>

#include "eliminate/factor_data.h"
#include "law/trained.h"
#include "property/check.h"
#include "testing/families.h"
#include "testing/paths.h"
#include "testing/projective.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

Factorization projective(const Problem& problem, Root root) {
  return factored(problem, root, TreeFamily::kProjective);
}

// Random, sparse, tied and masked graphs of n words.
std::vector<Problem> small_problems(int n, std::uint64_t seed) {
  std::vector<Problem> problems = {oracle::uniform(n),
                                   oracle::gaussian(n, 2, seed),
                                   oracle::gaussian(n, 60, seed),
                                   oracle::sparse(n, 0.3, seed),
                                   oracle::sparse(n, 0.5, seed + 100),
                                   oracle::near_empty_columns(n, seed),
                                   oracle::masked(n, -1e4, seed),
                                   oracle::masked(n, -1e9, seed),
                                   oracle::wide_range(n, 600, seed),
                                   oracle::attractor_pairs(n, 340, seed),
                                   oracle::column_offsets(n, 1e5, seed)};
  Problem tied = oracle::gaussian(n, 1, seed + 7);
  for (double& s : tied.scores) s = std::round(s);
  problems.push_back(tied);
  return problems;
}

TEST(Projective, IsEnumerationUpToSixWords) {
  int without = 0;
  int wide = 0;
  for (int n = 1; n <= 6; ++n) {
    for (std::uint64_t seed = 1; seed <= (n == 6 ? 2U : 6U); ++seed) {
      const std::vector<Problem> problems = small_problems(n, seed);
      for (std::size_t i = 0; i < problems.size(); ++i) {
        for (const Root root : {Root::kSingle, Root::kMulti}) {
          SCOPED_TRACE(testing::Message()
                       << "problem " << i << " n = " << n << " seed " << seed << " " << name(root));
          const Factorization f = projective(problems[i], root);
          expect_exact(f, oracle::enumerate_projective(problems[i], root));
          without += f.outcome().ok() ? 0 : 1;
          wide += f.is_wide() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(without, 10);
  EXPECT_GE(wide, 8);
}

TEST(Projective, IsEnumerationForEveryTarget) {
  const Problem problem = oracle::gaussian(5, 2, 3);
  for_each_target([&] {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      expect_exact(projective(problem, root), oracle::enumerate_projective(problem, root));
    }
  });
}

// The oracle's two ways agree with each other.
TEST(Projective, ChartOfTheOracleIsEnumeration) {
  for (const Problem& problem : small_problems(5, 4)) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const oracle::Answer trees = oracle::enumerate_projective(problem, root);
      const oracle::Answer chart = oracle::projective_chart(problem, root);
      ASSERT_EQ(trees.feasible, chart.feasible);
      if (!trees.feasible) continue;
      EXPECT_NEAR(chart.log_partition, trees.log_partition,
                  1e-15 * std::max(1.0, std::abs(trees.log_partition)));
      for (std::size_t c = 0; c < trees.marginals.size(); ++c) {
        EXPECT_NEAR(chart.marginals[c], trees.marginals[c], 1e-15);
      }
    }
  }
}

struct Long {
  const char* name;
  Problem problem;
  bool wide;
};

std::vector<Long> long_problems(int n) {
  return {
      {"uniform", oracle::uniform(n), false},
      {"gaussian 1", oracle::gaussian(n, 1, 1), false},
      {"gaussian 5", oracle::gaussian(n, 5, 2), false},
      {"gaussian 20", oracle::gaussian(n, 20, 3), false},
      {"attractors", oracle::attractor_pairs(n, 30, 4), false},
      {"masked", oracle::masked(n, -1e9, 5), false},
      {"gaussian 60", oracle::gaussian(n, 60, 3), true},
      {"far attractors", oracle::attractor_pairs(n, 600, 4), true},
  };
}

void expect_chart(const Long& one, Root root) {
  SCOPED_TRACE(testing::Message() << one.name << " n = " << one.problem.n << " " << name(root));
  const Factorization f = projective(one.problem, root);
  EXPECT_EQ(f.is_wide(), one.wide) << log_partition(f);
  expect_exact(f, oracle::projective_chart(one.problem, root));
}

TEST(Projective, IsAChartInMultiprecisionAtThirtyWords) {
  for (const Long& one : long_problems(30)) {
    for (const Root root : {Root::kSingle, Root::kMulti}) expect_chart(one, root);
  }
}

TEST(Projective, IsAChartInMultiprecisionAtAHundredWords) {
  for (const Long& one : long_problems(100)) {
    for (const Root root : {Root::kSingle, Root::kMulti}) expect_chart(one, root);
  }
}

TEST(Projective, IsAChartInMultiprecisionAtThreeHundredWords) {
  const std::vector<Long> problems = long_problems(300);
  expect_chart(problems[0], Root::kMulti);
  expect_chart(problems[3], Root::kSingle);
  expect_chart(problems[6], Root::kSingle);
}

// Attractors cost 43 bits per pair of words, so Z is far below the range of double, and a common
// factor brings it back. Of far ones, no common factor suits both edges of a pair and those
// between.
TEST(Projective, IsAChartInMultiprecisionForAttractorsOfThreeHundredWords) {
  const std::vector<Long> problems = long_problems(300);
  expect_chart(problems[4], Root::kSingle);
  expect_chart(problems[4], Root::kMulti);
  expect_chart(problems[7], Root::kSingle);
}

TEST(Projective, IsAChartInMultiprecisionOnTrainedScores) {
  for (const auto& [name, sentence] : law::trained_sentences(oracle::golden_file("trained.json"))) {
    SCOPED_TRACE(name);
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      expect_exact(projective(sentence, root), oracle::projective_chart(sentence, root));
    }
  }
}

}  // namespace
}  // namespace taproot
