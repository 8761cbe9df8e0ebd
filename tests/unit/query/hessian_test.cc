// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "eliminate/factor_data.h"
#include "property/check.h"
#include "testing/families.h"
#include "testing/golden.h"
#include "testing/misuse.h"
#include "testing/paths.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr Root kRoots[] = {Root::kSingle, Root::kMulti};
constexpr double kEpsilon = 0x1p-53;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::size_t side_of(const Problem& problem) { return static_cast<std::size_t>(problem.n) + 1; }

/// Uniform on multiples of 2^-20 in [-1, 1]: an offset of 1e6 can be added without rounding.
std::vector<double> random_direction(const Problem& problem, std::uint64_t seed) {
  detail::Stream stream(detail::stream_key(seed, static_cast<std::uint32_t>(problem.n)), 0,
                        detail::Purpose::kTree);
  std::vector<double> v(problem.scores.size());
  for (double& value : v) value = std::round(0x1p20 * (2 * stream.uniform() - 1)) * 0x1p-20;
  return v;
}

/// What is promised for directions within [-1, 1].
double tolerance(const Problem& problem) { return 8 * (problem.n + 1) * kEpsilon; }

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
  return static_cast<double>(sum);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!(std::abs(a[i] - b[i]) <= worst)) worst = std::abs(a[i] - b[i]);  // Takes NaN.
  }
  return worst;
}

std::vector<std::pair<std::string, Problem>> problems_of(int n, std::uint64_t seed) {
  return {{"uniform", oracle::uniform(n)},
          {"gaussian", oracle::gaussian(n, 2, seed)},
          {"peaked", oracle::gaussian(n, 10, seed)},
          {"heavy-tailed", oracle::heavy_tailed(n, seed)},
          {"pairs", oracle::attractor_pairs(n, 12, seed)},
          {"tight pairs", oracle::attractor_pairs(n, 36, seed)},
          {"wide pairs", oracle::attractor_pairs(n, 900, seed)},
          {"rings", oracle::rings(n, 3, 20, seed)},
          {"nested rings", oracle::nested_rings(n, 15, seed)},
          {"near-empty", oracle::near_empty_columns(n, seed)},
          {"wide range", oracle::wide_range(n, 100, seed)},
          {"sparse", oracle::sparse(n, 0.5, seed)},
          {"masked", oracle::masked(n, -1e4, seed)},
          {"offsets", oracle::column_offsets(n, 1e8, seed)}};
}

/// Calls body(problem, root, f, seed) for problems that have a tree.
template <typename Body>
void for_each_problem(const std::vector<int>& lengths, std::uint64_t seeds, Body&& body) {
  for (const int n : lengths) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      for (const auto& [family, problem] : problems_of(n, seed)) {
        for (const Root root : kRoots) {
          SCOPED_TRACE(testing::Message()
                       << family << " n " << n << " seed " << seed << " " << name(root));
          const Factorization f = factored(problem, root);
          if (f.outcome().ok()) body(problem, root, f, seed);
        }
      }
    }
  }
}

std::vector<double> covariance_by_enumeration(const Problem& problem, Root root,
                                              const std::vector<double>& v) {
  const std::size_t side = side_of(problem);
  const auto trees = oracle::all_trees(problem, root);
  const auto cell = [&](const std::vector<std::int32_t>& heads, std::size_t m) {
    return static_cast<std::size_t>(heads[m - 1]) * side + m;
  };
  const auto value = [&](const std::vector<std::int32_t>& heads) {
    long double sum = 0;
    for (std::size_t m = 1; m < side; ++m) sum += v[cell(heads, m)];
    return sum;
  };
  long double mean = 0;
  for (const auto& [heads, p] : trees) mean += p * value(heads);
  std::vector<long double> sums(v.size(), 0);
  for (const auto& [heads, p] : trees) {
    for (std::size_t m = 1; m < side; ++m) sums[cell(heads, m)] += p * (value(heads) - mean);
  }
  return {sums.begin(), sums.end()};
}

