// SPDX-License-Identifier: Apache-2.0
//
// Stochastic beam search on the device: the CPU's trees and Gumbels, and the law.
#include <algorithm>
#include <cmath>
#include <map>

#include "cuda/on_device.h"
#include "law/trained.h"
#include "law/without_replacement.h"
#include "testing/families.h"
#include "testing/paths.h"

namespace taproot {
namespace {

using law::kAlpha;
using oracle::Problem;
using oracle::Root;

template <typename Where>
std::vector<WithoutReplacementSample> beam(Where& where, std::vector<ScoreView> scores,
                                           RootRule root, std::size_t k, std::uint64_t seed) {
  DependencyTrees trees(where, std::move(scores), with_root(root));
  std::vector<WithoutReplacementSample> out(trees.size());
  WithoutReplacementOptions options;
  options.algorithm = WithoutReplacementAlgorithm::kBeam;
  options.seed = seed;
  trees.sample_without_replacement(k, options, out);
  return out;
}

class CudaBeam : public OnDevice {
 protected:
  // The device sums in another order, so that a choice falls differently with a probability of
  // about n 2^-53; and once one does, so may those that follow.
  void expect_same(const std::vector<Problem>& problems, RootRule root, std::size_t k) {
    Pool pool;
    Cuda cuda;
    const auto found = beam(cuda, views_of(problems), root, k, 3);
    const auto exact = beam(pool, views_of(problems), root, k, 3);
    double worst = 0;
    double worst_p = 0;
    for (std::size_t b = 0; b < problems.size(); ++b) {
      SCOPED_TRACE(testing::Message() << "sentence " << b << " n " << problems[b].n << " k " << k);
      ASSERT_EQ(found[b].size(), exact[b].size());
      ASSERT_EQ(found[b].exhausted, exact[b].exhausted);
      ASSERT_EQ(found[b].heads, exact[b].heads);
      for (std::size_t t = 0; t < exact[b].size(); ++t) {
        worst = std::max(worst, std::abs(found[b].gumbel[t] - exact[b].gumbel[t]));
        worst_p = std::max(worst_p, std::abs(found[b].log_prob[t] - exact[b].log_prob[t]));
        EXPECT_NEAR(found[b].weight[t], exact[b].weight[t], 1e-7 * exact[b].weight[t]);
      }
      if (!exact[b].exhausted) {
        worst = std::max(worst, std::abs(found[b].kappa - exact[b].kappa));
      }
    }
    EXPECT_LE(worst, 1e-8);
    EXPECT_LE(worst_p, 1e-11);
    const CudaStatistics statistics = cuda.statistics();
    std::printf(
        "k %zu: Gumbels within %.2g, log p within %.2g, %llu laws by contraction, "
        "%llu sentences on the CPU\n",
        k, worst, worst_p, static_cast<unsigned long long>(statistics.exact),
        static_cast<unsigned long long>(statistics.on_cpu));
    expect_ran(cuda);
  }

  // In float32 the laws differ by a few n 2^-24, so that some choices fall differently. Of the
  // trees that both have, the Gumbels say how much: they are sums of log p over a tree's words.
  void expect_near(const std::vector<Problem>& problems, RootRule root, std::size_t k) {
    Pool pool;
    Cuda cuda(Precision::kFloat32);
    const auto found = beam(cuda, views_of(problems), root, k, 3);
    const auto exact = beam(pool, views_of(problems), root, k, 3);
    double worst = 0;
    double worst_p = 0;
    std::size_t all = 0;
    std::size_t different = 0;
    for (std::size_t b = 0; b < problems.size(); ++b) {
      SCOPED_TRACE(testing::Message() << "sentence " << b << " n " << problems[b].n << " k " << k);
      ASSERT_EQ(found[b].size(), exact[b].size());
      ASSERT_EQ(found[b].exhausted, exact[b].exhausted);
      std::map<Tree, std::size_t> place;
      for (std::size_t t = 0; t < exact[b].size(); ++t) {
        place[Tree(exact[b][t].begin(), exact[b][t].end())] = t;
      }
      all += found[b].size();
      for (std::size_t t = 0; t < found[b].size(); ++t) {
        ASSERT_TRUE(is_tree(found[b][t], root));
        const auto at = place.find(Tree(found[b][t].begin(), found[b][t].end()));
        if (at == place.end()) {
          ++different;
          continue;
        }
        const double apart = std::abs(found[b].gumbel[t] - exact[b].gumbel[at->second]);
        // Another way to the same tree has another Gumbel.
        if (apart > 0.01) {
          ++different;
        } else {
          worst = std::max(worst, apart);
        }
        const double p_apart = std::abs(found[b].log_prob[t] - exact[b].log_prob[at->second]);
        worst_p = std::max(worst_p, p_apart);
      }
      EXPECT_TRUE(std::is_sorted(found[b].gumbel.rbegin(), found[b].gumbel.rend()));
    }
    EXPECT_LE(static_cast<double>(different), 2 + 1e-3 * static_cast<double>(all));
    EXPECT_LE(worst, 1e-4);
    EXPECT_LE(worst_p, 1e-11);  // Found from the scores, in double.
    const CudaStatistics statistics = cuda.statistics();
    std::printf(
        "k %zu, float32: %zu of %zu trees differ, Gumbels within %.2g, %llu laws in double, "
        "%llu sentences on the CPU\n",
        k, different, all, worst, static_cast<unsigned long long>(statistics.exact),
        static_cast<unsigned long long>(statistics.on_cpu));
    expect_ran(cuda);
  }

