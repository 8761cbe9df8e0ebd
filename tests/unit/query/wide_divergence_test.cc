// SPDX-License-Identifier: Apache-2.0
//
// Masks that no tree can avoid: log p, entropy, cross-entropy and KL divergence are differences of
// numbers as large as the masks, and must not lose digits to them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "property/check.h"
#include "testing/families.h"
#include "testing/real.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Real;
using oracle::Root;

// All trees of a problem with their log-probabilities, in multiprecision. (The oracle's matrices
// would need as many digits as the masks have.) Make it, and use it, inside a PrecisionScope.
struct Forest {
  std::vector<Tree> trees;
  std::vector<Real> log_p;

  Forest(const Problem& problem, Root root) {
    Real total = 0;
    for (const auto& [heads, probability] : oracle::all_trees(problem, root)) {
      Real score = 0;
      for (std::size_t m = 1; m <= heads.size(); ++m) {
        score += problem.scores[static_cast<std::size_t>(heads[m - 1]) * (heads.size() + 1) + m];
      }
      trees.push_back(heads);
      log_p.push_back(score);
      total += exp(score);
    }
    const Real log_total = log(total);
    for (Real& x : log_p) x -= log_total;
  }

  // The mean of -log q(tree), or of log p(tree) - log q(tree).
  double mean(const Forest& q, bool relative) const {
    Real sum = 0;
    for (std::size_t t = 0; t < trees.size(); ++t) {
      sum += exp(log_p[t]) * ((relative ? log_p[t] : Real(0)) - q.log_p[t]);
    }
    return sum.convert_to<double>();
  }
  double cross_entropy(const Forest& q) const { return mean(q, false); }
  double kl_divergence(const Forest& q) const { return mean(q, true); }
};

constexpr int kDigits = 60;

// N(0, 1), plus offset(head, modifier).
Problem with_offsets(int n, std::uint64_t seed, const std::function<double(int, int)>& offset) {
  Problem problem = oracle::gaussian(n, 1, seed);
  for (int h = 0; h <= n; ++h) {
    for (int m = 1; m <= n; ++m) {
      const auto at = static_cast<std::size_t>(h) * (static_cast<std::size_t>(n) + 1) +
                      static_cast<std::size_t>(m);
      if (h != m) problem.scores[at] += offset(h, m);
    }
  }
  return problem;
}

// Every tree has an edge from ROOT.
Problem masked_root_row(int n, double mask, std::uint64_t seed) {
  return with_offsets(n, seed, [=](int h, int) { return h == 0 ? mask : 0.0; });
}

// The words are parted into groups of two, and every edge between groups or from ROOT into a group
// is masked: each group needs one of these. The masks grow from group to group.
Problem masked_groups(int n, double mask, std::uint64_t seed) {
  return with_offsets(n, seed, [=](int h, int m) {
    const int group = (m - 1) / 2;
    return h != 0 && (h - 1) / 2 == group ? 0.0 : mask * (1 + group);
  });
}

// The same, rounded to what float32 can hold of masks and scores, so that trees tie.
Problem masked_groups_in_float(int n, double mask, std::uint64_t seed) {
  return oracle::rounded_to_float(masked_groups(n, mask, seed));
}

struct Case {
  const char* name;
  Problem (*make)(int, double, std::uint64_t);
};
constexpr Case kCases[] = {{"root row", masked_root_row},
                           {"groups", masked_groups},
                           {"groups in float", masked_groups_in_float}};

// Calls check(problem, another with the same masks, root).
template <typename Check>
void for_all_masks(int longest, Check&& check) {
  for (const Case& c : kCases) {
    for (const double mask : {-1e4, -1e9, -1e12, -3e14}) {
      for (int n = 1; n <= longest; ++n) {
        for (const Root root : {Root::kSingle, Root::kMulti}) {
          SCOPED_TRACE(testing::Message() << c.name << ", mask " << mask << ", n = " << n << ", "
                                          << name(root) << "-root");
          const auto seed = static_cast<std::uint64_t>(n);
          check(c.make(n, mask, seed), c.make(n, mask, seed + 100), root);
        }
      }
    }
  }
}

