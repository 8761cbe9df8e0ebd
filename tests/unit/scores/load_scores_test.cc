// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/ln2.h"
#include "core/random.h"
#include "scores/score_table.h"
#include "testing/real.h"
#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

using oracle::PrecisionScope;
using oracle::Real;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr RootRule kRules[] = {RootRule::kSingle, RootRule::kMulti};

// Lengths around the blocks of 8 columns, the strips of 32 rows and the page-sized rows.
constexpr int kLengths[] = {1,  2,  3,  6,  7,  8,  9,  15, 16, 23, 24,
                            30, 31, 32, 33, 39, 40, 47, 63, 64, 65};

std::size_t cell(int n, int head, int modifier) {
  return static_cast<std::size_t>(head) * (static_cast<std::size_t>(n) + 1) +
         static_cast<std::size_t>(modifier);
}

std::vector<double> random_scores(int n, double size, std::uint64_t seed) {
  Stream stream(stream_key(seed, 0), static_cast<std::uint32_t>(n), Purpose::kTree);
  std::vector<double> scores(cell(n, n, n) + 1);
  for (double& s : scores) s = (2 * stream.uniform() - 1) * size;
  return scores;
}

// The table must hold the scores, and -inf in column 0, on the diagonal and beyond column n.
void expect_holds(const ScoreTable& table, const std::vector<double>& scores) {
  ASSERT_GE(table.ld, static_cast<std::size_t>(table.n) + 1);
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 0; m < static_cast<int>(table.ld); ++m) {
      const bool blank = m == 0 || m == h || m > table.n;
      ASSERT_EQ(table.row(h)[m], blank ? -HUGE_VAL : scores[cell(table.n, h, m)])
          << h << " -> " << m;
      ASSERT_EQ(table.allows(h, m), table.row(h)[m] != -HUGE_VAL);
    }
  }
}

TEST(LoadScores, CopiesAndBlanksWhatIsIgnored) {
  for_each_target([] {
    for (const int n : kLengths) {
      for (const RootRule root : kRules) {
        const std::vector<double> scores = random_scores(n, 30, 1);
        ScoreTable table;
        ASSERT_EQ(load_scores(ScoreView(scores.data(), n), root, table), Outcome{});
        EXPECT_EQ(table.n, n);
        EXPECT_EQ(table.root, root);
        EXPECT_FALSE(table.has_forbidden);
        expect_holds(table, scores);
      }
    }
  });
}

TEST(LoadScores, TakesFloatsAndAnyStrides) {
  for_each_target([] {
    for (const int n : kLengths) {
      const std::ptrdiff_t side = n + 1;
      std::vector<double> scores = random_scores(n, 30, 2);
      for (double& s : scores) s = static_cast<double>(static_cast<float>(s));
      const std::vector<float> narrow(scores.begin(), scores.end());
      std::vector<double> transposed(scores.size());
      std::vector<float> spread(2 * scores.size());
      for (int h = 0; h <= n; ++h) {
        for (int m = 0; m <= n; ++m) {
          transposed[cell(n, m, h)] = scores[cell(n, h, m)];
          spread[2 * cell(n, h, m)] = narrow[cell(n, h, m)];
        }
      }
      const std::vector<double> reversed(scores.rbegin(), scores.rend());
      const std::vector<float> narrow_reversed(narrow.rbegin(), narrow.rend());
      const std::ptrdiff_t last = side * side - 1;
      const ScoreView views[] = {
          ScoreView(narrow.data(), n),
          ScoreView(transposed.data(), n, 1, side),
          ScoreView(spread.data(), n, 2 * side, 2),
          ScoreView(reversed.data() + last, n, -side, -1),
          ScoreView(narrow_reversed.data() + last, n, -side, -1),
      };
      for (const ScoreView& view : views) {
        ScoreTable table;
        ASSERT_TRUE(load_scores(view, RootRule::kSingle, table).ok());
        expect_holds(table, scores);
      }
    }
  });
}