  void expect_both(const std::vector<Problem>& problems, RootRule root, std::size_t k) {
    expect_same(problems, root, k);
    expect_near(problems, root, k);
  }
};

TEST_F(CudaBeam, TreesOfTheCpu) {
  std::vector<Problem> problems;
  std::uint64_t seed = 1;
  for (const int n : lengths({1, 2, 3, 5, 14, 31, 32, 40, 64, 70}, 40)) {
    problems.push_back(oracle::gaussian(n, 1, ++seed));
    problems.push_back(oracle::gaussian(n, 4, ++seed));
    problems.push_back(oracle::sparse(n, 0.5, ++seed));
  }
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const std::size_t k : {1U, 7U, 100U, 500U}) {
      if (k <= samples(500, 20)) expect_both(problems, root, k);
    }
  }
}

// Rows do not hold here: by contraction, all or in part.
TEST_F(CudaBeam, Attractors) {
  std::vector<Problem> problems;
  for (const int n : lengths({4, 9, 20, 33}, 20)) {
    for (const double gap : {3.0, 8.0, 15.0, 25.0}) {
      problems.push_back(oracle::attractor_pairs(n, gap, 7));
      problems.push_back(oracle::rings(n, 3, gap, 8));
    }
  }
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const std::size_t k : {10U, 60U}) {
      if (k <= samples(60, 10)) expect_both(problems, root, k);
    }
  }
}

// Pivots that are all harmless, of a contraction in which float32 underflows all the same: after
// 1 <- 7, 2 <- 1, 3 <- 4, which has 27 % of the mass, word 4's head is ROOT with 2/3 and 7 with
// 1/3, and in float32 it would be ROOT.
TEST_F(CudaBeam, UnderflowBehindHarmlessPivots) {
  struct Edge {
    int head;
    int modifier;
    double bits;
  };
  constexpr Edge kEdges[] = {{0, 1, -150}, {0, 3, -55},  {0, 4, -55}, {0, 7, -150}, {1, 2, 0},
                             {1, 6, 0},    {1, 7, 0},    {2, 7, 0},   {3, 4, 0},    {4, 3, 0},
                             {4, 5, -50},  {5, 7, -100}, {6, 5, 0},   {6, 7, -50},  {7, 1, 0},
                             {7, 4, -55},  {7, 6, 0}};
  Problem problem = oracle::uniform(7);
  std::fill(problem.scores.begin(), problem.scores.end(), -HUGE_VAL);
  for (const Edge& e : kEdges) {
    problem.scores[static_cast<std::size_t>(e.head * 8 + e.modifier)] = e.bits * std::log(2.0);
  }
  const std::vector<ScoreView> scores = copies_of(problem, samples(5000, 50));
  Pool pool;
  Cuda cuda(Precision::kFloat32);
  const auto found = beam(cuda, scores, RootRule::kMulti, 2, 3);
  const auto exact = beam(pool, scores, RootRule::kMulti, 2, 3);
  std::size_t different = 0;
  for (std::size_t b = 0; b < scores.size(); ++b) different += found[b].heads != exact[b].heads;
  EXPECT_LE(different, scores.size() / 1000);
  EXPECT_GT(cuda.statistics().exact, 0U);
  expect_near({problem}, RootRule::kMulti, 5);
}

