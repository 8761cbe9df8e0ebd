// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "taproot/without_replacement.h"
#include "testing/misuse.h"

namespace taproot {
namespace {

TEST(WithoutReplacementAlgorithms, HaveNames) {
  for (const WithoutReplacementAlgorithm algorithm :
       {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
        WithoutReplacementAlgorithm::kBeam, WithoutReplacementAlgorithm::kList}) {
    EXPECT_EQ(without_replacement_algorithm_named(to_string(algorithm)), algorithm);
  }
  expect_misuse("without_replacement_algorithm_named",
                [] { without_replacement_algorithm_named("sbs"); });
}

}  // namespace
}  // namespace taproot