// A zero stride repeats a row or a column; unit columns with a negative row stride load directly.
TEST(LoadScores, TakesZeroAndMixedStrides) {
  for_each_target([] {
    constexpr int kN = 9;
    const std::vector<double> scores = random_scores(kN, 30, 3);
    std::vector<double> expected(scores.size());
    ScoreTable table;
    const auto expect = [&](std::ptrdiff_t origin, std::ptrdiff_t heads, std::ptrdiff_t modifiers) {
      for (int h = 0; h <= kN; ++h) {
        for (int m = 0; m <= kN; ++m) {
          expected[cell(kN, h, m)] =
              scores[static_cast<std::size_t>(origin + h * heads + m * modifiers)];
        }
      }
      const ScoreView view(scores.data() + origin, kN, heads, modifiers);
      ASSERT_TRUE(load_scores(view, RootRule::kMulti, table).ok());
      expect_holds(table, expected);
    };
    expect(20, 0, 1);
    expect(5, 10, 0);
    expect(20, 0, 0);
    expect(90, -10, 1);
    expect(9, 10, -1);
  });
}

TEST(LoadScores, EmptySentencesAreEmpty) {
  for (const RootRule root : kRules) {
    ScoreTable table;
    const Outcome empty{Status::kEmpty};
    EXPECT_EQ(load_scores(ScoreView(&kNan, 0), root, table), empty);
    EXPECT_EQ(table.n, 0);
  }
}

// --- Bad scores

const double kBad[] = {kNan,
                       -kNan,
                       HUGE_VAL,
                       1.1e15,
                       -1.1e15,
                       std::nextafter(1e15, 2e15),
                       -std::nextafter(1e15, 2e15),
                       std::numeric_limits<double>::max(),
                       std::numeric_limits<double>::lowest()};

TEST(LoadScores, NamesABadScoreWhereverItIs) {
  for_each_target([] {
    for (const int n : {1, 2, 7, 8, 9, 33}) {
      std::vector<double> scores = random_scores(n, 30, 4);
      ScoreTable table;
      for (int h = 0; h <= n; ++h) {
        for (int m = 1; m <= n; ++m) {
          if (h == m) continue;
          const double bad = kBad[cell(n, h, m) % std::size(kBad)];
          const double good = std::exchange(scores[cell(n, h, m)], bad);
          const Outcome expected{Status::kBadScore, h, m};
          ASSERT_EQ(load_scores(ScoreView(scores.data(), n), RootRule::kSingle, table), expected);
          scores[cell(n, h, m)] = good;
        }
      }
      EXPECT_TRUE(load_scores(ScoreView(scores.data(), n), RootRule::kSingle, table).ok());
    }
  });
}

TEST(LoadScores, NamesTheFirstOfSeveralInRowMajorOrder) {
  for_each_target([] {
    Stream stream(stream_key(5, 0), 0, Purpose::kTree);
    for (const int n : {3, 8, 40}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<double> scores = random_scores(n, 30, 5);
        Outcome first{Status::kBadScore, n + 1, n + 1};
        for (int i = 0; i < 4; ++i) {
          const int h = static_cast<int>(stream.uniform() * (n + 1));
          const int m = 1 + static_cast<int>(stream.uniform() * n);
          if (h == m) continue;
          scores[cell(n, h, m)] = kBad[stream.bits() % std::size(kBad)];
          if (std::pair(h, m) < std::pair(first.head, first.modifier)) {
            first.head = h;
            first.modifier = m;
          }
        }
        if (first.head > n) continue;
        // Forbidden edges before it are no excuse.
        if (first.modifier > 1 && first.head != 1) scores[cell(n, first.head, 1)] = -HUGE_VAL;
        std::vector<double> transposed(scores.size());
        for (int h = 0; h <= n; ++h) {
          for (int m = 0; m <= n; ++m) transposed[cell(n, m, h)] = scores[cell(n, h, m)];
        }
        ScoreTable table;
        for (const RootRule root : kRules) {
          ASSERT_EQ(load_scores(ScoreView(scores.data(), n), root, table), first);
          // Row-major is of heads and modifiers, not of memory.
          ASSERT_EQ(load_scores(ScoreView(transposed.data(), n, 1, n + 1), root, table), first);
        }
      }
    }
  });
}

