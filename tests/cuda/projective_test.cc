// SPDX-License-Identifier: Apache-2.0
//
// Projective trees on the device: every question has the CPU's answer, which tests/property/
// compares with enumeration and with a chart in multiprecision.
#include <cmath>
#include <functional>
#include <limits>

#include "cuda/on_device.h"
#include "testing/families.h"
#include "testing/linear_congruential.h"

namespace taproot {
namespace {

using oracle::Problem;

BatchOptions projective(RootRule root) {
  BatchOptions options;
  options.root = root;
  options.projective = true;
  return options;
}

// Of all lengths at which the kernels change, with and without trees, within double's range and
// beyond it: the two sides of both tests of the range are met.
std::vector<Problem> problems_of_all_kinds() {
  std::vector<Problem> problems;
  for (const int n : lengths({1, 2, 3, 5, 12, 25, 31, 32, 33, 50, 63, 64, 65, 84, 100, 130}, 33)) {
    problems.push_back(oracle::uniform(n));
    problems.push_back(oracle::gaussian(n, 3, static_cast<std::uint64_t>(n)));
    problems.push_back(oracle::sparse(n, 0.4, static_cast<std::uint64_t>(n)));
  }
  for (const int n : lengths({190, 230, 260}, 0)) problems.push_back(oracle::uniform(n));
  problems.push_back(oracle::sparse(12, 0.05, 1));  // No tree.
  problems.push_back(oracle::attractor_pairs(33, 12, 3));
  problems.push_back(oracle::attractor_pairs(20, 900, 8));  // Beyond the range of double.
  problems.push_back(oracle::wide_range(11, 600, 9));
  problems.push_back(oracle::masked(15, 1e9, 4));
  problems.push_back(oracle::heavy_tailed(40, 5));
  Problem bad = oracle::gaussian(9, 1, 2);
  bad.scores[3 * 10 + 2] = std::numeric_limits<double>::quiet_NaN();
  problems.push_back(bad);
  return problems;
}

class CudaProjective : public OnDevice, public testing::WithParamInterface<RootRule> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    cuda_.emplace();
  }
  void TearDown() override {
    if (cuda_) expect_ran(*cuda_);
  }
  DependencyTrees on_device(const std::vector<Problem>& problems) {
    return DependencyTrees(*cuda_, views_of(problems), projective(GetParam()));
  }
  DependencyTrees on_cpu(const std::vector<Problem>& problems) {
    return DependencyTrees(pool_, views_of(problems), projective(GetParam()));
  }

  Pool pool_{2};
  std::optional<Cuda> cuda_;
};

INSTANTIATE_TEST_SUITE_P(Roots, CudaProjective,
                         testing::Values(RootRule::kSingle, RootRule::kMulti), [](const auto& one) {
                           return one.param == RootRule::kSingle ? "single" : "multi";
                         });

void expect_close(const std::vector<double>& found, const std::vector<double>& expected,
                  double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isfinite(expected[i])) {
      EXPECT_NEAR(found[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << i;
    } else {
      EXPECT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << i;
      if (!std::isnan(expected[i])) {
        EXPECT_EQ(found[i], expected[i]) << i;
      }
    }
  }
}

TEST_P(CudaProjective, Numbers) {
  const std::vector<Problem> problems = problems_of_all_kinds();
  DependencyTrees there = on_device(problems);
  DependencyTrees here = on_cpu(problems);
  const Answers found = ask(there);
  const Answers expected = ask(here);
  std::size_t ok = 0;
  for (std::size_t b = 0; b < problems.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
    EXPECT_EQ(found.outcomes[b], expected.outcomes[b]);
    if (expected.outcomes[b].ok()) ++ok;
    expect_close({found.log_partition[b]}, {expected.log_partition[b]}, 1e-14);
    expect_close({found.entropy[b]}, {expected.entropy[b]}, 1e-11);
    if (!expected.outcomes[b].ok()) continue;
    EXPECT_LT(largest_difference(found.marginals[b], expected.marginals[b]), 1e-13);
  }
  EXPECT_GT(ok, problems.size() / 2);
  EXPECT_LT(ok, problems.size());
  EXPECT_EQ(cuda_->statistics().eliminations, 1U);
}

