// SPDX-License-Identifier: Apache-2.0
#include "scores/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "scores/score_table.h"
#include "testing/real.h"
#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

using oracle::PrecisionScope;
using oracle::Real;

constexpr RootRule kRules[] = {RootRule::kSingle, RootRule::kMulti};
constexpr double kUntouched = -123.0;

std::size_t cell(int n, int head, int modifier) {
  return static_cast<std::size_t>(head) * (static_cast<std::size_t>(n) + 1) +
         static_cast<std::size_t>(modifier);
}

ScoreTable loaded(const std::vector<double>& scores, int n, RootRule root) {
  ScoreTable table;
  EXPECT_TRUE(load_scores(ScoreView(scores.data(), n), root, table).ok());
  return table;
}

// Columns whose tops lie anywhere in [-offset, offset], and the others up to `depth` below.
std::vector<double> random_scores(int n, double offset, double depth, std::uint64_t seed) {
  Stream stream(stream_key(seed, 0), static_cast<std::uint32_t>(n), Purpose::kTree);
  std::vector<double> scores(cell(n, n, n) + 1);
  for (int m = 0; m <= n; ++m) {
    const double top = (2 * stream.uniform() - 1) * offset;
    for (int h = 0; h <= n; ++h) {
      scores[cell(n, h, m)] = std::clamp(top - depth * stream.uniform(), -1e15, 1e15);
    }
  }
  return scores;
}

// exp(S[h][m]) 2^-(scale[m] (+ root_scale)), [n+1][n+1]; 0 where there is no edge.
std::vector<Real> exact_weights(const ScoreTable& table) {
  std::vector<Real> exact(cell(table.n, table.n, table.n) + 1, Real(0));
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 1; m <= table.n; ++m) {
      if (!table.allows(h, m)) continue;
      const double scale =
          table.scale[static_cast<std::size_t>(m)] + (h == 0 ? table.root_scale : 0);
      exact[cell(table.n, h, m)] = ldexp(exp(Real(table.row(h)[m])), -static_cast<long>(scale));
    }
  }
  return exact;
}

// floor(log2(x)) for x > 0.
long binade(const Real& x) { return static_cast<long>(mpfr_get_exp(x.backend().data())) - 1; }

// |x - exact| in units in the last place of `exact`.
double error_in_ulps(const Real& x, const Real& exact) {
  Real mantissa = exact;  // In [1, 2): exponents may be beyond what an int holds.
  mpfr_set_exp(mantissa.backend().data(), 1);
  return Real(abs(x / exact - 1) * mantissa * Real(0x1p52)).convert_to<double>();
}

struct Filled {
  std::vector<double> weights;
  double flushed;
};

// Rows [first, last) with a row of sentinels on either side.
Filled fill(const ScoreTable& table, int first, int last, double* sums = nullptr) {
  const auto rows = static_cast<std::size_t>(last - first);
  std::vector<double> memory((rows + 2) * table.ld, kUntouched);
  const double flushed = fill_weights(table, first, last, memory.data() + table.ld, sums);
  const auto size = static_cast<std::ptrdiff_t>(rows * table.ld);
  const auto ld = static_cast<std::ptrdiff_t>(table.ld);
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + ld, kUntouched), ld);
  EXPECT_EQ(std::count(memory.end() - ld, memory.end(), kUntouched), ld);
  return {{memory.begin() + ld, memory.begin() + ld + size}, flushed};
}

// Everything that fill_weights() promises of a table, on every target.
void expect_exact_weights(const ScoreTable& table) {
  const std::vector<Real> exact = exact_weights(table);
  for_each_target([&] {
    const Filled filled = fill(table, 0, table.n + 1);
    double worst = 0;
    Real largest_flushed = 0;
    for (int h = 0; h <= table.n; ++h) {
      for (std::size_t m = 0; m < table.ld; ++m) {
        const double w = filled.weights[static_cast<std::size_t>(h) * table.ld + m];
        if (static_cast<int>(m) > table.n || !table.allows(h, static_cast<int>(m))) {
          ASSERT_EQ(w, 0.0) << h << " -> " << m;
          continue;
        }
        const Real& x = exact[cell(table.n, h, static_cast<int>(m))];
        if (w == 0) {
          // Exponents are rounded to an integer before they are compared, so half a binade is open.
          EXPECT_LE(x, ldexp(Real(1), static_cast<int>(kFlushExponent)) * Real(1.01));
          largest_flushed = std::max(largest_flushed, x);
        } else {
          EXPECT_GE(x, ldexp(Real(1), static_cast<int>(kFlushExponent) - 1) * Real(0.99));
          worst = std::max(worst, error_in_ulps(Real(w), x));
        }
      }
    }
    EXPECT_LE(worst, 1.0);
    if (largest_flushed == 0) {
      EXPECT_EQ(filled.flushed, -HUGE_VAL);
    } else {
      const auto top = static_cast<double>(binade(largest_flushed));
      EXPECT_LE(log2(largest_flushed), Real(filled.flushed));
      EXPECT_LE(filled.flushed, top + 2) << "a bound, but far off";
    }
  });
}