TEST(LoadScores, NamesABadFloat) {
  for_each_target([] {
    for (const float bad : {NAN, HUGE_VALF, 1.1e15F, -1.1e15F, 3e38F}) {
      std::vector<float> scores(100, 0.5F);
      scores[cell(9, 4, 7)] = bad;
      scores[cell(9, 8, 1)] = bad;
      ScoreTable table;
      const Outcome expected{Status::kBadScore, 4, 7};
      EXPECT_EQ(load_scores(ScoreView(scores.data(), 9), RootRule::kSingle, table), expected);
    }
  });
}

TEST(LoadScores, AllowsTheLargestScores) {
  for_each_target([] {
    for (const double s : {1e15, -1e15}) {
      std::vector<double> scores(100, s);
      ScoreTable table;
      EXPECT_TRUE(load_scores(ScoreView(scores.data(), 9), RootRule::kSingle, table).ok());
      EXPECT_FALSE(table.has_forbidden);
    }
  });
}

TEST(LoadScores, IgnoresColumnZeroAndTheDiagonalWhateverTheyHold) {
  for_each_target([] {
    for (const int n : kLengths) {
      std::vector<double> scores = random_scores(n, 30, 6);
      ScoreTable plain;
      ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), RootRule::kSingle, plain).ok());
      for (int i = 0; i <= n; ++i) {
        scores[cell(n, i, 0)] = kBad[static_cast<std::size_t>(i) % std::size(kBad)];
        scores[cell(n, i, i)] = kBad[static_cast<std::size_t>(i + 4) % std::size(kBad)];
      }
      ScoreTable table;
      ASSERT_EQ(load_scores(ScoreView(scores.data(), n), RootRule::kSingle, table), Outcome{});
      EXPECT_FALSE(table.has_forbidden);
      expect_holds(table, scores);
      EXPECT_EQ(table.total_scale, plain.total_scale);
      EXPECT_EQ(table.furthest_scale, plain.furthest_scale);
      for (std::size_t m = 0; m < 2 * table.ld; ++m) EXPECT_EQ(table.scale[m], plain.scale[m]);
    }
  });
}

TEST(LoadScores, AllowsForbiddenEdgesAndSaysSo) {
  for_each_target([] {
    for (const int n : {1, 8, 33}) {
      std::vector<double> scores = random_scores(n, 30, 7);
      scores[cell(n, 0, n)] = -HUGE_VAL;
      ScoreTable table;
      ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), RootRule::kMulti, table).ok());
      EXPECT_TRUE(table.has_forbidden);
      expect_holds(table, scores);
      std::fill(scores.begin(), scores.end(), -HUGE_VAL);
      ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), RootRule::kMulti, table).ok());
      EXPECT_TRUE(table.has_forbidden);
      expect_holds(table, scores);
      EXPECT_EQ(table.total_scale, 0);
    }
  });
}

TEST(LoadScores, ReusesATableForOtherSentences) {
  for_each_target([] {
    ScoreTable reused;
    for (const int n : {40, 3, 1, 9, 64, 8}) {
      std::vector<double> scores = random_scores(n, 30, 8);
      if (n == 9) scores[cell(n, 2, 3)] = -HUGE_VAL;
      ScoreTable fresh;
      ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), RootRule::kSingle, reused).ok());
      ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), RootRule::kSingle, fresh).ok());
      EXPECT_EQ(reused.has_forbidden, n == 9);
      expect_holds(reused, scores);
      EXPECT_EQ(reused.total_scale, fresh.total_scale);
      EXPECT_EQ(reused.root_scale, fresh.root_scale);
    }
  });
}

