// SPDX-License-Identifier: Apache-2.0
//
// The library against the oracle: golden cases and adversarial families, both root rules, float64
// and float32.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "core/random.h"
#include "eliminate/factor_data.h"
#include "property/check.h"
#include "testing/families.h"
#include "testing/golden.h"
#include "testing/paths.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

TEST(Golden, Float64) {
  const auto cases = oracle::load_golden(oracle::golden_file("golden.json"));
  ASSERT_EQ(cases.size(), 22U);
  for (const auto& golden : cases) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(golden.name + " " + name(root));
      const auto& exact = root == Root::kSingle ? golden.single_root : golden.multi_root;
      expect_exact(factored(golden.problem, root), exact ? *exact : oracle::Answer{});
    }
  }
}

// Scores rounded to float32, and the reference computed from the rounded ones.
void expect_exact_in_float(const Problem& problem, Root root) {
  const Problem rounded = oracle::rounded_to_float(problem);
  const std::vector<float> narrow(rounded.scores.begin(), rounded.scores.end());
  expect_exact(eliminate(ScoreView(narrow.data(), problem.n), rule(root)),
               oracle::matrix_tree(rounded, root));
}

TEST(Golden, Float32) {
  for (const auto& golden : oracle::load_golden(oracle::golden_file("golden.json"))) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(golden.name + " " + name(root));
      expect_exact_in_float(golden.problem, root);
    }
  }
}

// The kernels of every instruction set.
TEST(Golden, EveryTarget) {
  const auto cases = oracle::load_golden(oracle::golden_file("golden.json"));
  for_each_target([&] {
    for (const auto& golden : cases) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        SCOPED_TRACE(golden.name + " " + name(root));
        const auto& exact = root == Root::kSingle ? golden.single_root : golden.multi_root;
        expect_exact(factored(golden.problem, root), exact ? *exact : oracle::Answer{});
      }
    }
  });
}

// Graphs with a third of the edges forbidden and scores 0, -100, ... -1200: what a weight loses by
// underflow here, it may owe to the answer. Both sides of the decision between double and wide, and
// the band between tame and wide, must occur.
TEST(Range, DoubleIsGivenUpExactlyWhereItMust) {
  int wide = 0;
  int tame = 0;
  int between = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    detail::Stream stream(detail::stream_key(seed, 0), 0, detail::Purpose::kTree);
    const int n = 3 + static_cast<int>(4 * stream.uniform());
    const auto side = static_cast<std::size_t>(n) + 1;
    Problem problem{n, std::vector<double>(side * side, -HUGE_VAL)};
    for (double& score : problem.scores) {
      const double u = stream.uniform();
      if (u > 1.0 / 3) score = u > 5.0 / 6 ? 0.0 : -100 * std::floor(13 * stream.uniform());
    }
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " " << name(root));
      const Factorization f = factored(problem, root);
      expect_exact(f, oracle::matrix_tree(problem, root));
      if (!f.outcome().ok()) continue;
      ++(f.is_wide() ? wide : detail::Access::data(f).tame ? tame : between);
    }
  }
  EXPECT_GT(wide, 20);
  EXPECT_GT(tame, 100);
  // Between the two lie large sentences with many mild cycles.
  for (const double gap : {30.0, 100.0, 300.0}) {
    const Problem problem = oracle::attractor_pairs(gap < 200 ? 60 : 30, gap, 1);
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const Factorization f = factored(problem, root);
      between += !f.is_wide() && !detail::Access::data(f).tame ? 1 : 0;
      expect_exact(f, oracle::matrix_tree(problem, root));
    }
  }
  EXPECT_GE(between, 6);
}

struct Family {
  const char* name;
  std::vector<Problem> problems;
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

class Families : public testing::TestWithParam<Family> {};

TEST_P(Families, AreExact) {
  for (std::size_t i = 0; i < GetParam().problems.size(); ++i) {
    const Problem& problem = GetParam().problems[i];
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(std::to_string(i) + ": n = " + std::to_string(problem.n) + " " + name(root));
      expect_exact(factored(problem, root), oracle::matrix_tree(problem, root));
      expect_exact_in_float(problem, root);
    }
  }
}

