// SPDX-License-Identifier: Apache-2.0
#include "taproot/tree.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "testing/misuse.h"

namespace taproot {
namespace {

// Calls visit(heads) for all (high - low + 1)^n arrays with entries low..high.
template <typename Visit>
void for_all_heads(int n, std::int32_t low, std::int32_t high, Visit&& visit) {
  Tree heads(static_cast<std::size_t>(n), low);
  while (true) {
    visit(heads);
    std::size_t i = 0;
    while (i < heads.size() && heads[i] == high) heads[i++] = low;
    if (i == heads.size()) return;
    ++heads[i];
  }
}

// By definition, and not by walking: n edges over n+1 nodes, every node with a head but ROOT, and
// all connected. Pieces are merged until nothing changes.
bool is_connected(const Tree& heads) {
  std::vector<std::int32_t> piece(heads.size() + 1);
  for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<std::int32_t>(i);
  for (std::size_t m = 1; m < piece.size(); ++m) {
    const std::int32_t from = piece[m];
    const std::int32_t to = piece[static_cast<std::size_t>(heads[m - 1])];
    for (std::int32_t& p : piece) p = p == from ? to : p;
  }
  for (const std::int32_t p : piece) {
    if (p != piece[0]) return false;
  }
  return true;
}

long power(long base, int exponent) {
  long result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

TEST(IsTree, AgreesWithConnectednessAndCayley) {
  for (int n = 1; n <= 6; ++n) {
    long multi = 0;
    long single = 0;
    for_all_heads(n, 0, n, [&](const Tree& heads) {
      const bool expected = is_connected(heads);
      int roots = 0;
      for (const std::int32_t head : heads) roots += head == 0 ? 1 : 0;
      ASSERT_EQ(is_tree(heads), expected);
      ASSERT_EQ(is_tree(heads, RootRule::kMulti), expected);
      ASSERT_EQ(is_tree(heads, RootRule::kSingle), expected && roots == 1);
      ASSERT_EQ(root_count(heads), roots);
      multi += is_tree(heads) ? 1 : 0;
      single += is_tree(heads, RootRule::kSingle) ? 1 : 0;
    });
    EXPECT_EQ(multi, power(n + 1, n - 1)) << n;
    EXPECT_EQ(single, power(n, n - 1)) << n;
  }
}

TEST(IsTree, IsFalseForHeadsOutOfRange) {
  for (int n = 1; n <= 4; ++n) {
    for_all_heads(n, -1, n + 1, [&](const Tree& heads) {
      bool in_range = true;
      for (const std::int32_t head : heads) in_range = in_range && head >= 0 && head <= n;
      ASSERT_EQ(is_tree(heads), in_range && is_connected(heads));
    });
  }
  EXPECT_FALSE(is_tree(Tree{INT32_MAX, 0}));
  EXPECT_FALSE(is_tree(Tree{INT32_MIN, 0}));
}

TEST(IsTree, IsFalseForNoWords) {
  EXPECT_FALSE(is_tree(Tree{}));
  EXPECT_FALSE(is_tree(Tree{}, RootRule::kSingle));
  EXPECT_FALSE(is_tree(Tree{}, RootRule::kMulti));
  EXPECT_EQ(root_count(Tree{}), 0);
}

// Long enough that a walk from every word to ROOT, n^2/2 steps, would be felt.
TEST(IsTree, TakesLongChainsEitherWay) {
  constexpr std::int32_t kN = 1'000'000;
  Tree down(kN);
  Tree up(kN);
  for (std::int32_t m = 1; m <= kN; ++m) {
    down[static_cast<std::size_t>(m - 1)] = m - 1;
    up[static_cast<std::size_t>(m - 1)] = m == kN ? 0 : m + 1;
  }
  EXPECT_TRUE(is_tree(down, RootRule::kSingle));
  EXPECT_TRUE(is_tree(up, RootRule::kSingle));
  down[0] = kN;  // Closes the circle.
  up.back() = 1;
  EXPECT_FALSE(is_tree(down));
  EXPECT_FALSE(is_tree(up));
}

// --- score

template <typename Real>
std::vector<Real> powers_of_two() {
  std::vector<Real> scores;
  for (int i = 0; i < 16; ++i) scores.push_back(static_cast<Real>(1 << i));
  return scores;
}

TEST(Score, IsTheSumOverTheEdges) {
  const auto wide = powers_of_two<double>();
  const auto narrow = powers_of_two<float>();
  for_all_heads(3, 0, 3, [&](const Tree& heads) {
    double expected = 0;
    double transposed = 0;
    for (int m = 1; m <= 3; ++m) {
      const int h = heads[static_cast<std::size_t>(m - 1)];
      if (h == m) expected = transposed = -HUGE_VAL;  // No such edge, whatever the diagonal holds.
      expected += 1 << (4 * h + m);
      transposed += 1 << (4 * m + h);
    }
    EXPECT_EQ(score(ScoreView(wide.data(), 3), heads), expected);
    EXPECT_EQ(score(ScoreView(narrow.data(), 3), heads), expected);
    EXPECT_EQ(score(ScoreView(wide.data(), 3, 1, 4), heads), transposed);
  });
}

TEST(Score, IsMinusInfinityWithAForbiddenEdge) {
  std::vector<double> scores(9, 1.0);
  scores[2] = -HUGE_VAL;  // 0 -> 2
  EXPECT_EQ(score(ScoreView(scores.data(), 2), Tree{0, 0}), -HUGE_VAL);
  EXPECT_EQ(score(ScoreView(scores.data(), 2), Tree{0, 1}), 2.0);
}

TEST(Score, IgnoresWhatTheTreeDoesNotUse) {
  std::vector<double> scores(9, NAN);
  scores[1] = 0.25;  // 0 -> 1
  scores[5] = 0.5;   // 1 -> 2
  EXPECT_EQ(score(ScoreView(scores.data(), 2), Tree{0, 1}), 0.75);
}

TEST(Score, OfNoWordsIsZero) {
  const double unused = NAN;
  EXPECT_EQ(score(ScoreView(&unused, 0), Tree{}), 0.0);
}

TEST(Score, RefusesHeadsThatDoNotFit) {
  const auto scores = powers_of_two<double>();
  const ScoreView view(scores.data(), 3);
  for (const Tree& heads : {Tree{}, Tree{0, 1}, Tree{0, 1, 2, 3}, Tree{0, 1, 4}, Tree{-1, 1, 2},
                            Tree{0, INT32_MAX, 1}, Tree{0, 1, INT32_MIN}}) {
    expect_misuse("score", [&] { (void)score(view, heads); });
  }
}

// --- adjacency

TEST(Adjacency, HasOneEntryPerWordAtItsHead) {
  for (int n = 1; n <= 4; ++n) {
    const std::size_t side = static_cast<std::size_t>(n) + 1;
    for_all_heads(n, 0, n, [&](const Tree& heads) {
      std::vector<std::uint8_t> adjacency(side * side, 9);  // To be overwritten.
      to_adjacency(heads, adjacency);
      for (std::size_t h = 0; h < side; ++h) {
        for (std::size_t m = 0; m < side; ++m) {
          const bool edge = m > 0 && heads[m - 1] == static_cast<std::int32_t>(h);
          ASSERT_EQ(adjacency[h * side + m], edge ? 1 : 0);
        }
      }
    });
  }
}

TEST(Adjacency, RoundTripsEveryTree) {
  for (int n = 1; n <= 5; ++n) {
    const std::size_t side = static_cast<std::size_t>(n) + 1;
    std::vector<std::uint8_t> adjacency(side * side);
    for_all_heads(n, 0, n, [&](const Tree& heads) {
      if (!is_tree(heads)) return;
      to_adjacency(heads, adjacency);
      ASSERT_EQ(from_adjacency(adjacency, n), heads);
    });
  }
}

// Every word has exactly one head: that is all that is asked, so a cycle comes back as one.
TEST(Adjacency, RoundTripsCyclesToo) {
  const Tree cycle = {2, 1, 0};
  std::vector<std::uint8_t> adjacency(16);
  to_adjacency(cycle, adjacency);
  EXPECT_EQ(from_adjacency(adjacency, 3), cycle);
}

TEST(Adjacency, OfNoWordsIsOneZero) {
  std::vector<std::uint8_t> adjacency(1, 9);
  to_adjacency(Tree{}, adjacency);
  EXPECT_EQ(adjacency[0], 0);
  EXPECT_EQ(from_adjacency(adjacency, 0), Tree{});
}

TEST(Adjacency, ToRefusesWrongSizesAndHeads) {
  const auto refuse = [&](const Tree& heads, std::size_t size) {
    std::vector<std::uint8_t> adjacency(size);
    expect_misuse("to_adjacency", [&] { to_adjacency(heads, adjacency); });
  };
  refuse({0, 1}, 0);
  refuse({0, 1}, 4);
  refuse({0, 1}, 8);
  refuse({0, 1}, 10);
  refuse({}, 0);
  refuse({0, 3}, 9);
  refuse({-1, 0}, 9);
  refuse({0, INT32_MAX}, 9);
  refuse({0, INT32_MIN}, 9);
}

TEST(Adjacency, FromRefusesWhatIsNoHeadPerWord) {
  const std::vector<std::uint8_t> good = {0, 1, 0, 0, 0, 1, 0, 0, 0};
  ASSERT_EQ(from_adjacency(good, 2), (Tree{0, 1}));
  const auto refuse = [](const std::vector<std::uint8_t>& adjacency, int n) {
    expect_misuse("from_adjacency", [&] { (void)from_adjacency(adjacency, n); });
  };
  refuse(good, -1);
  refuse(good, INT_MIN);
  refuse(good, 1);
  refuse(good, 3);
  refuse({}, 0);
  for (std::size_t c = 0; c < good.size(); ++c) {
    // One entry turned: a head too few, a head too many, a head for ROOT, or a word its own head.
    std::vector<std::uint8_t> turned = good;
    turned[c] ^= 1;
    refuse(turned, 2);
  }
  refuse({0, 0, 0, 0, 1, 1, 0, 0, 0}, 2);  // Word 1 is its own and only head.
  refuse({1}, 0);
}

// By the definition, for every assignment of heads to up to five words.
TEST(IsProjective, IsTheDefinition) {
  const auto descends = [](const Tree& heads, std::int32_t word, std::int32_t from) {
    for (std::size_t steps = 0; word != from && word != 0 && steps <= heads.size(); ++steps) {
      word = heads[static_cast<std::size_t>(word - 1)];
    }
    return word == from;
  };
  int projective = 0;
  int others = 0;
  for (std::int32_t n = 1; n <= 5; ++n) {
    Tree heads(static_cast<std::size_t>(n), 0);
    for (bool more = true; more;) {
      bool exact = is_tree(heads);
      for (std::int32_t m = 1; exact && m <= n; ++m) {
        const std::int32_t h = heads[static_cast<std::size_t>(m - 1)];
        for (std::int32_t x = std::min(h, m) + 1; x < std::max(h, m); ++x) {
          exact = exact && descends(heads, x, h);
        }
      }
      EXPECT_EQ(is_projective(heads), exact);
      ++(exact ? projective : others);
      more = false;
      for (std::int32_t& head : heads) {
        if (++head <= n) {
          more = true;
          break;
        }
        head = 0;
      }
    }
  }
  EXPECT_EQ(projective, 1 + 3 + 12 + 55 + 273);
  EXPECT_GT(others, 1000);
  EXPECT_FALSE(is_projective({}));
  EXPECT_FALSE(is_projective(Tree{-1}));
  EXPECT_FALSE(is_projective(Tree{2}));
}

}  // namespace
}  // namespace taproot
