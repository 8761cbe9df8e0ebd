// SPDX-License-Identifier: Apache-2.0
//
// Sentences side by side, against the definition and against the oracle.
#include "lanes/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/random.h"
#include "eliminate/factor.h"
#include "property/check.h"
#include "reverse/gradient.h"
#include "testing/families.h"
#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr double kUntouched = -12345;
constexpr Root kRoots[] = {Root::kSingle, Root::kMulti};

struct Found {
  bool answered = false;
  double log_partition = 0;
  std::vector<double> marginals;  // [n+1][n+1]
};

bool operator==(const Found& a, const Found& b) {
  return a.answered == b.answered &&
         std::memcmp(&a.log_partition, &b.log_partition, sizeof(double)) == 0 &&
         a.marginals.size() == b.marginals.size() &&
         std::memcmp(a.marginals.data(), b.marginals.data(), a.marginals.size() * sizeof(double)) ==
             0;
}

// Asks for log Z and marginals, and for log Z alone, of up to eight sentences together.
std::vector<Found> ask(const std::vector<ScoreView>& views, Root root) {
  Scratch scratch;
  std::vector<LaneSentence> sentences(views.size());
  std::vector<std::vector<double>> memory;
  constexpr std::size_t kGap = 3;
  for (std::size_t b = 0; b < views.size(); ++b) {
    const std::size_t side = node_count(views[b].n());
    memory.emplace_back(side * (side + kGap), kUntouched);
    sentences[b] = {&views[b], {memory[b].data(), static_cast<std::ptrdiff_t>(side + kGap)}};
  }
  answer_in_lanes(sentences, rule(root), true, scratch);
  std::vector<LaneSentence> again(views.size());
  for (std::size_t b = 0; b < views.size(); ++b) again[b].scores = &views[b];
  answer_in_lanes(again, rule(root), false, scratch);
  std::vector<Found> found(views.size());
  for (std::size_t b = 0; b < views.size(); ++b) {
    EXPECT_EQ(sentences[b].answered, again[b].answered) << b;
    EXPECT_EQ(sentences[b].log_partition, again[b].log_partition) << b;
    const std::size_t side = node_count(views[b].n());
    found[b].answered = sentences[b].answered;
    if (found[b].answered) found[b].log_partition = sentences[b].log_partition;
    for (std::size_t i = 0; i < memory[b].size(); ++i) {
      if (i % (side + kGap) < side && found[b].answered) {
        found[b].marginals.push_back(memory[b][i]);
      } else {
        EXPECT_EQ(memory[b][i], kUntouched) << b;
      }
    }
  }
  return found;
}

std::vector<ScoreView> views_of(const std::vector<Problem>& problems) {
  std::vector<ScoreView> views;
  for (const Problem& problem : problems) views.emplace_back(problem.scores.data(), problem.n);
  return views;
}

void expect_near(const Found& found, double log_partition, const std::vector<double>& marginals) {
  ASSERT_TRUE(found.answered);
  EXPECT_NEAR(found.log_partition, log_partition, 1e-12 * std::max(1.0, std::abs(log_partition)));
  ASSERT_EQ(found.marginals.size(), marginals.size());
  double worst = 0;
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    EXPECT_TRUE(found.marginals[i] >= 0) << "cell " << i << ": " << found.marginals[i];
    worst = std::max(worst, std::abs(found.marginals[i] - marginals[i]));
  }
  EXPECT_LE(worst, 1e-13);
}

