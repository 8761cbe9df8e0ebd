// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "property/check.h"
#include "support/oracle.h"
#include "taproot/taproot.h"

namespace taproot {

/// Tests that need a device: without one they are skipped, never passed. And if one launches
/// nothing, it fails.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << cuda_description();
  }
  static void expect_ran(const Cuda& cuda) { EXPECT_GT(cuda.statistics().launches, 0U); }
};

/// Problems as one batch; they must outlive it.
inline Scores batch_of(const std::vector<oracle::Problem>& problems, RootRule root) {
  std::vector<ScoreView> views;
  for (const auto& p : problems) views.emplace_back(p.scores.data(), p.n);
  return Scores(std::move(views), root);
}

/// The same problem over and over: sentences are independent.
inline Scores copies_of(const oracle::Problem& problem, std::size_t count, RootRule root) {
  return Scores(std::vector<ScoreView>(count, ScoreView(problem.scores.data(), problem.n)), root);
}

}  // namespace taproot
