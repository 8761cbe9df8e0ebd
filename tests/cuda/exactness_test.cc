// SPDX-License-Identifier: Apache-2.0
//
// log Z, marginals and entropy of the device: the golden file, adversarial families against the
// CPU, and statuses.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/on_device.h"
#include "testing/families.h"
#include "testing/golden.h"
#include "testing/paths.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

class CudaGolden : public OnDevice {
 protected:
  void run(Precision precision, double log_z_bound, double marginal_bound) {
    const auto cases = oracle::load_golden(oracle::golden_file("golden.json"));
    ASSERT_EQ(cases.size(), 22U);
    std::vector<Problem> problems;
    for (const auto& golden : cases) problems.push_back(golden.problem);
    Cuda cuda(precision);
    double worst = 0;
    double worst_z = 0;
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const Answers found = ask(cuda, problems, rule(root));
      for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(cases[i].name + " " + name(root));
        const auto& exact = root == Root::kSingle ? cases[i].single_root : cases[i].multi_root;
        if (!exact) {
          EXPECT_EQ(found.outcomes[i].status, Status::kNoTree);
          continue;
        }
        ASSERT_TRUE(found.outcomes[i].ok());
        const double z = std::abs(found.log_partition[i] - exact->log_partition) /
                         std::max(1.0, std::abs(exact->log_partition));
        EXPECT_LE(z, log_z_bound);
        const double p = largest_difference(found.marginals[i], exact->marginals);
        EXPECT_LE(p, marginal_bound);
        EXPECT_NEAR(found.entropy[i], exact->entropy,
                    10 * marginal_bound * std::max(1.0, exact->entropy));
        for (const double x : found.marginals[i]) EXPECT_GE(x, 0);
        worst = std::max(worst, p);
        worst_z = std::max(worst_z, z);
      }
    }
    RecordProperty("largest_error_of_marginals", std::to_string(worst));
    EXPECT_EQ(cuda.statistics().on_cpu, 0U);
    std::printf("marginals within %.2g, log Z within %.2g\n", worst, worst_z);
    expect_ran(cuda);
  }
};

TEST_F(CudaGolden, Float64) { run(Precision::kFloat64, 1e-12, 1e-12); }
TEST_F(CudaGolden, Float32) { run(Precision::kFloat32, 1e-5, 1e-4); }

class CudaExactness : public OnDevice {
 protected:
  // Both precisions and both rules against the CPU.
  void compare(const std::vector<Problem>& problems) {
    Pool pool;
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      const Answers exact = ask(pool, problems, root);
      for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
        Cuda cuda(precision);
        const bool wide = precision == Precision::kFloat64;
        const Answers found = ask(cuda, problems, root);
        for (std::size_t i = 0; i < problems.size(); ++i) {
          ASSERT_EQ(found.outcomes[i], exact.outcomes[i]);
          if (!exact.outcomes[i].ok()) continue;
          EXPECT_LE(std::abs(found.log_partition[i] - exact.log_partition[i]),
                    (wide ? 1e-12 : 1e-4) * std::max(1.0, std::abs(exact.log_partition[i])));
          EXPECT_LE(largest_difference(found.marginals[i], exact.marginals[i]),
                    wide ? 1e-12 : 1e-3);
          EXPECT_LE(std::abs(found.entropy[i] - exact.entropy[i]),
                    (wide ? 1e-12 : 1e-3) * std::max(1.0, exact.entropy[i]));
        }
        expect_ran(cuda);
      }
    }
  }
};