// factor_simply() and gradient_simply(), words in the order of the sentence.
void expect_definition(const Found& found, const Problem& problem, Root root) {
  const int n = problem.n;
  const std::size_t side = node_count(n);
  std::vector<double> weights(side * side, 0.0);  // Row = modifier.
  for (std::size_t m = 1; m < side; ++m) {
    for (std::size_t h = 0; h < side; ++h) {
      if (h != m) weights[m * side + h] = std::exp(problem.scores[h * side + m]);
    }
  }
  std::vector<double> matrix = weights;
  std::vector<double> pivot(side);
  std::vector<double> share(side);
  std::vector<double> sums(side);
  std::vector<double> gradient(side * side);
  factor_simply(matrix.data(), side, n, rule(root), pivot.data(), share.data());
  gradient_simply(Factors<double>{n, rule(root), side, matrix.data(), pivot.data()},
                  gradient.data(), share.data(), sums.data());
  double log_partition = 0;
  for (std::size_t k = 1; k < side; ++k) log_partition += std::log(pivot[k]);
  std::vector<double> marginals(side * side, 0.0);
  for (std::size_t m = 1; m < side; ++m) {
    for (std::size_t h = 0; h < side; ++h) {
      marginals[h * side + m] = std::max(0.0, weights[m * side + h] * gradient[m * side + h]);
    }
  }
  expect_near(found, log_partition, marginals);
}

// Every length, in groups of one length and in groups with shorter sentences.
TEST(Lanes, AreTheDefinition) {
  for_each_target([] {
    for (int n = 1; n <= kMostLaneWords; ++n) {
      for (const bool mixed : {false, true}) {
        std::vector<Problem> problems;
        for (int b = 0; b < static_cast<int>(kLaneGroup); ++b) {
          const int length = mixed ? std::max(1, n - b * b % 11) : n;
          problems.push_back(
              oracle::gaussian(length, 1 + b % 3, static_cast<unsigned>(100 * n + b)));
        }
        for (const Root root : kRoots) {
          const std::vector<Found> found = ask(views_of(problems), root);
          for (std::size_t b = 0; b < problems.size(); ++b) {
            SCOPED_TRACE(testing::Message() << "n = " << n << ", sentence " << b << " of "
                                            << problems[b].n << " words, " << name(root));
            expect_definition(found[b], problems[b], root);
          }
        }
      }
    }
  });
}

// One problem of each family that lanes can answer, for some n.
Problem problem_of(int family, int n, std::uint64_t seed) {
  switch (family) {
    case 0:
      return oracle::uniform(n);
    case 1:
      return oracle::gaussian(n, 2, seed);
    case 2:
      return oracle::gaussian(n, 10, seed);
    case 3:
      return oracle::attractor_pairs(n, 12, seed);
    case 4:
      return oracle::rings(n, 5, 8, seed);
    case 5:
      return oracle::nested_rings(n, 5, seed);
    case 6:
      return oracle::masked(n, -1e9, seed);
    case 7:
      return oracle::masked(n, -1e4, seed);
    case 8:
      return oracle::column_offsets(n, 1e5, seed);
    case 9:
      return oracle::wide_range(n, 12, seed);
    case 10:
      return oracle::near_empty_columns(n, seed);
    case 11:
      return oracle::sparse(n, 0.6, seed);
    default:
      return oracle::heavy_tailed(n, seed);
  }
}
constexpr int kFamilies = 13;
// From here on there are forbidden edges, or ranges that double may not hold.
constexpr int kSureFamilies = 10;

// A star: a word that nearly all words hang on is eliminated first, and all of its modifiers after
// it. This is the worst that the order can be for the reverse pass.
Problem star(int n, double gap, std::uint64_t seed) {
  Problem problem = oracle::gaussian(n, 1, seed);
  const auto side = static_cast<std::size_t>(n) + 1;
  for (std::size_t m = 1; m + 1 < side; ++m) problem.scores[(side - 1) * side + m] += gap;
  return problem;
}