TEST(FillWeights, IsWithinOneUnitInTheLastPlace) {
  const PrecisionScope scope(60);
  for (const double offset : {0.0, 1.0, 30.0, 700.0, 1e4, 7e5, 1e6, 1e9, 1e12, 9.9e14}) {
    for (const double depth : {0.5, 20.0, 660.0}) {
      for (const RootRule root : kRules) {
        SCOPED_TRACE(testing::Message() << offset << " " << depth);
        expect_exact_weights(loaded(random_scores(15, offset, depth, 1), 15, root));
      }
    }
  }
}

// Around multiples of ln 2 / 2, where the argument reduction changes its mind, for every exponent.
TEST(FillWeights, IsWithinOneUnitWhereTheReductionTurns) {
  const PrecisionScope scope(60);
  constexpr int kN = 30;
  Stream stream(stream_key(2, 0), 0, Purpose::kTree);
  for (const double offset : {0.0, 12345.0, 720000.0, 1e7, 1e13}) {
    std::vector<double> scores(cell(kN, kN, kN) + 1, offset);
    for (double& s : scores) {
      const double halves = std::floor(stream.uniform() * 1900);
      s = offset - halves * (0.5 * std::numbers::ln2);
      if (stream.uniform() < 0.5) s = std::nextafter(s, stream.uniform() < 0.5 ? -1e15 : 1e15);
    }
    for (const RootRule root : kRules) expect_exact_weights(loaded(scores, kN, root));
  }
}

TEST(FillWeights, ReportsWhatItFlushes) {
  const PrecisionScope scope(60);
  for (const double offset : {0.0, 700.0, 720000.0, 1e7, 1e11, 9.9e14}) {
    for (const double from : {640.0, 664.5, 800.0, 1e6}) {
      constexpr int kN = 17;
      Stream stream(stream_key(3, 0), 0, Purpose::kTree);
      std::vector<double> scores(cell(kN, kN, kN) + 1);
      for (int h = 0; h <= kN; ++h) {
        for (int m = 0; m <= kN; ++m) {
          const bool top = h == 1 || (h == 2 && m == 1);
          scores[cell(kN, h, m)] = top ? offset : offset - from - 4 * stream.uniform();
        }
      }
      for (const RootRule root : kRules) {
        SCOPED_TRACE(testing::Message() << offset << " " << from);
        expect_exact_weights(loaded(scores, kN, root));
      }
    }
  }
}

// Far out, S log2(e) rounds by much more than at home, and not alike in a fused and a plain
// product; a weight near the limit must still be either there or reported.
TEST(FillWeights, ReportsWhatItFlushesFarOutToo) {
  for_each_target([] {
    Stream stream(stream_key(7, 0), 0, Purpose::kTree);
    int unreported = 0;
    for (int i = 0; i < 50000; ++i) {
      const double top =
          (stream.uniform() < 0.5 ? -1 : 1) * std::pow(10, 6 + 8.99 * stream.uniform());
      const double low = top - (960 + stream.uniform()) * std::numbers::ln2;
      const std::vector<double> scores = {0, top, top, 0, 0, top, 0, low, 0};
      const ScoreTable table = loaded(scores, 2, RootRule::kMulti);
      const Filled filled = fill(table, 0, 3);
      const double w = filled.weights[2 * table.ld + 1];
      if (w == 0 && filled.flushed == -HUGE_VAL) ++unreported;
    }
    EXPECT_EQ(unreported, 0);
  });
}

TEST(FillWeights, FlushesAtTheSamePlaceWhateverTheOffset) {
  for_each_target([] {
    for (const int e : {-900, -959, -960, -961, -962, -2000}) {
      // Columns 1 and 2 hold 0 and e ln 2, so the weights are 1 and 2^e.
      const double s = e * std::numbers::ln2;
      const std::vector<double> scores = {0, 0, s, 0, 0, 0, 0, 0, 0};
      const ScoreTable table = loaded(scores, 2, RootRule::kMulti);
      const Filled filled = fill(table, 0, 3);
      if (e >= static_cast<int>(kFlushExponent)) {
        EXPECT_NEAR(filled.weights[2] / std::ldexp(1.0, e), 1, 1e-12);
        EXPECT_EQ(filled.flushed, -HUGE_VAL);
      } else {
        EXPECT_EQ(filled.weights[2], 0.0);
        EXPECT_GE(filled.flushed, e);
        EXPECT_LE(filled.flushed, e + 1);
      }
    }
  });
}

