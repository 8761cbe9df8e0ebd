// SPDX-License-Identifier: Apache-2.0
//
// Sampling without replacement by skipping repeats on the device: the trees, Gumbels and weights of
// the CPU's "auto", whose law tests/law/ tests.
#include <cmath>

#include "cuda/on_device.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;

class CudaSkip : public OnDevice {};

std::vector<WithoutReplacementSample> sampled(DependencyTrees& trees, std::size_t k,
                                              std::uint64_t seed) {
  std::vector<WithoutReplacementSample> out(trees.size());
  trees.sample_without_replacement(k, {WithoutReplacementAlgorithm::kAuto, seed}, out);
  return out;
}

void expect_same(const WithoutReplacementSample& found, const WithoutReplacementSample& expected) {
  EXPECT_EQ(found.n, expected.n);
  EXPECT_EQ(found.status, expected.status);
  EXPECT_EQ(found.heads, expected.heads);
  EXPECT_EQ(found.exhausted, expected.exhausted);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found.log_prob[i], expected.log_prob[i], 1e-10);
    EXPECT_NEAR(found.gumbel[i], expected.gumbel[i], 1e-9);
    EXPECT_NEAR(found.weight[i], expected.weight[i], 1e-9 * expected.weight[i]);
  }
  if (std::isfinite(expected.kappa)) {
    EXPECT_NEAR(found.kappa, expected.kappa, 1e-9);
  } else {
    EXPECT_EQ(std::isnan(found.kappa), std::isnan(expected.kappa));
  }
}

TEST_F(CudaSkip, TreesAreTheHosts) {
  std::vector<Problem> problems;
  for (const int n : lengths({1, 2, 3, 6, 12, 30, 31, 64, 100}, 31)) {
    problems.push_back(oracle::uniform(n));
    problems.push_back(oracle::gaussian(n, 2, static_cast<std::uint64_t>(n)));
    problems.push_back(oracle::gaussian(n, 6, static_cast<std::uint64_t>(n)));  // Many repeats.
    problems.push_back(oracle::sparse(n, 0.3, 5));
  }
  problems.push_back(oracle::attractor_pairs(20, 900, 8));  // Only the CPU samples it.
  Problem bad = oracle::gaussian(9, 1, 2);
  bad.scores[3 * 10 + 2] = NAN;
  problems.push_back(bad);
  Pool pool(2);
  for (const bool projective : {false, true}) {
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      BatchOptions options = with_root(root);
      options.projective = projective;
      for (const bool keep : {true, false}) {
        options.keep = keep;
        for (const std::size_t k : {0U, 1U, 40U, 300U}) {
          Cuda cuda;
          DependencyTrees there(cuda, views_of(problems), options);
          DependencyTrees here(pool, views_of(problems), options);
          const auto found = sampled(there, k, 3);
          const auto expected = sampled(here, k, 3);
          for (std::size_t b = 0; b < problems.size(); ++b) {
            SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n << " k "
                                            << k << " projective " << projective);
            expect_same(found[b], expected[b]);
          }
          // Peaked sentences are finished by the CPU, and no flat ones.
          const std::uint64_t on_cpu = cuda.statistics().on_cpu;
          EXPECT_GT(on_cpu, 0U);
          if (k > 0 && k < 300) {
            EXPECT_LT(on_cpu, problems.size() - 8);
          }
          expect_ran(cuda);
        }
      }
    }
  }
}

// A batch of long flat sentences, the case that skipping is for, is done by the device alone.
TEST_F(CudaSkip, FlatSentencesAreNotLeftToTheHost) {
  std::vector<Problem> problems;
  for (std::uint64_t seed = 0; seed < 8; ++seed) problems.push_back(oracle::gaussian(40, 1, seed));
  Cuda cuda;
  DependencyTrees trees(cuda, views_of(problems));
  const auto found = sampled(trees, 500, 1);
  EXPECT_EQ(cuda.statistics().on_cpu, 0U);
  EXPECT_EQ(cuda.statistics().eliminations, 1U);
  for (const WithoutReplacementSample& sample : found) EXPECT_EQ(sample.size(), 500U);
}

}  // namespace
}  // namespace taproot
