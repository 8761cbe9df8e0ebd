// SPDX-License-Identifier: Apache-2.0
//
// The device gives the trees that tests/golden/trees.json pins.
#include "testing/golden_trees.h"
#include "testing/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace taproot {
namespace {

using oracle::GoldenFile;
using oracle::GoldenGraph;
using oracle::GoldenTrees;

TEST(CudaGoldenTrees, AreSampledOnTheDevice) {
  if (!cuda_available()) GTEST_SKIP() << cuda_description();
  const GoldenFile golden = oracle::load_golden_trees(oracle::golden_file("trees.json"));
  Cuda cuda;
  std::size_t tested = 0;
  for (const GoldenTrees& expected : golden.cases) {
    const GoldenGraph& graph = golden.graphs.at(expected.graph);
    const bool projective = expected.family == TreeFamily::kProjective;
    const bool by_beam = !expected.replacement && expected.algorithm == "beam";
    if ((expected.algorithm != "auto" && !by_beam) || graph.labels > 0 || (projective && by_beam)) {
      continue;
    }
    SCOPED_TRACE(expected.name());
    DependencyTrees trees(cuda, {ScoreView(graph.scores.data(), graph.n)},
                          {.root = expected.root, .projective = projective, .ids = {expected.id}});
    const auto n = static_cast<std::size_t>(graph.n);
    std::vector<std::int32_t> heads(expected.k * n);
    WithoutReplacementSample sample;
    if (expected.replacement) {
      const TreeOutput out{heads.data(), graph.n};
      trees.sample(expected.k, {Algorithm::kAuto, expected.seed, 0, expected.first_tree},
                   std::span(&out, 1));
    } else {
      const auto algorithm =
          by_beam ? WithoutReplacementAlgorithm::kBeam : WithoutReplacementAlgorithm::kAuto;
      trees.sample_without_replacement(expected.k, {algorithm, expected.seed},
                                       std::span(&sample, 1));
      heads = sample.heads;
      ASSERT_EQ(sample.size(), expected.trees.size());
      for (std::size_t i = 0; i < sample.size(); ++i) {
        EXPECT_NEAR(sample.gumbel[i], expected.gumbel[i], 1e-9);
        EXPECT_NEAR(sample.log_prob[i], expected.log_prob[i], 1e-9);
      }
      EXPECT_EQ(sample.exhausted, expected.exhausted);
    }
    ASSERT_EQ(heads.size(), expected.trees.size() * n);
    for (std::size_t s = 0; s < expected.trees.size(); ++s) {
      EXPECT_TRUE(std::equal(expected.trees[s].begin(), expected.trees[s].end(),
                             heads.begin() + static_cast<std::ptrdiff_t>(s * n)))
          << "tree " << s;
    }
    ++tested;
  }
  EXPECT_GT(tested, 40U);
  EXPECT_GT(cuda.statistics().launches, 0U);
}

}  // namespace
}  // namespace taproot