// Also of trees that use more masks than they need, whose log p is as large as a mask.
TEST(Masks, LogProbIsExact) {
  const oracle::PrecisionScope scope(kDigits);
  for_all_masks(5, [](const Problem& problem, const Problem&, Root root) {
    const Factorization f = factored(problem, root);
    ASSERT_TRUE(f.outcome().ok());
    const Forest forest(problem, root);
    const std::size_t step = forest.trees.size() / 100 + 1;
    for (std::size_t t = 0; t < forest.trees.size(); t += step) {
      const auto exact = forest.log_p[t].convert_to<double>();
      EXPECT_NEAR(log_prob(f, forest.trees[t]), exact, 1e-13 * std::max(1.0, std::abs(exact)));
    }
  });
}

TEST(Masks, EntropyIsExact) {
  for_all_masks(6, [](const Problem& problem, const Problem&, Root root) {
    const double exact = oracle::enumerate(problem, root).entropy;
    EXPECT_NEAR(entropy(factored(problem, root)), exact, 1e-13 * std::max(1.0, exact));
  });
}

TEST(Masks, CrossEntropyAndDivergenceAreExact) {
  const oracle::PrecisionScope scope(kDigits);
  for_all_masks(5, [](const Problem& p, const Problem& q, Root root) {
    const Forest exact_p(p, root);
    const Forest exact_q(q, root);
    const Factorization fp = factored(p, root);
    const Factorization fq = factored(q, root);
    const double cross = exact_p.cross_entropy(exact_q);
    const double kl = exact_p.kl_divergence(exact_q);
    EXPECT_NEAR(cross_entropy(fp, fq), cross, 1e-13 * std::max(1.0, cross));
    EXPECT_NEAR(kl_divergence(fp, fq), kl, 1e-13 * std::max(1.0, kl));
    EXPECT_EQ(kl_divergence(fp, fp), 0);
  });
}

// One side has masks that its trees cannot avoid, the other has none.
TEST(Masks, OnOneSideOnly) {
  const oracle::PrecisionScope scope(kDigits);
  for_all_masks(5, [](const Problem& masked, const Problem&, Root root) {
    const Problem plain = oracle::gaussian(masked.n, 1, 7);
    for (const auto& [p, q] : {std::pair(plain, masked), std::pair(masked, plain)}) {
      const Forest exact_p(p, root);
      const Forest exact_q(q, root);
      const Factorization fp = factored(p, root);
      const Factorization fq = factored(q, root);
      const double cross = exact_p.cross_entropy(exact_q);
      const double kl = exact_p.kl_divergence(exact_q);
      EXPECT_NEAR(cross_entropy(fp, fq), cross, 1e-13 * std::max(1.0, cross));
      EXPECT_NEAR(kl_divergence(fp, fq), kl, 1e-13 * std::max(1.0, kl));
    }
  });
}

// The way for sentences beyond double's range, where the other way can be trusted, too.
TEST(Masks, BothWaysAgree) {
  for (const double gap : {20.0, 30.0}) {
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      const Problem p = oracle::attractor_pairs(60, gap, 1);
      const Problem q = oracle::attractor_pairs(60, gap + 1, 2);
      const Factorization fp = eliminate(ScoreView(p.scores.data(), p.n), root);
      const Factorization fq = eliminate(ScoreView(q.scores.data(), q.n), root);
      const oracle::Root rule = root == RootRule::kSingle ? Root::kSingle : Root::kMulti;
      const double h = oracle::matrix_tree(p, rule).entropy;
      EXPECT_NEAR(entropy(fp), h, 1e-12 * h);
      const double kl = oracle::kl_divergence(p, q, rule);
      EXPECT_NEAR(kl_divergence(fp, fq), kl, 1e-12 * kl);
    }
  }
}

}  // namespace
}  // namespace taproot