TEST(Lanes, AreExact) {
  int answered = 0;
  int left = 0;
  for (int n = 1; n <= kMostLaneWords; ++n) {
    std::vector<Problem> problems{star(n, 30, 1)};
    std::vector<int> families{0};
    for (int i = 0; i < 3; ++i) {
      families.push_back((3 * n + i) % kFamilies);
      const int length = i == 1 ? std::max(1, n - 3) : n;
      problems.push_back(problem_of(families.back(), length, static_cast<unsigned>(n)));
    }
    for (const Root root : kRoots) {
      std::vector<oracle::Answer> exact;
      for (const Problem& problem : problems) exact.push_back(oracle::matrix_tree(problem, root));
      for_each_target([&] {
        const std::vector<Found> found = ask(views_of(problems), root);
        for (std::size_t b = 0; b < problems.size(); ++b) {
          SCOPED_TRACE(testing::Message() << "n = " << problems[b].n << ", family " << families[b]
                                          << ", " << name(root));
          EXPECT_TRUE(found[b].answered || families[b] >= kSureFamilies);
          EXPECT_TRUE(exact[b].feasible || !found[b].answered);
          ++(found[b].answered ? answered : left);
          if (found[b].answered) expect_near(found[b], exact[b].log_partition, exact[b].marginals);
        }
      });
    }
  }
  EXPECT_GT(answered, 10 * left);
  EXPECT_GT(left, 0);
}

// Graphs like those of Range.DoubleIsGivenUpExactlyWhereItMust: what a weight loses by underflow,
// it may owe to the answer. What lanes answer must be exact.
TEST(Lanes, LeaveWhatDoubleCannotHold) {
  int answered = 0;
  int left = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Stream stream(stream_key(seed, 0), 0, Purpose::kTree);
    const int n = 3 + static_cast<int>(4 * stream.uniform());
    const std::size_t side = node_count(n);
    Problem problem{n, std::vector<double>(side * side, -HUGE_VAL)};
    for (double& score : problem.scores) {
      const double u = stream.uniform();
      if (u > 1.0 / 3) score = u > 5.0 / 6 ? 0.0 : -100 * std::floor(13 * stream.uniform());
    }
    for (const Root root : kRoots) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " " << name(root));
      const oracle::Answer exact = oracle::matrix_tree(problem, root);
      const Found found = ask(views_of({problem}), root)[0];
      ++(found.answered ? answered : left);
      if (!found.answered) continue;
      ASSERT_TRUE(exact.feasible);
      expect_near(found, exact.log_partition, exact.marginals);
    }
  }
  EXPECT_GT(answered, 50);
  EXPECT_GT(left, 100);
}

// The bits of an answer are the sentence's own: not those of its neighbors, its lane, the number of
// threads or the width of the vectors.
TEST(Lanes, DoNotTouchEachOther) {
  std::vector<Problem> problems;
  for (int b = 0; b < 8; ++b)
    problems.push_back(oracle::gaussian(32 - 4 * b + b % 2, 3, static_cast<unsigned>(7 + b)));
  std::map<std::pair<bool, Root>, std::vector<Found>> of_targets;
  for (const std::int64_t target : compiled_targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const TargetScope scope(target);
    for (const Root root : kRoots) {
      const std::vector<ScoreView> views = views_of(problems);
      const std::vector<Found> together = ask(views, root);
      for (std::size_t b = 0; b < 8; ++b) {
        EXPECT_TRUE(together[b].answered);
        EXPECT_EQ(ask({views[b]}, root)[0], together[b]) << b;
        EXPECT_EQ(ask({views[0], views[7], views[b]}, root)[2], together[b]) << b;
      }
      std::vector<ScoreView> turned(views.rbegin(), views.rend());
      const std::vector<Found> backwards = ask(turned, root);
      for (std::size_t b = 0; b < 8; ++b) EXPECT_EQ(backwards[7 - b], together[b]) << b;
      const auto [known, fresh] =
          of_targets.try_emplace({has_fused_multiply_add(target), root}, together);
      EXPECT_TRUE(fresh || known->second == together);
    }
  }
}