// The matrix is the whole allocation, so the address sanitizer sees a read beyond either end. The
// padded form has rows that go on after column n, and those cells hold what would be an error.
TEST(LoadScores, NeverReadsBeyondTheMatrix) {
  for_each_target([] {
    for (const int n : kLengths) {
      const std::vector<double> scores = random_scores(n, 30, 9);
      const auto exact = std::make_unique<double[]>(scores.size());
      const auto narrow = std::make_unique<float[]>(scores.size());
      const std::size_t wide = static_cast<std::size_t>(n) + 4;
      const std::size_t size = static_cast<std::size_t>(n) * wide + static_cast<std::size_t>(n) + 1;
      const auto padded = std::make_unique<double[]>(size);
      std::fill(padded.get(), padded.get() + size, kNan);
      std::vector<double> rounded(scores.size());
      for (int h = 0; h <= n; ++h) {
        for (int m = 0; m <= n; ++m) {
          const std::size_t c = cell(n, h, m);
          exact[c] = scores[c];
          narrow[c] = static_cast<float>(scores[c]);
          rounded[c] = static_cast<double>(narrow[c]);
          padded[static_cast<std::size_t>(h) * wide + static_cast<std::size_t>(m)] = scores[c];
        }
      }
      ScoreTable table;
      ASSERT_TRUE(load_scores(ScoreView(exact.get(), n), RootRule::kSingle, table).ok());
      expect_holds(table, scores);
      ASSERT_TRUE(load_scores(ScoreView(narrow.get(), n), RootRule::kSingle, table).ok());
      expect_holds(table, rounded);
      const ScoreView view(padded.get(), n, static_cast<std::ptrdiff_t>(wide), 1);
      ASSERT_EQ(load_scores(view, RootRule::kSingle, table), Outcome{});
      EXPECT_FALSE(table.has_forbidden);
      expect_holds(table, scores);
    }
  });
}

// --- Scales

// exp(s) 2^-scale.
double weight(double s, double scale) {
  return s == -HUGE_VAL ? 0.0 : ldexp(exp(Real(s)), -static_cast<long>(scale)).convert_to<double>();
}

struct Size {
  double score;
  // Bounds of the largest weight.
  double low;
  double high;
};

// Every scale is an integer, and the largest weight of each column over the heads that decide it
// (single-root: words, ROOT only if there are none; multi-root: all) is near 1. Single-root: the
// largest weight of the ROOT row is near 1 too, after root_scale.
void expect_scales(const ScoreTable& table, const Size& size) {
  const int n = table.n;
  const bool single = table.root == RootRule::kSingle;
  double total = table.root_scale;
  double root_top = 0;
  for (int m = 1; m <= n; ++m) {
    const auto column = static_cast<std::size_t>(m);
    const double scale = table.scale[column];
    total += scale;
    EXPECT_EQ(scale, std::floor(scale));
    EXPECT_EQ(table.scale[table.ld + column], scale + table.root_scale);
    EXPECT_LE(std::abs(scale), table.furthest_scale);
    EXPECT_LE(std::abs(scale + table.root_scale), table.furthest_scale);
    double top = 0;
    for (int h = 1; h <= n; ++h) top = std::max(top, weight(table.row(h)[m], scale));
    const double root = weight(table.row(0)[m], scale);
    if (!single || top == 0) top = std::max(top, root);
    root_top = std::max(root_top, weight(table.row(0)[m], scale + table.root_scale));
    if (top == 0) {
      EXPECT_EQ(scale, 0);  // A column without heads.
      continue;
    }
    EXPECT_GE(top, size.low) << "column " << m;
    EXPECT_LT(top, size.high) << "column " << m;
  }
  EXPECT_EQ(table.total_scale, total);
  EXPECT_EQ(table.root_scale, std::floor(table.root_scale));
  if (single && root_top > 0) {
    // Two roundings, the column's and the row's own, leave the ROOT row its factor of sqrt(2).
    EXPECT_GE(root_top, size.low);
    EXPECT_LT(root_top, size.high);
  } else {
    EXPECT_EQ(table.root_scale, 0);
  }
}

