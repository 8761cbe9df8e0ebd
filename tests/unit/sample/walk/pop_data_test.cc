// SPDX-License-Identifier: Apache-2.0
//
// Popping gives the trees of the walk on the same stacks for every sentence of data/.
#include <gtest/gtest.h>

#include "testing/trained_scores.h"
#include "unit/core/targets.h"
#include "unit/sample/walk/stacked_sentence.h"

namespace taproot::detail {
namespace {

class PopData : public testing::TestWithParam<const char*> {};

TEST_P(PopData, GivesTheTreesOfTheWalk) {
  const bench::TrainedScores file(std::string(TAPROOT_DATA "/") + GetParam());
  const std::vector<ScoreView> sentences = file.views();
  EXPECT_GT(sentences.size(), 200U);
  Workspace workspace;
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    SCOPED_TRACE(b);
    for (const RootRule rule : {RootRule::kSingle, RootRule::kMulti}) {
      const StackedSentence sentence(eliminate(sentences[b], rule));
      const PopTables& tables = sentence.tables();
      const StreamKey key = stream_key(7, b);
      const WalkLimits limits = WalkLimits::budget(tables.n);
      const auto samples = samples_from(0, kMostPopped);
      const PoppedTrees expected = walked(tables, key, limits, samples);
      expect_popped(tables, key, limits, samples, expected, workspace);
      for_each_target([&] { expect_popped(tables, key, limits, samples, expected, workspace); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PopData, testing::Values("en_ewt.npz", "wo_wtb.npz"),
                         [](const auto& param_info) { return std::string(param_info.param, 6); });

}  // namespace
}  // namespace taproot::detail
