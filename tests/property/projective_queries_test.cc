// SPDX-License-Identifier: Apache-2.0
//
// Queries about projective trees against enumeration, and between the two families.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "property/check.h"
#include "taproot/tree.h"
#include "testing/families.h"
#include "testing/misuse.h"
#include "testing/projective.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr TreeFamily kFamilies[] = {TreeFamily::kAll, TreeFamily::kProjective};

std::vector<std::pair<Tree, double>> trees_of(const Problem& problem, Root root,
                                              TreeFamily family) {
  return family == TreeFamily::kAll ? oracle::all_trees(problem, root)
                                    : oracle::projective_trees(problem, root);
}

std::vector<Problem> problems(std::uint64_t seed) {
  const int n = 2 + static_cast<int>(seed % 4);
  return {oracle::gaussian(n, 2, seed),
          oracle::sparse(n, 0.6, seed),
          oracle::uniform(n),
          oracle::masked(n, -1e9, seed),
          oracle::wide_range(n, 600, seed),
          oracle::near_empty_columns(n, seed)};
}

TEST(ProjectiveQueries, LogProbIsMinusInfinityOffTheFamily) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const Problem& problem : problems(seed)) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        const Factorization f = factored(problem, root, TreeFamily::kProjective);
        std::map<Tree, double> exact;
        for (const auto& [heads, p] : oracle::projective_trees(problem, root)) exact[heads] = p;
        if (!f.outcome().ok()) continue;
        for (const auto& [heads, p] : oracle::all_trees(problem, root)) {
          const auto found = exact.find(heads);
          ASSERT_EQ(found != exact.end(), is_projective(heads));
          if (found == exact.end()) {
            EXPECT_EQ(log_prob(f, heads), -HUGE_VAL);
          } else if (found->second > 1e-300) {
            EXPECT_NEAR(log_prob(f, heads), std::log(found->second), 1e-11);
          }
        }
      }
    }
  }
}

TEST(ProjectiveQueries, ExpectationIsEnumeration) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const Problem& problem : problems(seed)) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        const Factorization f = factored(problem, root, TreeFamily::kProjective);
        if (!f.outcome().ok()) continue;
        std::vector<double> values(problem.scores.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = std::sin(static_cast<double>(i));
        }
        std::vector<bool> used(values.size(), false);
        double exact = 0;
        for (const auto& [heads, p] : oracle::projective_trees(problem, root)) {
          for (std::size_t m = 1; m <= heads.size(); ++m) {
            const std::size_t c = static_cast<std::size_t>(heads[m - 1]) * (heads.size() + 1) + m;
            exact += p * values[c];
            used[c] = true;
          }
        }
        // What no projective tree has does not count, whatever it holds.
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (!used[i]) values[i] = i % 2 == 0 ? NAN : HUGE_VAL;
        }
        EXPECT_NEAR(expectation(f, values), exact, 1e-12);
      }
    }
  }
}

TEST(ProjectiveQueries, HessianProductIsTheCovariance) {
  int wide = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const Problem& problem : problems(seed)) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " " << name(root));
        const Factorization f = factored(problem, root, TreeFamily::kProjective);
        if (!f.outcome().ok()) continue;
        wide += f.is_wide() ? 1 : 0;
        std::vector<double> direction(problem.scores.size());
        for (std::size_t i = 0; i < direction.size(); ++i) {
          direction[i] = 3 * std::sin(1.0 + static_cast<double>(i));
        }
        const auto exact = oracle::projective_derivative(problem, root, direction);
        const auto found = hessian_product(f, direction);
        for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(found[i], exact[i], 2e-13) << i;
      }
    }
  }
  EXPECT_GE(wide, 2);
}