TEST_F(CudaBeam, TrainedScores) {
  std::vector<Problem> problems;
  for (auto& [name, problem] : law::trained_sentences(oracle::golden_file("trained.json"))) {
    problems.push_back(std::move(problem));
  }
  ASSERT_FALSE(problems.empty());
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const std::size_t k : {10U, 200U}) {
      if (k <= samples(200, 10)) expect_both(problems, root, k);
    }
  }
}

TEST_F(CudaBeam, LongSentences) {
  for (const int n : lengths({100, 127, 128, 200, 260}, 128)) {
    expect_both({oracle::gaussian(n, 1, 3)}, RootRule::kSingle, samples(40, 4));
  }
  if (sanitized()) return;
  expect_same({oracle::gaussian(520, 1, 3)}, RootRule::kSingle, 5);
  expect_both({oracle::gaussian(127, 1, 3)}, RootRule::kMulti, 3000);
}

TEST_F(CudaBeam, EveryTreeOnce) {
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    for (const Problem& problem : {oracle::gaussian(4, 2, 1), oracle::attractor_pairs(5, 30, 2),
                                   oracle::uniform(5), oracle::wide_range(4, 200, 3)}) {
      for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
        Cuda cuda(precision);
        const auto found = beam(cuda, copies_of(problem, 3), rule(root), 3000, 1);
        const auto trees = law::allowed_trees(problem, root, TreeFamily::kAll);
        for (const WithoutReplacementSample& sample : found) {
          EXPECT_TRUE(sample.exhausted);
          std::vector<Tree> sampled;
          for (std::size_t i = 0; i < sample.size(); ++i) {
            sampled.emplace_back(sample[i].begin(), sample[i].end());
          }
          std::sort(sampled.begin(), sampled.end());
          EXPECT_EQ(sampled, trees);
          EXPECT_TRUE(std::is_sorted(sample.gumbel.rbegin(), sample.gumbel.rend()));
        }
        expect_ran(cuda);
      }
    }
  }
}

// The ordered tuple of trees has the law of sampling without replacement.
TEST_F(CudaBeam, Law) {
  const std::size_t kSamples = samples(100000, 150);
  struct Case {
    Problem problem;
    std::size_t k;
  };
  for (const Case& c :
       {Case{oracle::gaussian(3, 1, 3), 3}, Case{oracle::attractor_pairs(3, 3, 5), 3},
        Case{oracle::gaussian(4, 2, 7), 2}, Case{oracle::sparse(4, 0.7, 1), 2},
        Case{oracle::attractor_pairs(4, 9, 9), 2}}) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const law::Trees trees = oracle::all_trees(c.problem, root);
      ASSERT_GE(trees.size(), c.k);
      const law::TreeIndex index(trees);
      for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
        law::OrderedCounts counts(trees, c.k);
        Cuda cuda(precision);
        const auto found = beam(cuda, copies_of(c.problem, kSamples), rule(root), c.k, 17);
        std::vector<double> largest;
        for (const WithoutReplacementSample& sample : found) {
          counts.add(indices(sample, index));
          largest.push_back(sample.gumbel[0]);
        }
        EXPECT_GT(counts.p_value(), kAlpha) << name(root);
        // The largest of all perturbed log-probabilities is a Gumbel(0).
        EXPECT_GT(law::ks_p(largest, [](double g) { return std::exp(-std::exp(-g)); }), kAlpha);
        if (!sanitized()) {
          EXPECT_LT(law::ks_p(largest, [](double g) { return std::exp(-std::exp(0.05 - g)); }),
                    kAlpha);
        }
        EXPECT_EQ(cuda.statistics().on_cpu, 0U);
        expect_ran(cuda);
      }
    }
  }
}

TEST_F(CudaBeam, OtherAlgorithmsAreRefused) {
  Cuda cuda;
  const Problem problem = oracle::uniform(3);
  DependencyTrees trees(cuda, copies_of(problem, 1));
  std::vector<WithoutReplacementSample> out(1);
  EXPECT_THROW(trees.sample_without_replacement(2, {WithoutReplacementAlgorithm::kTrie, 0}, out),
               std::invalid_argument);
}

}  // namespace
}  // namespace taproot