TEST(Hessian, IsTheCovarianceOverAllTrees) {
  for_each_problem(
      {1, 2, 3, 4, 5}, 3, [](const auto& problem, Root root, const auto& f, auto seed) {
        const std::vector<double> v = random_direction(problem, seed);
        EXPECT_LE(distance(hessian_product(f, v), covariance_by_enumeration(problem, root, v)),
                  tolerance(problem));
      });
}

TEST(Hessian, IsTheDerivativeInMultiprecision) {
  int wide = 0;
  for_each_problem(
      {7, 10, 15, 20}, 1, [&](const auto& problem, Root root, const auto& f, auto seed) {
        const std::vector<double> v = random_direction(problem, seed);
        EXPECT_LE(distance(hessian_product(f, v), oracle::marginals_derivative(problem, root, v)),
                  tolerance(problem));
        if (f.is_wide()) ++wide;
      });
  EXPECT_GT(wide, 0);
}

// Graphs with a third of the edges forbidden and scores 0, -step, ... -12 step: cycles of all
// kinds, and with the largest step every scalar.
TEST(Hessian, RandomGraphs) {
  for (const double step : {3.0, 20.0, 100.0}) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      detail::Stream stream(detail::stream_key(seed, 1), 0, detail::Purpose::kTree);
      const int n = 3 + static_cast<int>(3 * stream.uniform());
      Problem problem = oracle::uniform(n);
      for (double& score : problem.scores) {
        const double u = stream.uniform();
        score = u < 1.0 / 3 ? -kInfinity
                : u < 0.5   ? 0.0
                            : -step * std::floor(13 * stream.uniform());
      }
      for (const Root root : kRoots) {
        SCOPED_TRACE(testing::Message()
                     << "step " << step << " seed " << seed << " " << name(root));
        const Factorization f = factored(problem, root);
        if (!f.outcome().ok()) continue;
        const std::vector<double> v = random_direction(problem, seed);
        EXPECT_LE(distance(hessian_product(f, v), covariance_by_enumeration(problem, root, v)),
                  tolerance(problem));
      }
    }
  }
}

TEST(Hessian, IsSymmetric) {
  for_each_problem({3, 9, 30}, 2, [](const auto& problem, Root, const auto& f, auto seed) {
    const std::vector<double> v = random_direction(problem, seed);
    const std::vector<double> w = random_direction(problem, seed + 100);
    EXPECT_NEAR(dot(hessian_product(f, v), w), dot(v, hessian_product(f, w)),
                problem.n * tolerance(problem));
  });
}

TEST(Hessian, ColumnsSumToZero) {
  for_each_problem({4, 17, 40}, 1, [](const auto& problem, Root, const auto& f, auto seed) {
    const std::size_t side = side_of(problem);
    const std::vector<double> out = hessian_product(f, random_direction(problem, seed));
    for (std::size_t m = 0; m < side; ++m) {
      double sum = 0;
      for (std::size_t h = 0; h < side; ++h) sum += out[h * side + m];
      EXPECT_NEAR(sum, 0, problem.n * tolerance(problem)) << "column " << m;
      EXPECT_EQ(out[m * side], 0);
      EXPECT_EQ(out[m * side + m], 0);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (problem.scores[i] == -kInfinity) {
        EXPECT_EQ(out[i], 0) << "cell " << i;
      }
    }
  });
}

/// v with 1e6 (m mod 3 - 1) added to column m, and single-root 3e6 to the ROOT row.
std::vector<double> with_offsets(std::vector<double> v, std::size_t side, Root root) {
  for (std::size_t h = 0; h < side; ++h) {
    for (std::size_t m = 1; m < side; ++m) {
      v[h * side + m] += 1e6 * (static_cast<double>(m % 3) - 1);
      if (h == 0 && root == Root::kSingle) v[m] += 3e6;
    }
  }
  return v;
}