TEST(ProjectiveQueries, HessianProductIsTheDifferenceOfMarginalsAtAHundredWords) {
  const int n = 100;
  const Problem problem = oracle::gaussian(n, 1, 5);
  const Problem direction = oracle::gaussian(n, 1, 6);
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const Factorization f = factored(problem, root, TreeFamily::kProjective);
    std::vector<double> v = direction.scores;
    for (double& x : v) x = std::isfinite(x) ? x : 0.0;
    const auto found = hessian_product(f, v);
    const double step = 1e-5;
    const auto moved = [&](double t) {
      Problem other = problem;
      for (std::size_t i = 0; i < v.size(); ++i) other.scores[i] += t * v[i];
      return marginals(factored(other, root, TreeFamily::kProjective));
    };
    const auto up = moved(step);
    const auto down = moved(-step);
    for (std::size_t i = 0; i < v.size(); ++i) {
      ASSERT_NEAR(found[i], (up[i] - down[i]) / (2 * step), 1e-8);
    }
  }
}

// All four pairs of families, sparse graphs included, where support decides between numbers and
// infinity.
TEST(ProjectiveQueries, CrossEntropyAndDivergenceAreEnumeration) {
  int infinite = 0;
  int finite_into_projective = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::vector<Problem> ps = problems(seed);
    const std::vector<Problem> qs = problems(seed + 400);
    for (std::size_t i = 0; i < 2 * ps.size(); ++i) {
      const Problem& p = ps[i % ps.size()];
      const Problem& q = i < ps.size() ? qs[i] : ps[i % ps.size()];  // Also the same scores.
      if (p.n != q.n) continue;
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        for (const TreeFamily p_family : kFamilies) {
          for (const TreeFamily q_family : kFamilies) {
            SCOPED_TRACE(testing::Message()
                         << "seed " << seed << " problem " << i << " " << name(root) << " "
                         << to_string(p_family) << " " << to_string(q_family));
            const Factorization pf = factored(p, root, p_family);
            const Factorization qf = factored(q, root, q_family);
            if (!pf.outcome().ok() || !qf.outcome().ok()) continue;
            double cross = 0;
            double divergence = 0;
            for (const auto& [heads, probability] : trees_of(p, root, p_family)) {
              const double log_q = log_prob(qf, heads);
              if (log_q == -HUGE_VAL) cross = HUGE_VAL;
              if (cross == HUGE_VAL || probability == 0) continue;
              cross -= probability * log_q;
              divergence += probability * (log_prob(pf, heads) - log_q);
            }
            if (cross == HUGE_VAL) {
              ++infinite;
              EXPECT_EQ(cross_entropy(pf, qf), HUGE_VAL);
              EXPECT_EQ(kl_divergence(pf, qf), HUGE_VAL);
              continue;
            }
            if (p_family < q_family) ++finite_into_projective;
            const double tolerance = 1e-10 * std::max(1.0, std::abs(cross));
            EXPECT_NEAR(cross_entropy(pf, qf), cross, tolerance);
            EXPECT_NEAR(kl_divergence(pf, qf), divergence, tolerance);
          }
        }
      }
    }
  }
  EXPECT_GT(infinite, 50);
  EXPECT_GT(finite_into_projective, 10);
}

TEST(ProjectiveQueries, MassIsTheShareOfProjectiveTrees) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (const Problem& problem : problems(seed)) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        const Factorization all = factored(problem, root);
        if (!all.outcome().ok()) continue;
        double mass = 0;
        for (const auto& [heads, p] : oracle::all_trees(problem, root)) {
          if (oracle::is_projective(heads)) mass += p;
        }
        EXPECT_NEAR(projective_mass(all), mass, 1e-12);
        const Factorization own = factored(problem, root, TreeFamily::kProjective);
        if (own.outcome().ok()) {
          EXPECT_NEAR(projective_mass(own), mass, 1e-12);
        }
      }
    }
  }
}

TEST(ProjectiveQueries, ExpectedTriesIsTheRatioOfBothRules) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Problem problem = oracle::gaussian(5, 2, seed);
    const double ratio =
        std::exp(oracle::enumerate_projective(problem, Root::kMulti).log_partition -
                 oracle::enumerate_projective(problem, Root::kSingle).log_partition);
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const Factorization f = factored(problem, root, TreeFamily::kProjective);
      EXPECT_NEAR(expected_tries(f), ratio, 1e-12 * ratio);
      expect_misuse("expected_steps", [&] { expected_steps(f); });
    }
  }
}

}  // namespace
}  // namespace taproot
