// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "property/answers.h"
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

/// The answers of a Pool or a Cuda.
template <typename Where>
Answers ask(Where& where, const std::vector<oracle::Problem>& problems, RootRule root) {
  DependencyTrees trees(where, views_of(problems), with_root(root));
  return ask(trees);
}

}  // namespace taproot