TEST(Hessian, ColumnConstantsAreItsNullSpace) {
  for_each_problem({1, 2, 6, 25}, 2, [](const auto& problem, Root root, const auto& f, auto) {
    const std::vector<double> zero(problem.scores.size(), 0.0);
    EXPECT_EQ(hessian_product(f, zero), zero);
    const std::vector<double> v = with_offsets(zero, side_of(problem), root);
    EXPECT_LE(distance(hessian_product(f, v), zero), tolerance(problem));
  });
}

TEST(Hessian, OffsetsCostNoDigits) {
  for_each_problem({2, 6, 25}, 2, [](const auto& problem, Root root, const auto& f, auto seed) {
    // Many directions: digits may be lost where the mean of a column happens to be small.
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::vector<double> v = random_direction(problem, seed + 100 * i);
      EXPECT_LE(distance(hessian_product(f, with_offsets(v, side_of(problem), root)),
                         hessian_product(f, v)),
                tolerance(problem));
    }
  });
}

TEST(Hessian, GoldenCasesWithEveryTarget) {
  const auto cases = oracle::load_golden(oracle::golden_file("golden.json"));
  std::vector<std::vector<double>> exact;
  for (const auto& golden : cases) {
    for (const Root root : kRoots) {
      exact.push_back(
          oracle::marginals_derivative(golden.problem, root, random_direction(golden.problem, 7)));
    }
  }
  int wide = 0;
  for_each_target([&] {
    auto expected = exact.begin();
    for (const auto& golden : cases) {
      for (const Root root : kRoots) {
        SCOPED_TRACE(golden.name + " " + name(root));
        const std::vector<double>& truth = *expected++;
        const Factorization f = factored(golden.problem, root);
        if (!f.outcome().ok()) {
          EXPECT_TRUE(truth.empty());
          continue;
        }
        if (golden.name == "beyond-double" && f.is_wide()) ++wide;
        EXPECT_LE(distance(hessian_product(f, random_direction(golden.problem, 7)), truth),
                  tolerance(golden.problem));
      }
    }
  });
  EXPECT_GT(wide, 0);
}

// Factors in double, the gradient and its derivative not.
TEST(Hessian, BetweenTameAndWide) {
  const Problem problem = oracle::attractor_pairs(30, 100, 1);
  const std::vector<double> v = random_direction(problem, 1);
  for (const Root root : kRoots) {
    const Factorization f = factored(problem, root);
    ASSERT_FALSE(f.is_wide());
    ASSERT_FALSE(detail::Access::data(f).tame);
    EXPECT_LE(distance(hessian_product(f, v), oracle::marginals_derivative(problem, root, v)),
              tolerance(problem));
  }
}

// d entropy / dS = -H S, compared with differences of the oracle's entropy.
TEST(Hessian, TimesTheScoresIsTheEntropysGradient) {
  for (const Problem& problem :
       {oracle::gaussian(8, 1.5, 3), oracle::sparse(12, 0.6, 4), oracle::masked(10, -1e4, 5)}) {
    for (const Root root : kRoots) {
      const Factorization f = factored(problem, root);
      const std::vector<double> gradient = hessian_product(f, problem.scores);
      const std::vector<double> w = random_direction(problem, 2);
      Problem up = problem;
      Problem down = problem;
      const double step = 0x1p-16;
      for (std::size_t i = 0; i < w.size(); ++i) {
        if (std::abs(problem.scores[i]) > 100) continue;  // Where a step would be rounded.
        up.scores[i] += step * w[i];
        down.scores[i] -= step * w[i];
      }
      const double difference =
          oracle::matrix_tree(up, root).entropy - oracle::matrix_tree(down, root).entropy;
      EXPECT_NEAR(-dot(gradient, w), difference / (2 * step), 1e-8);
    }
  }
}