TEST(Scales, BringTheLargestWeightOfEachColumnNearOne) {
  const PrecisionScope scope(60);
  for_each_target([] {
    for (const Size& size :
         {Size{0, 0.7, 1.5}, Size{1, 0.7, 1.5}, Size{30, 0.7, 1.5}, Size{700, 0.7, 1.5},
          Size{1e5, 0.7, 1.5}, Size{1e9, 0.7, 1.5}, Size{1e12, 0.7, 1.5}}) {
      for (const int n : {1, 2, 7, 8, 33}) {
        for (const RootRule root : kRules) {
          std::vector<double> scores = random_scores(n, size.score, 10);
          ScoreTable table;
          ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), root, table).ok());
          expect_scales(table, size);
          // Without ROOT edges, without word heads in column 1, and with neither in the last.
          for (int m = 1; m <= n; m += 2) scores[cell(n, 0, m)] = -HUGE_VAL;
          for (int h = 1; h <= n; ++h) scores[cell(n, h, 1)] = -HUGE_VAL;
          ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), root, table).ok());
          expect_scales(table, size);
          scores[cell(n, 0, 1)] = -size.score;
          for (int h = 0; h <= n; ++h) scores[cell(n, h, n)] = -HUGE_VAL;
          ASSERT_TRUE(load_scores(ScoreView(scores.data(), n), root, table).ok());
          expect_scales(table, size);
        }
      }
    }
  });
}

// Near 1e15 s log2(e) itself rounds by up to 2^-3, and log2(e) by 0.02: the largest weight is
// between 2^-0.65 and 2^0.65. Four words, so that the sum of the scales stays below 2^53 and is
// exact.
TEST(Scales, AreLittleWorseForTheLargestScores) {
  const PrecisionScope scope(60);
  for_each_target([] {
    for (std::uint64_t seed = 100; seed < 150; ++seed) {
      for (const RootRule root : kRules) {
        const std::vector<double> scores = random_scores(4, 1e15, seed);
        ScoreTable table;
        ASSERT_TRUE(load_scores(ScoreView(scores.data(), 4), root, table).ok());
        expect_scales(table, Size{1e15, 0.637, 1.57});
      }
    }
  });
}

TEST(ScaledScore, IsTheScoreWithoutItsScales) {
  const PrecisionScope scope(60);
  const Real ln2 = log(Real(2));
  for_each_target([&] {
    for (const double size : {1.0, 700.0, 1e5, 1e9, 1e15}) {
      for (const RootRule root : kRules) {
        std::vector<double> scores = random_scores(9, size, 11);
        scores[cell(9, 2, 3)] = -HUGE_VAL;
        ScoreTable table;
        ASSERT_TRUE(load_scores(ScoreView(scores.data(), 9), root, table).ok());
        EXPECT_EQ(scaled_score(table, 2, 3), -HUGE_VAL);
        for (int h = 0; h <= 9; ++h) {
          for (int m = 1; m <= 9; ++m) {
            if (h == m || (h == 2 && m == 3)) continue;
            const Real scale = Real(table.scale[static_cast<std::size_t>(m)]) +
                               Real(h == 0 ? table.root_scale : 0.0);
            const Real exact = Real(scores[cell(9, h, m)]) - scale * ln2;
            // "Rounded about once", near the top of a column; elsewhere the first step rounds too.
            EXPECT_LE(abs(Real(scaled_score(table, h, m)) - exact),
                      0x1.2p-52 * (abs(exact) + Real(0x1p-50)));
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace taproot::detail
