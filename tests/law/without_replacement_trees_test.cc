// SPDX-License-Identifier: Apache-2.0
//
// Longer sentences, where the law of a sample cannot be enumerated: trees are trees, no two of a
// sample are the same, and all algorithms agree.
#include <gtest/gtest.h>

#include <set>

#include "law/trained.h"
#include "law/without_replacement.h"
#include "testing/paths.h"

namespace taproot {
namespace {

using law::WithoutReplacementSamples;
using oracle::Problem;

constexpr std::size_t kTrees = 50;

std::vector<std::pair<std::string, Problem>> graphs() {
  auto all = law::trained_sentences(oracle::golden_file("trained.json"));
  for (const int gap : {5, 30, 900}) {
    all.emplace_back("pairs-" + std::to_string(gap), oracle::attractor_pairs(10, gap, 3));
  }
  all.emplace_back("pairs-40", oracle::attractor_pairs(40, 10, 4));
  all.emplace_back("heavy-tailed-8", oracle::heavy_tailed(8, 5));
  all.emplace_back("heavy-tailed-35", oracle::heavy_tailed(35, 6));
  all.emplace_back("sparse-10", oracle::sparse(10, 0.4, 7));
  all.emplace_back("sparse-40", oracle::sparse(40, 0.2, 8));
  all.emplace_back("few-heads-20", oracle::near_empty_columns(20, 9));
  all.emplace_back("rings-12", oracle::rings(12, 3, 12, 10));
  return all;
}

class WithoutReplacementTrees : public testing::TestWithParam<law::WithoutReplacementCase> {};

TEST_P(WithoutReplacementTrees, AreTreesAndDistinct) {
  const auto& [algorithm, root, family] = GetParam();
  int tested = 0;
  for (const auto& [label, problem] : graphs()) {
    SCOPED_TRACE(label);
    if (!factored(problem, root, family).outcome().ok()) continue;
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    for (std::uint32_t s = 0; s < 10; ++s) {
      const WithoutReplacementSample& sample = draws(s, kTrees);
      if (sample.status == Status::kNumericalLoss) {
        EXPECT_EQ(algorithm, WithoutReplacementAlgorithm::kList);
      } else {
        EXPECT_TRUE(sample.size() == kTrees || sample.exhausted) << sample.size();
      }
      EXPECT_GE(sample.size(), 1U);
      std::set<Tree> distinct;
      for (std::size_t i = 0; i < sample.size(); ++i) {
        EXPECT_TRUE(is_tree(sample[i], rule(root)));
        if (family == TreeFamily::kProjective) {
          EXPECT_TRUE(is_projective(sample[i]));
        }
        EXPECT_TRUE(distinct.emplace(sample[i].begin(), sample[i].end()).second);
        EXPECT_NEAR(sample.log_prob[i], log_prob(draws.factorization(), sample[i]),
                    1e-9 * std::max(1.0, std::abs(sample.log_prob[i])));
        EXPECT_GT(sample.log_prob[i], -HUGE_VAL);
        if (i > 0) {
          EXPECT_LT(sample.gumbel[i], sample.gumbel[i - 1]);
        }
      }
    }
    ++tested;
  }
  EXPECT_GE(tested, family == TreeFamily::kProjective ? 13 : 14);  // Some have no tree.
}

INSTANTIATE_TEST_SUITE_P(All, WithoutReplacementTrees,
                         testing::ValuesIn(law::without_replacement_cases()), law::case_name);

// Of samples: the sum of log p, the last Gumbel and the kappa.
struct Summary {
  std::vector<double> log_prob, last, kappa;
};

Summary summarize(const Problem& problem, oracle::Root root, TreeFamily family,
                  WithoutReplacementAlgorithm algorithm, std::uint32_t samples) {
  // Its own seed: the first tree of auto would be that of others.
  WithoutReplacementSamples draws(problem, root, family, algorithm,
                                  100 + static_cast<std::uint64_t>(algorithm));
  Summary summary;
  for (std::uint32_t s = 0; s < samples; ++s) {
    const WithoutReplacementSample& sample = draws(s, kTrees);
    double sum = 0;
    for (const double l : sample.log_prob) sum += l;
    summary.log_prob.push_back(sum);
    summary.last.push_back(sample.gumbel.back());
    summary.kappa.push_back(sample.kappa);
  }
  return summary;
}

TEST(WithoutReplacementAlgorithms, HaveOneLaw) {
  for (const auto& [label, problem] : law::trained_sentences(oracle::golden_file("trained.json"))) {
    SCOPED_TRACE(label);
    const auto root = label[0] == 'e' ? oracle::Root::kSingle : oracle::Root::kMulti;
    const std::uint32_t samples = problem.n > 40 ? 200 : 300;
    for (const auto family : {TreeFamily::kAll, TreeFamily::kProjective}) {
      const Summary trie =
          summarize(problem, root, family, WithoutReplacementAlgorithm::kTrie, samples);
      for (const auto algorithm :
           {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kBeam}) {
        const Summary other = summarize(problem, root, family, algorithm, samples);
        EXPECT_GT(law::ks_p(trie.log_prob, other.log_prob), law::kAlpha) << to_string(algorithm);
        EXPECT_GT(law::ks_p(trie.last, other.last), law::kAlpha) << to_string(algorithm);
        EXPECT_GT(law::ks_p(trie.kappa, other.kappa), law::kAlpha) << to_string(algorithm);
      }
    }
  }
}

}  // namespace
}  // namespace taproot