TEST(FillWeights, ForbiddenEdgesAreZeroAndNotFlushed) {
  for_each_target([] {
    for (const double offset : {0.0, 1e10}) {
      constexpr int kN = 9;
      std::vector<double> scores(cell(kN, kN, kN) + 1, offset);
      for (int h = 0; h <= kN; ++h) scores[cell(kN, h, 4)] = -HUGE_VAL;  // A whole column.
      scores[cell(kN, 2, 3)] = -HUGE_VAL;
      const ScoreTable table = loaded(scores, kN, RootRule::kSingle);
      const Filled filled = fill(table, 0, kN + 1);
      EXPECT_EQ(filled.flushed, -HUGE_VAL);
      for (int h = 0; h <= kN; ++h) {
        for (int m = 0; m <= kN; ++m) {
          const double w =
              filled.weights[static_cast<std::size_t>(h) * table.ld + static_cast<std::size_t>(m)];
          EXPECT_EQ(w > 0, table.allows(h, m)) << h << " -> " << m;
        }
      }
    }
  });
}

TEST(FillWeights, FillsAnyRangeOfHeads) {
  for_each_target([] {
    for (const int n : {1, 7, 8, 40, 70}) {
      const ScoreTable table = loaded(random_scores(n, 100, 20, 4), n, RootRule::kSingle);
      const std::vector<double> all = fill(table, 0, n + 1).weights;
      for (const int first : {0, 1, n / 2, n}) {
        for (const int last : {first + 1, (first + n + 2) / 2, n + 1}) {
          if (last <= first || last > n + 1) continue;
          const std::vector<double> part = fill(table, first, last).weights;
          const auto begin =
              all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first) * table.ld);
          EXPECT_TRUE(std::equal(part.begin(), part.end(), begin)) << first << ".." << last;
        }
      }
    }
  });
}

// The flushed exponent is of the heads in the range alone.
TEST(FillWeights, ReportsFlushedWeightsOfItsRangeOnly) {
  for_each_target([] {
    std::vector<double> scores(16, 0.0);
    scores[cell(3, 2, 1)] = -1000 * std::numbers::ln2;
    const ScoreTable table = loaded(scores, 3, RootRule::kSingle);
    EXPECT_EQ(fill(table, 0, 2).flushed, -HUGE_VAL);
    EXPECT_EQ(fill(table, 3, 4).flushed, -HUGE_VAL);
    EXPECT_GE(fill(table, 2, 3).flushed, -1000);
    EXPECT_LE(fill(table, 2, 3).flushed, -999);
  });
}

TEST(FillWeights, SumsItsColumns) {
  for_each_target([] {
    for (const int n : {1, 7, 8, 31, 32, 33, 70, 100}) {
      const ScoreTable table = loaded(random_scores(n, 100, 20, 5), n, RootRule::kSingle);
      for (const int first : {0, 1}) {
        std::vector<double> sums(table.ld + 8, kUntouched);
        const std::vector<double> weights = fill(table, first, n + 1, sums.data()).weights;
        EXPECT_EQ(weights, fill(table, first, n + 1).weights);
        for (std::size_t m = 0; m < table.ld; ++m) {
          double sum = 0;
          for (std::size_t i = m; i < weights.size(); i += table.ld) sum += weights[i];
          // Sums of non-negative terms in any order: n roundings each.
          EXPECT_NEAR(sums[m], sum, 2 * (n + 1) * 0x1p-53 * sum) << "column " << m;
        }
        EXPECT_EQ(std::count(sums.begin() + static_cast<std::ptrdiff_t>(table.ld), sums.end(),
                             kUntouched),
                  8);
      }
    }
  });
}

TEST(WideWeight, IsWithinOneUnitInTheLastPlaceAndNeverFlushed) {
  const PrecisionScope scope(60);
  for (const double offset : {0.0, 700.0, 1e6, 1e12, 9.9e14}) {
    for (const double depth : {1.0, 660.0, 1e5, 1e10, 1e15}) {
      for (const RootRule root : kRules) {
        std::vector<double> scores = random_scores(8, offset, depth, 6);
        scores[cell(8, 3, 5)] = -HUGE_VAL;
        const ScoreTable table = loaded(scores, 8, root);
        const std::vector<Real> exact = exact_weights(table);
        for (int h = 0; h <= 8; ++h) {
          for (int m = 0; m <= 8; ++m) {
            const Wide w = wide_weight(table, h, m);
            if (!table.allows(h, m)) {
              EXPECT_TRUE(w.is_zero()) << h << " -> " << m;
              continue;
            }
            ASSERT_FALSE(w.is_zero()) << h << " -> " << m;
            const Real value = ldexp(Real(w.mantissa()), static_cast<long>(w.exponent()));
            EXPECT_LE(error_in_ulps(value, exact[cell(8, h, m)]), 1.0) << h << " -> " << m;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace taproot::detail
