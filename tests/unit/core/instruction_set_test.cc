// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hwy/targets.h"
#include "taproot/version.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

TEST(InstructionSet, IsTheOneThatRuns) {
  const std::set<std::string> known{"AVX-512", "AVX2", "SSE4", "SSE2", "NEON", "scalar"};
  std::set<std::string> found;
  for_each_target([&] {
    EXPECT_EQ(known.count(instruction_set()), 1u) << instruction_set();
    found.insert(instruction_set());
  });
  EXPECT_GE(found.size(), compiled_targets().size() > 1 ? 2u : 1u);
}

TEST(BuildDescription, NamesCompilerAndHighway) {
  EXPECT_NE(build_description().find(", Highway 1."), std::string::npos) << build_description();
  EXPECT_NE(build_description().find("threads"), std::string::npos);
}

}  // namespace
}  // namespace taproot