TEST_F(CudaExactness, FamiliesOfAllLengthsInOneBatch) {
  std::vector<Problem> problems;
  std::uint64_t seed = 1;
  for (const int n : lengths({1, 2, 3, 7, 15, 24, 31, 32, 33, 50, 63, 64, 65, 90}, 50)) {
    problems.push_back(oracle::uniform(n));
    problems.push_back(oracle::gaussian(n, 3, ++seed));
    problems.push_back(oracle::sparse(n, 0.5, ++seed));
    problems.push_back(oracle::wide_range(n, 40, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 20, ++seed));
    problems.push_back(oracle::rings(n, 3, 10, ++seed));
    problems.push_back(oracle::masked(n, -1e4, ++seed));
    problems.push_back(oracle::column_offsets(n, 1e6, ++seed));
    problems.push_back(oracle::near_empty_columns(n, ++seed));
    problems.push_back(oracle::heavy_tailed(n, ++seed));
  }
  Pool pool;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    Cuda cuda;
    Cuda narrow(Precision::kFloat32);
    const Answers exact = ask(pool, problems, root);
    const Answers found = ask(cuda, problems, root);
    const Answers rough = ask(narrow, problems, root);
    double worst[2] = {};
    double worst_z[2] = {};
    double worst_h[2] = {};
    for (std::size_t i = 0; i < problems.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "problem " << i << " n " << problems[i].n);
      ASSERT_EQ(found.outcomes[i], exact.outcomes[i]);
      ASSERT_EQ(rough.outcomes[i], exact.outcomes[i]);
      if (!exact.outcomes[i].ok()) continue;
      const double size = std::max(1.0, std::abs(exact.log_partition[i]));
      const double z = std::abs(found.log_partition[i] - exact.log_partition[i]) / size;
      const double rough_z = std::abs(rough.log_partition[i] - exact.log_partition[i]) / size;
      const double p = largest_difference(found.marginals[i], exact.marginals[i]);
      const double rough_p = largest_difference(rough.marginals[i], exact.marginals[i]);
      EXPECT_LE(z, 1e-13);
      EXPECT_LE(p, 1e-13);
      const double of_entropy = std::max(1.0, exact.entropy[i]);
      const double h = std::abs(found.entropy[i] - exact.entropy[i]) / of_entropy;
      const double rough_h = std::abs(rough.entropy[i] - exact.entropy[i]) / of_entropy;
      EXPECT_LE(h, 1e-12);
      EXPECT_LE(rough_h, 1e-4);
      EXPECT_LE(rough_z, 1e-5);
      EXPECT_LE(rough_p, 1e-4);
      worst[0] = std::max(worst[0], p);
      worst[1] = std::max(worst[1], rough_p);
      worst_z[0] = std::max(worst_z[0], z);
      worst_z[1] = std::max(worst_z[1], rough_z);
      worst_h[0] = std::max(worst_h[0], h);
      worst_h[1] = std::max(worst_h[1], rough_h);
    }
    std::printf("float64: p %.2g, log Z %.2g, entropy %.2g, %llu on the CPU\n", worst[0],
                worst_z[0], worst_h[0], static_cast<unsigned long long>(cuda.statistics().on_cpu));
    std::printf("float32: p %.2g, log Z %.2g, entropy %.2g, %llu on the CPU\n", worst[1],
                worst_z[1], worst_h[1],
                static_cast<unsigned long long>(narrow.statistics().on_cpu));
    expect_ran(cuda);
  }
}

// Around the sizes at which the kernels change, beyond shared memory, and beyond groups of words.
TEST_F(CudaExactness, LongSentences) {
  const std::vector<int> all = {127, 128, 150, 160, 170, 200,  235,
                                255, 256, 300, 400, 500, 1200, 1300};
  for (const int n : sanitized() ? std::vector<int>{128, 160} : all) {
    SCOPED_TRACE(n);
    std::vector<Problem> problems = {oracle::gaussian(n, 2, 5), oracle::uniform(n),
                                     oracle::sparse(n, 0.1, 6)};
    if (sanitized() || n > 1000) problems.resize(1);
    compare(problems);
  }
}

// Batches of one length each, which choose the kernel: words come in groups of eight, and the last
// group may have any number of them.
TEST_F(CudaExactness, EveryRestOfAGroup) {
  std::vector<int> all;
  for (int n = 1; n <= 42; ++n) all.push_back(n);
  for (int n = 60; n <= 73; ++n) all.push_back(n);
  for (const int n : sanitized() ? std::vector<int>{9, 39, 64} : all) {
    SCOPED_TRACE(n);
    const auto seed = static_cast<std::uint64_t>(n);
    std::vector<Problem> problems = {oracle::gaussian(n, 3, seed), oracle::sparse(n, 0.4, seed),
                                     oracle::attractor_pairs(n, 20, seed),
                                     oracle::heavy_tailed(n, seed)};
    if (sanitized()) problems.resize(1);
    compare(problems);
  }
}

// One bad sentence leaves the others alone, and says what is wrong as the CPU does.
TEST_F(CudaExactness, Outcomes) {
  std::vector<Problem> problems(6, oracle::gaussian(5, 1, 3));
  problems[1].scores[2 * 6 + 4] = NAN;
  problems[2].scores[3] = HUGE_VAL;
  problems[3].scores[6 * 4 + 2] = 1e16;
  for (std::size_t m = 1; m <= 5; ++m) problems[4].scores[m] = -HUGE_VAL;
  problems[5].scores[2 * 6 + 2] = NAN;  // The diagonal is ignored.
  problems[5].scores[6] = NAN;          // And so is column 0.
  const double nothing = 0;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    std::vector<ScoreView> views = views_of(problems);
    views.emplace_back(&nothing, 0);
    Cuda cuda;
    Pool pool;
    DependencyTrees there(cuda, views, with_root(root));
    DependencyTrees here(pool, views, with_root(root));
    const Answers found = ask(there);
    const Answers exact = ask(here);
    EXPECT_EQ(found.outcomes, exact.outcomes);
    EXPECT_EQ(found.outcomes[3], (Outcome{Status::kBadScore, 4, 2}));
    EXPECT_TRUE(std::isnan(found.log_partition[1]));
    EXPECT_DOUBLE_EQ(found.log_partition[0], exact.log_partition[0]);
    EXPECT_DOUBLE_EQ(found.log_partition[5], exact.log_partition[5]);
  }
}

}  // namespace
}  // namespace taproot
