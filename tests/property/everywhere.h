// SPDX-License-Identifier: Apache-2.0
//
// Tests that are one text for the CPU and for the GPU in both precisions. Without a GPU its tests
// are skipped, never passed.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "property/answers.h"
#include "testing/families.h"
#include "unit/core/targets.h"

namespace taproot {

inline constexpr RootRule kRules[] = {RootRule::kSingle, RootRule::kMulti};

struct Where {
  const char* name;
  std::optional<Precision> device;  // None: the CPU.
};

inline void PrintTo(const Where& where, std::ostream* out) { *out << where.name; }

class Everywhere : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (!GetParam().device) return;
    if (!cuda_available()) GTEST_SKIP() << cuda_description();
    cuda_.emplace(*GetParam().device);
  }
  // A test of the device in which nothing ran there has failed.
  void TearDown() override {
    if (cuda_) {
      EXPECT_GT(cuda_->statistics().launches, 0U);
    }
  }

  DependencyTrees trees(std::vector<ScoreView> scores, BatchOptions options) {
    if (cuda_) return DependencyTrees(*cuda_, std::move(scores), std::move(options));
    return DependencyTrees(pool_, std::move(scores), std::move(options));
  }
  // The problems must outlive it.
  DependencyTrees trees(const std::vector<oracle::Problem>& problems, RootRule root) {
    return trees(views_of(problems), with_root(root));
  }
  DependencyTrees trees_of(const oracle::Problem& problem, RootRule root) {
    return trees(copies_of(problem, 1), with_root(root));
  }
  Answers answers(const std::vector<oracle::Problem>& problems, RootRule root) {
    DependencyTrees t = trees(problems, root);
    return ask(t);
  }
  // On the CPU: once per instruction set.
  template <typename Body>
  void everywhere(Body&& body) {
    if (cuda_) return body();
    for_each_target(body);
  }
  static bool in_float() { return GetParam().device == Precision::kFloat32; }
  static double bound(double in_double, double in_single) {
    return in_float() ? in_single : in_double;
  }

 private:
  Pool pool_{1};  // No threads, which would not see a change of the instruction set.
  std::optional<Cuda> cuda_;
};

inline std::vector<oracle::Problem> mixed_problems() {
  std::vector<oracle::Problem> problems = {oracle::uniform(1),
                                           oracle::uniform(7),
                                           oracle::gaussian(30, 10, 4),
                                           oracle::attractor_pairs(9, 25, 7),
                                           oracle::attractor_pairs(6, 900, 8),
                                           oracle::rings(9, 3, 12, 9),
                                           oracle::nested_rings(9, 8, 10),
                                           oracle::masked(10, -1e4, 12),
                                           oracle::column_offsets(8, 1e5, 13)};
  std::uint64_t seed = 40;
  for (const int n : lengths({1, 2, 3, 6, 20, 31, 32, 47, 64, 100, 140, 180}, 47)) {
    problems.push_back(oracle::gaussian(n, 2, ++seed));
    problems.push_back(oracle::sparse(n, 0.6, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 18, ++seed));
    problems.push_back(oracle::heavy_tailed(n, ++seed));
    problems.push_back(oracle::near_empty_columns(n, ++seed));
  }
  return problems;
}

inline auto all_places() {
  return testing::Values(Where{"Cpu", std::nullopt}, Where{"CudaFloat64", Precision::kFloat64},
                         Where{"CudaFloat32", Precision::kFloat32});
}
inline std::string name_of(const testing::TestParamInfo<Where>& info) { return info.param.name; }

}  // namespace taproot