// A sentence that cannot be answered leaves its neighbors and its own output alone.
TEST(Lanes, LeaveBadSentences) {
  for_each_target([] {
    for (const Root root : kRoots) {
      for (int bad = 0; bad < 9; ++bad) {
        SCOPED_TRACE(testing::Message() << "bad " << bad << " " << name(root));
        std::vector<Problem> problems;
        for (int b = 0; b < 8; ++b)
          problems.push_back(oracle::gaussian(9 + b % 4, 2, static_cast<unsigned>(30 + b)));
        const std::vector<Found> before = ask(views_of(problems), root);
        Problem& problem = problems[3];
        const std::size_t side = node_count(problem.n);
        double& score = problem.scores[2 * side + 5];
        switch (bad) {
          case 0:
            score = NAN;
            break;
          case 1:
            score = HUGE_VAL;
            break;
          case 2:
            score = 1e16;
            break;
          case 3:
            score = -1e16;
            break;
          case 4:
            problem.scores[5] = NAN;  // A ROOT edge.
            break;
          case 5:
            std::fill(problem.scores.begin(), problem.scores.end(), -HUGE_VAL);
            break;
          case 6:  // A word without heads.
            for (std::size_t h = 0; h < side; ++h) problem.scores[h * side + 4] = -HUGE_VAL;
            break;
          case 7:  // Beyond the argument reduction of the exponential.
            for (std::size_t h = 0; h < side; ++h) problem.scores[h * side + 4] += 1e8;
            break;
          default:
            problem = oracle::attractor_pairs(12, 600, 1);
        }
        const std::vector<Found> after = ask(views_of(problems), root);
        for (std::size_t b = 0; b < 8; ++b) {
          if (b == 3) {
            EXPECT_FALSE(after[b].answered);
          } else {
            EXPECT_TRUE(after[b] == before[b]) << b;
          }
        }
      }
    }
  });
}

// What is in column 0 and on the diagonal is ignored.
TEST(Lanes, IgnoreWhatIsNoEdge) {
  Problem problem = oracle::gaussian(11, 2, 5);
  const Found expected = ask(views_of({problem}), Root::kSingle)[0];
  const std::size_t side = node_count(problem.n);
  for (std::size_t i = 0; i < side; ++i) {
    problem.scores[i * side] = NAN;
    problem.scores[i * side + i] = HUGE_VAL;
  }
  EXPECT_TRUE(ask(views_of({problem}), Root::kSingle)[0] == expected);
}

// float32 and any strides, read in place.
TEST(Lanes, ReadAnyView) {
  for_each_target([] {
    for (const int n : {1, 2, 3, 6, 7, 8, 13, 25, 32}) {
      const Problem problem = oracle::rounded_to_float(oracle::gaussian(n, 2, 3));
      const std::size_t side = node_count(n);
      const std::vector<float> narrow(problem.scores.begin(), problem.scores.end());
      std::vector<double> turned(side * side);
      std::vector<double> wide_rows(side * (side + 5), NAN);
      std::vector<float> sparse(side * side * 3, NAN);
      for (std::size_t h = 0; h < side; ++h) {
        for (std::size_t m = 0; m < side; ++m) {
          const double score = problem.scores[h * side + m];
          turned[m * side + h] = score;
          wide_rows[h * (side + 5) + m] = score;
          sparse[3 * (h * side + m)] = static_cast<float>(score);
        }
      }
      const auto stride = static_cast<std::ptrdiff_t>(side);
      const std::vector<ScoreView> views{
          ScoreView(problem.scores.data(), n), ScoreView(narrow.data(), n),
          ScoreView(turned.data(), n, 1, stride), ScoreView(wide_rows.data(), n, stride + 5, 1),
          ScoreView(sparse.data(), n, 3 * stride, 3)};
      for (const Root root : kRoots) {
        const std::vector<Found> found = ask(views, root);
        for (const Found& other : found) EXPECT_TRUE(other == found[0]) << n;
      }
    }
  });
}

}  // namespace
}  // namespace taproot::detail