// The root's law, expectations, products with the Hessian and divergences.
TEST_P(CudaProjective, QuestionsAboutMarginals) {
  const std::vector<Problem> problems = problems_of_all_kinds();
  std::vector<Problem> others;
  std::vector<std::vector<double>> directions;
  LinearCongruential random(7);
  for (const Problem& p : problems) {
    Problem other = p;  // Every third sentence forbids an edge that p allows, and every fourth not.
    std::vector<double> direction;
    for (double& s : other.scores) {
      s *= 0.75;
      direction.push_back(random.uniform() - 0.5 + 1e6);
    }
    if (others.size() % 3 == 0 && p.n > 2) {
      other.scores[static_cast<std::size_t>(2 * (p.n + 1) + 1)] = -HUGE_VAL;
    }
    others.push_back(std::move(other));
    directions.push_back(std::move(direction));
  }
  const auto ask_all = [&](DependencyTrees p, DependencyTrees q) {
    const std::size_t size = problems.size();
    std::vector<std::vector<double>> answers(size);
    std::vector<std::vector<double>> roots(size);
    std::vector<std::vector<double>> products(size);
    std::vector<double*> root_rows;
    std::vector<EdgeMatrix> out;
    std::vector<ConstEdgeMatrix> in;
    for (std::size_t b = 0; b < size; ++b) {
      const auto n = static_cast<std::size_t>(problems[b].n);
      roots[b].resize(n);
      products[b].resize((n + 1) * (n + 1));
      root_rows.push_back(roots[b].data());
      out.push_back({products[b].data(), problems[b].n + 1});
      in.push_back({directions[b].data(), problems[b].n + 1});
    }
    std::vector<double> expectation(size);
    std::vector<double> cross(size);
    std::vector<double> relative(size);
    p.root_marginals(root_rows);
    p.hessian_product(in, out);
    p.expectation(in, expectation);
    p.cross_entropy(q, cross);
    p.kl_divergence(q, relative);
    for (std::size_t b = 0; b < size; ++b) {
      answers[b] = {expectation[b], cross[b], relative[b]};
      answers[b].insert(answers[b].end(), roots[b].begin(), roots[b].end());
      answers[b].insert(answers[b].end(), products[b].begin(), products[b].end());
    }
    return answers;
  };
  const auto found = ask_all(on_device(problems), on_device(others));
  const auto expected = ask_all(on_cpu(problems), on_cpu(others));
  int infinite = 0;
  for (std::size_t b = 0; b < problems.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
    expect_close(found[b], expected[b], 1e-10);
    infinite += std::isinf(expected[b][1]) ? 1 : 0;
  }
  EXPECT_GT(infinite, 3);
}

std::vector<Tree> decoded(DependencyTrees& trees, bool by_risk, std::vector<Outcome>& outcomes,
                          std::vector<double>& scores) {
  std::vector<Tree> heads;
  std::vector<TreeOutput> out(trees.size());
  for (std::size_t b = 0; b < trees.size(); ++b) heads.emplace_back(trees.n(b), -7);
  scores.assign(trees.size(), 0.0);
  for (std::size_t b = 0; b < trees.size(); ++b) {
    out[b].heads = heads[b].data();
    if (!by_risk) out[b].score = &scores[b];
  }
  outcomes = by_risk ? trees.mbr(out) : trees.argmax(out);
  return heads;
}