template <typename Make>
std::vector<Problem> for_lengths(std::initializer_list<int> lengths, Make make) {
  std::vector<Problem> problems;
  std::uint64_t seed = 1;
  for (const int n : lengths) problems.push_back(make(n, seed++));
  return problems;
}

using std::uint64_t;

INSTANTIATE_TEST_SUITE_P(
    All, Families,
    testing::Values(
        Family{"uniform", for_lengths({1, 2, 3, 7, 8, 9, 31},
                                      [](int n, uint64_t) { return oracle::uniform(n); })},
        Family{"gaussian",
               for_lengths({1, 2, 3, 5, 15, 16, 17, 23, 24, 25, 33, 64, 100},
                           [](int n, uint64_t s) { return oracle::gaussian(n, 2, s); })},
        Family{"gaussian60",
               for_lengths({3, 8, 20, 40},
                           [](int n, uint64_t s) { return oracle::gaussian(n, 60, s); })},
        Family{"heavy_tailed",
               for_lengths({2, 3, 10, 25, 40},
                           [](int n, uint64_t s) { return oracle::heavy_tailed(n, s); })},
        Family{"pairs_mild",
               for_lengths({2, 3, 10, 25, 50},
                           [](int n, uint64_t s) { return oracle::attractor_pairs(n, 6, s); })},
        Family{"pairs_30",
               for_lengths({2, 3, 10, 25, 40},
                           [](int n, uint64_t s) { return oracle::attractor_pairs(n, 30, s); })},
        Family{"pairs_340",
               for_lengths({2, 3, 10, 20},
                           [](int n, uint64_t s) { return oracle::attractor_pairs(n, 340, s); })},
        Family{"pairs_900",
               for_lengths({2, 3, 10, 20},
                           [](int n, uint64_t s) { return oracle::attractor_pairs(n, 900, s); })},
        Family{"rings", for_lengths({3, 9, 20, 33},
                                    [](int n, uint64_t s) { return oracle::rings(n, 5, 40, s); })},
        Family{"nested_rings",
               for_lengths({3, 9, 27},
                           [](int n, uint64_t s) { return oracle::nested_rings(n, 25, s); })},
        Family{"nested_rings_200",
               for_lengths({9, 27},
                           [](int n, uint64_t s) { return oracle::nested_rings(n, 200, s); })},
        Family{"near_empty",
               for_lengths({1, 2, 3, 5, 12, 30, 60},
                           [](int n, uint64_t s) { return oracle::near_empty_columns(n, s); })},
        Family{"wide_600",
               for_lengths({2, 3, 6, 12, 25},
                           [](int n, uint64_t s) { return oracle::wide_range(n, 600, s); })},
        Family{"sparse", for_lengths({2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30},
                                     [](int n, uint64_t s) { return oracle::sparse(n, 0.3, s); })},
        Family{"mask_1e4",
               for_lengths({3, 8, 20, 35},
                           [](int n, uint64_t s) { return oracle::masked(n, -1e4, s); })},
        Family{"mask_1e9",
               for_lengths({3, 8, 20, 35},
                           [](int n, uint64_t s) { return oracle::masked(n, -1e9, s); })},
        Family{"offsets_1e3",
               for_lengths({3, 8, 20},
                           [](int n, uint64_t s) { return oracle::column_offsets(n, 1e3, s); })},
        Family{"offsets_1e5",
               for_lengths({3, 8, 20},
                           [](int n, uint64_t s) { return oracle::column_offsets(n, 1e5, s); })},
        Family{"offsets_1e8",
               for_lengths({3, 8, 20},
                           [](int n, uint64_t s) { return oracle::column_offsets(n, 1e8, s); })}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace taproot
