// SPDX-License-Identifier: Apache-2.0
//
// log Z and marginals of batches, in which short sentences are answered side by side, long ones one
// by one, and some have no answer.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "property/check.h"
#include "testing/families.h"
#include "testing/projective.h"
#include "unit/batch/sentences.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

// Short and long sentences, easy and hard ones. Some of them have no tree.
std::vector<Problem> corpus() {
  std::vector<Problem> problems;
  for (int b = 0; b < 36; ++b) {
    const auto seed = static_cast<std::uint64_t>(b);
    const int n = 1 + b * 11 % 35;
    switch (b % 9) {
      case 0:
        problems.push_back(oracle::sparse(n, 0.04, seed));
        break;
      case 1:
        problems.push_back(oracle::attractor_pairs(n, 40, seed));
        break;
      case 2:
        problems.push_back(oracle::wide_range(n, 300, seed));
        break;
      case 3:
        problems.push_back(oracle::masked(n, -1e9, seed));
        break;
      case 4:
        problems.push_back(oracle::near_empty_columns(n, seed));
        break;
      case 5:
        problems.push_back(oracle::heavy_tailed(n, seed));
        break;
      default:
        problems.push_back(oracle::gaussian(n, b % 4, seed));
    }
  }
  return problems;
}

std::vector<ScoreView> views_of(const std::vector<Problem>& problems) {
  std::vector<ScoreView> views;
  for (const Problem& problem : problems) views.emplace_back(problem.scores.data(), problem.n);
  return views;
}

void expect_exact(DependencyTrees& d, const std::vector<oracle::Answer>& exact) {
  std::vector<double> log_z(d.size(), kUntouched);
  const EdgeMemory memory(d);
  const std::vector<Outcome> outcomes = d.log_partition(log_z);
  EXPECT_EQ(d.marginals(memory.out()), outcomes);
  for (std::size_t b = 0; b < d.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "sentence " << b << " of " << d.n(b) << " words");
    ASSERT_EQ(outcomes[b].status, exact[b].feasible ? Status::kOk : Status::kNoTree);
    const Row row = memory.row(b);
    if (!exact[b].feasible) {
      EXPECT_TRUE(std::isnan(log_z[b]) && is_lost(row));
      continue;
    }
    EXPECT_NEAR(log_z[b], exact[b].log_partition,
                1e-12 * std::max(1.0, std::abs(exact[b].log_partition)));
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_GE(row[i], 0);
      EXPECT_NEAR(row[i], exact[b].marginals[i], 1e-13);
    }
  }
}

TEST(Sums, AreExact) {
  const std::vector<Problem> problems = corpus();
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    for (const bool projective : {false, true}) {
      std::vector<oracle::Answer> exact;
      int without = 0;
      for (const Problem& problem : problems) {
        exact.push_back(projective ? oracle::projective_chart(problem, root)
                                   : oracle::matrix_tree(problem, root));
        without += exact.back().feasible ? 0 : 1;
      }
      EXPECT_GT(without, 0);
      for_each_target([&] {
        Pool pool(2);
        for (const bool keep : {true, false}) {
          DependencyTrees d(pool, views_of(problems),
                            {.root = rule(root), .projective = projective, .keep = keep});
          expect_exact(d, exact);
        }
      });
    }
  }
}

// Marginals give log Z on the way, with the same bits as log_partition() by itself; and factors
// that another question has left do not change either.
TEST(Sums, AreTheSameTogetherAndAlone) {
  const std::vector<Problem> problems = corpus();
  Pool pool(2);
  for (const bool keep : {true, false}) {
    DependencyTrees alone(pool, views_of(problems), {.keep = keep});
    DependencyTrees together(pool, views_of(problems), {.keep = keep});
    DependencyTrees factored(pool, views_of(problems), {.keep = keep});
    Row a(alone.size());
    Row b(alone.size());
    Row c(alone.size());
    const std::vector<Outcome> outcomes = alone.log_partition(a);
    const EdgeMemory p(alone);
    EXPECT_EQ(together.marginals(p.out()), outcomes);
    EXPECT_EQ(together.outcomes(), outcomes);
    EXPECT_EQ(together.log_partition(b), outcomes);
    factored.entropy(c);
    EXPECT_EQ(factored.log_partition(c), outcomes);
    const EdgeMemory q(alone);
    EXPECT_EQ(factored.marginals(q.out()), outcomes);
    for (std::size_t s = 0; s < a.size(); ++s) {
      if (!outcomes[s].ok()) continue;
      EXPECT_EQ(a[s], b[s]);
      EXPECT_EQ(a[s], c[s]);
      EXPECT_TRUE(same(p.row(s), q.row(s))) << s;
    }
  }
}

// The bits of an answer are those of the sentence alone, whatever the batch around it, its order
// and the number of threads.
TEST(Sums, DoNotDependOnTheBatch) {
  std::vector<Problem> problems = corpus();
  for (int b = 0; b < 40; ++b) {
    problems.push_back(oracle::gaussian(1 + b * 7 % 32, 3, static_cast<std::uint64_t>(200 + b)));
  }
  const std::vector<ScoreView> all = views_of(problems);
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (std::size_t round = 0; round < 12; ++round) {
      std::vector<ScoreView> some;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t b = (i * 29 + round * 5) % all.size();
        if (round == 0 || (b * 13 + round) % (round + 1) == 0) some.push_back(all[b]);
      }
      Pool pool(1 + static_cast<int>(round % 3));
      DependencyTrees d(pool, some, {.root = root, .keep = round % 2 == 0});
      Row log_z(d.size());
      const EdgeMemory memory(d);
      const std::vector<Outcome> outcomes = d.log_partition(log_z);
      EXPECT_EQ(d.marginals(memory.out()), outcomes);
      for (std::size_t b = 0; b < d.size(); ++b) {
        const Factorization f = eliminate(some[b], root);
        ASSERT_EQ(outcomes[b], f.outcome());
        if (!f.outcome().ok()) continue;
        EXPECT_EQ(log_z[b], log_partition(f)) << "round " << round << ", sentence " << b;
        EXPECT_TRUE(same(memory.row(b), marginals(f))) << "round " << round << ", sentence " << b;
      }
    }
  }
}

// Which sentence is bad, and where, is told as for a single sentence.
TEST(Sums, NameBadScoresInTheMiddleOfABatch) {
  std::vector<Problem> problems;
  for (int b = 0; b < 24; ++b)
    problems.push_back(oracle::gaussian(10, 1, static_cast<unsigned>(b)));
  problems[9].scores[3 * 11 + 7] = NAN;
  problems[17].scores[7] = HUGE_VAL;
  Pool pool(1);
  DependencyTrees d(pool, views_of(problems));
  std::vector<double> log_z(d.size());
  const std::vector<Outcome> outcomes = d.log_partition(log_z);
  for (std::size_t b = 0; b < d.size(); ++b) {
    const Outcome expected = b == 9    ? Outcome{Status::kBadScore, 3, 7}
                             : b == 17 ? Outcome{Status::kBadScore, 0, 7}
                                       : Outcome{};
    EXPECT_EQ(outcomes[b], expected) << b;
    EXPECT_EQ(std::isnan(log_z[b]), !expected.ok()) << b;
  }
}

}  // namespace
}  // namespace taproot