TEST_P(CudaProjective, BestTrees) {
  std::vector<Problem> problems = problems_of_all_kinds();
  LinearCongruential random(3);
  // Ties and masks: small integers, where rounding decides nothing; digits that are far apart.
  for (std::size_t i = 0; i < samples(2000, 50); ++i) {
    const int n = 1 + static_cast<int>(random.below(14));
    Problem p{n, std::vector<double>(static_cast<std::size_t>((n + 1) * (n + 1)))};
    for (double& s : p.scores) {
      const double digit = static_cast<double>(random.below(3));
      s = i % 5 == 0 && random.below(3) == 0 ? digit * 1e-300 : digit;
      if (i % 3 == 0 && random.below(4) == 0) s = -HUGE_VAL;
      if (i % 7 == 0 && random.below(4) == 0) s = -digit * 2e14;
    }
    problems.push_back(std::move(p));
  }
  DependencyTrees there = on_device(problems);
  DependencyTrees here = on_cpu(problems);
  std::vector<Outcome> found_outcomes;
  std::vector<Outcome> outcomes;
  std::vector<double> found_scores;
  std::vector<double> scores;
  const std::vector<Tree> found = decoded(there, false, found_outcomes, found_scores);
  EXPECT_EQ(cuda_->statistics().eliminations, 0U) << "the best tree needs no elimination";
  const std::vector<Tree> expected = decoded(here, false, outcomes, scores);
  for (std::size_t b = 0; b < problems.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
    ASSERT_EQ(found_outcomes[b], outcomes[b]);
    EXPECT_EQ(found[b], expected[b]);
    if (outcomes[b].ok()) {
      EXPECT_EQ(found_scores[b], scores[b]);
    }
  }
  // Marginals differ in their last bits, so that trees by them are compared by what they are worth.
  const std::vector<Tree> by_risk = decoded(there, true, found_outcomes, found_scores);
  const std::vector<Tree> expected_by_risk = decoded(here, true, outcomes, scores);
  const Answers p = ask(here);
  for (std::size_t b = 0; b < problems.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
    ASSERT_EQ(found_outcomes[b], outcomes[b]);
    if (!outcomes[b].ok()) continue;
    EXPECT_TRUE(is_tree(by_risk[b], GetParam()) && is_projective(by_risk[b]));
    const auto worth = [&](const Tree& heads) {
      double sum = 0;
      for (std::size_t m = 1; m <= heads.size(); ++m) {
        sum += p.marginals[b][static_cast<std::size_t>(heads[m - 1]) * (heads.size() + 1) + m];
      }
      return sum;
    };
    EXPECT_NEAR(worth(by_risk[b]), worth(expected_by_risk[b]), 1e-10);
  }
}

TEST_P(CudaProjective, TreesAreTheHosts) {
  const std::vector<Problem> problems = problems_of_all_kinds();
  const std::size_t k = samples(300, 20);
  DependencyTrees there = on_device(problems);
  DependencyTrees here = on_cpu(problems);
  const auto found = sample(there, k, {Algorithm::kAuto, 11, 0, 5});
  const auto expected = sample(here, k, {Algorithm::kAuto, 11, 0, 5});
  std::size_t trees = 0;
  for (std::size_t b = 0; b < problems.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
    EXPECT_EQ(found[b], expected[b]);
    trees += expected[b].empty() ? 0 : k;
  }
  EXPECT_GT(trees, k * problems.size() / 2);
}

TEST_P(CudaProjective, LogProbabilities) {
  for (const Problem& problem :
       {oracle::gaussian(25, 2, 5), oracle::uniform(7), oracle::attractor_pairs(20, 900, 8)}) {
    const std::vector<Problem> one = {problem};
    DependencyTrees there = on_device(one);
    DependencyTrees here = on_cpu(one);
    DependencyTrees all(pool_, views_of(one), with_root(GetParam()));
    // Trees of both families: most of the second kind are not projective.
    std::vector<std::int32_t> heads = sample(here, 40)[0];
    const std::vector<std::int32_t> more = sample(all, 40)[0];
    heads.insert(heads.end(), more.begin(), more.end());
    const std::vector<double> expected = log_prob(here, heads);
    expect_close(log_prob(there, heads), expected, 1e-12);
    if (problem.n == 25) {
      EXPECT_GT(std::count(expected.begin(), expected.end(), -HUGE_VAL), 10);
      EXPECT_LE(std::count(expected.begin(), expected.end(), -HUGE_VAL), 40);
    }
  }
}

TEST_P(CudaProjective, RefusesWhatItDoesNotDo) {
  const std::vector<Problem> one = {oracle::uniform(5)};
  DependencyTrees there = on_device(one);
  DependencyTrees all(*cuda_, views_of(one), with_root(GetParam()));
  WithoutReplacementSample sample;
  EXPECT_THROW(there.sample_without_replacement(3, {WithoutReplacementAlgorithm::kBeam, 1},
                                                std::span(&sample, 1)),
               std::invalid_argument);
  double out = 0;
  EXPECT_THROW(there.kl_divergence(all, std::span(&out, 1)), std::invalid_argument);
  EXPECT_TRUE(there.outcomes()[0].ok());
}

}  // namespace
}  // namespace taproot