TEST(Hessian, SameBitsForVectorsOfFourAndEight) {
  const Problem problem = oracle::gaussian(43, 3, 1);
  const std::vector<double> v = random_direction(problem, 1);
  std::vector<std::vector<double>> answers;
  for (const std::int64_t target : compiled_targets()) {
    if ((target & (HWY_AVX3 | HWY_AVX2)) == 0) continue;
    const TargetScope scope(target);
    answers.push_back(hessian_product(factored(problem, Root::kSingle), v));
    EXPECT_EQ(answers.back(), answers.front());
  }
}

TEST(Hessian, IsLinearToTheEndsOfTheRange) {
  const Problem problem = oracle::gaussian(9, 1, 1);
  const Factorization f = factored(problem, Root::kMulti);
  const std::vector<double> v = random_direction(problem, 1);
  const std::vector<double> once = hessian_product(f, v);
  for (const int exponent : {-990, -700, 3, 700, 1023}) {
    std::vector<double> scaled = v;
    for (double& value : scaled) value = std::ldexp(value, exponent);
    const std::vector<double> out = hessian_product(f, scaled);
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i], std::ldexp(once[i], exponent)) << "2^" << exponent << " cell " << i;
    }
  }
}

TEST(Hessian, IgnoresWhatIsNoEdge) {
  for_each_problem({5, 12}, 1, [](const auto& problem, Root, const auto& f, auto seed) {
    const std::size_t side = side_of(problem);
    const std::vector<double> v = random_direction(problem, seed);
    const std::vector<double> expected = hessian_product(f, v);
    for (const double junk : {kNaN, kInfinity, -kInfinity, 1e300}) {
      std::vector<double> spoilt = v;
      for (std::size_t i = 0; i < v.size(); ++i) {
        const bool is_edge = i % side != 0 && i / side != i % side;
        if (!is_edge || problem.scores[i] == -kInfinity) spoilt[i] = junk;
      }
      EXPECT_EQ(hessian_product(f, spoilt), expected);
    }
  });
}

TEST(Hessian, InPlaceAndIntoWiderRows) {
  for (const double gap : {5.0, 900.0}) {
    const Problem problem = oracle::attractor_pairs(11, gap, 1);
    const std::size_t side = side_of(problem);
    const Factorization f = factored(problem, Root::kSingle);
    std::vector<double> v = random_direction(problem, 1);
    const std::vector<double> expected = hessian_product(f, v);
    Workspace workspace;
    std::vector<double> padded(side * (side + 3), 5.0);
    hessian_product(f, v, {padded.data(), static_cast<std::ptrdiff_t>(side + 3)}, workspace);
    for (std::size_t i = 0; i < padded.size(); ++i) {
      const std::size_t m = i % (side + 3);
      EXPECT_EQ(padded[i], m < side ? expected[i / (side + 3) * side + m] : 5.0);
    }
    hessian_product(f, v, {v.data(), static_cast<std::ptrdiff_t>(side)}, workspace);
    EXPECT_EQ(v, expected);
  }
}

TEST(Hessian, MisuseThrows) {
  const Problem problem = oracle::gaussian(4, 1, 1);
  const Factorization f = factored(problem, Root::kSingle);
  const std::vector<double> v = random_direction(problem, 1);
  std::vector<double> out(v.size());
  Workspace workspace;
  const auto misused = [](auto&& call) { expect_misuse("hessian_product", call); };
  expect_sentence_error(Status::kEmpty, [&] { hessian_product(Factorization(), v); });
  misused([&] { hessian_product(f, std::span(v).first(v.size() - 1)); });
  misused([&] { hessian_product(f, v, {nullptr, 5}, workspace); });
  misused([&] { hessian_product(f, v, {out.data(), 4}, workspace); });
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    for (const std::size_t cell : {1U, 4U, 7U, 24U - 1U}) {
      std::vector<double> spoilt = v;
      spoilt[cell] = bad;
      misused([&] { hessian_product(f, spoilt, {out.data(), 5}, workspace); });
    }
  }
  EXPECT_EQ(out, std::vector<double>(v.size(), 0.0)) << "written before it was checked";
}

}  // namespace
}  // namespace taproot
