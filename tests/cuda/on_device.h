// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "property/check.h"
#include "taproot/taproot.h"
#include "testing/oracle.h"

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

/// With TAPROOT_SANITIZED set every kernel runs, on little data: compute-sanitizer takes minutes
/// where these tests take milliseconds. Laws are then looked at with few samples, which cannot
/// reject much.
inline bool sanitized() { return std::getenv("TAPROOT_SANITIZED") != nullptr; }
inline std::size_t samples(std::size_t all, std::size_t few) { return sanitized() ? few : all; }
/// All of them, or those up to `most`.
inline std::vector<int> lengths(std::vector<int> all, int most) {
  if (sanitized()) std::erase_if(all, [=](int n) { return n > most; });
  return all;
}

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
