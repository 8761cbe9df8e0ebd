// SPDX-License-Identifier: Apache-2.0
#include "sample/algorithm.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "taproot/sample.h"
#include "testing/misuse.h"

namespace taproot {
namespace {

constexpr Algorithm kAll[] = {Algorithm::kAuto,         Algorithm::kElimination,
                              Algorithm::kWilson,       Algorithm::kWilsonMarginal,
                              Algorithm::kWilsonReject, Algorithm::kColbourn,
                              Algorithm::kWilsonRc};

TEST(Algorithms, HaveNames) {
  std::set<std::string> names;
  for (const Algorithm algorithm : kAll) {
    EXPECT_EQ(algorithm_named(to_string(algorithm)), algorithm);
    names.emplace(to_string(algorithm));
  }
  EXPECT_EQ(names.size(), std::size(kAll));
  expect_misuse("algorithm_named", [] { algorithm_named("gibbs"); });
}

TEST(Algorithms, GoWithARootRule) {
  for (const Algorithm algorithm : kAll) {
    const bool single = algorithm != Algorithm::kWilson;
    const bool multi = algorithm == Algorithm::kAuto || algorithm == Algorithm::kElimination ||
                       algorithm == Algorithm::kColbourn || algorithm == Algorithm::kWilson;
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      const auto call = [&] {
        detail::require_goes_with(algorithm, root, TreeFamily::kAll, "sample");
      };
      if (root == RootRule::kSingle ? single : multi) {
        EXPECT_NO_THROW(call()) << to_string(algorithm);
      } else {
        expect_misuse("sample", call);
      }
    }
  }
}

TEST(Algorithms, OfProjectiveTreesAreThoseOfTheirChart) {
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const Algorithm algorithm :
         {Algorithm::kAuto, Algorithm::kElimination, Algorithm::kWilson, Algorithm::kWilsonMarginal,
          Algorithm::kWilsonReject, Algorithm::kColbourn, Algorithm::kWilsonRc}) {
      const auto call = [&] {
        detail::require_goes_with(algorithm, root, TreeFamily::kProjective, "sample");
      };
      if (algorithm == Algorithm::kAuto) {
        EXPECT_NO_THROW(call());
      } else {
        expect_misuse("sample", call);
      }
    }
  }
}

}  // namespace
}  // namespace taproot
