// SPDX-License-Identifier: Apache-2.0
//
// Sentences side by side have the bits that they have one by one, in both families, on every
// target.
#include "lanes/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/format.h"
#include "core/ln2.h"
#include "core/random.h"
#include "eliminate/factor_data.h"
#include "property/check.h"
#include "taproot/query.h"
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
  Outcome outcome;
  double log_partition = 0;
  std::vector<double> marginals;  // [n+1][n+1]
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

bool operator==(const Found& a, const Found& b) {
  return a.answered == b.answered && a.outcome == b.outcome &&
         same_bits({a.log_partition}, {b.log_partition}) && same_bits(a.marginals, b.marginals);
}

// Asks for log Z and marginals, and for log Z alone, of up to eight sentences together.
std::vector<Found> ask(TreeFamily family, const std::vector<ScoreView>& views, Root root) {
  Scratch scratch;
  std::vector<LaneSentence> sentences(views.size());
  std::vector<std::vector<double>> memory;
  constexpr std::size_t kGap = 3;
  for (std::size_t b = 0; b < views.size(); ++b) {
    const std::size_t side = node_count(views[b].n());
    memory.emplace_back(side * (side + kGap), kUntouched);
    sentences[b] = {&views[b], {memory[b].data(), static_cast<std::ptrdiff_t>(side + kGap)}};
  }
  answer_in_lanes(sentences, rule(root), family, true, scratch);
  std::vector<LaneSentence> again(views.size());
  for (std::size_t b = 0; b < views.size(); ++b) again[b].scores = &views[b];
  answer_in_lanes(again, rule(root), family, false, scratch);
  std::vector<Found> found(views.size());
  for (std::size_t b = 0; b < views.size(); ++b) {
    EXPECT_EQ(sentences[b].answered, again[b].answered) << b;
    EXPECT_EQ(sentences[b].outcome, again[b].outcome) << b;
    EXPECT_EQ(sentences[b].log_partition, again[b].log_partition) << b;
    const std::size_t side = node_count(views[b].n());
    found[b].answered = sentences[b].answered;
    found[b].outcome = sentences[b].outcome;
    const bool ok = found[b].answered && found[b].outcome.ok();
    if (ok) found[b].log_partition = sentences[b].log_partition;
    for (std::size_t i = 0; i < memory[b].size(); ++i) {
      if (i % (side + kGap) < side && ok) {
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

// Whether the chart of a sentence is in double without a common factor: then its columns sum to
// less than 1, and to at least 1/2.
bool passes_first_test(const Chart& chart) {
  if (chart.wide) return false;
  const ChartView<const double> c = chart.view();
  double sum = 0;  // Of the first column that has a head.
  for (int m = 0; m < c.size() && sum == 0; ++m) {
    for (int h = 0; h < c.size(); ++h) {
      if (h != m) sum += h < m ? c(kRightWeight, m - h, h) : c(kLeftWeight, h - m, m);
    }
  }
  return sum == 0 || (sum >= 0.5 && sum < 1);
}

// Whether lanes must answer what is factored as f: if all is well or wrong in double and, of all
// trees, within the argument reduction of the exponential. They leave it to truth values to say
// that there is no projective tree.
bool is_for_lanes(const Factorization& f) {
  const FactorData& data = Access::data(f);
  if (f.family() == TreeFamily::kAll) {
    const bool near = data.table.furthest_scale - kFlushExponent < kShortRange;
    return !f.outcome().ok() || (data.tame && near);
  }
  return f.outcome().ok() ? passes_first_test(data.chart) : f.outcome().status != Status::kNoTree;
}

// Lanes say what is said of a sentence by itself, bit for bit, or leave it alone.
void expect_same(TreeFamily family, const Found& found, const ScoreView& view, Root root) {
  const Factorization f = factorize(view, rule(root), family);
  ASSERT_EQ(found.answered, is_for_lanes(f));
  if (!found.answered) return;
  ASSERT_EQ(found.outcome, f.outcome());
  if (!f.outcome().ok()) return;
  EXPECT_EQ(found.log_partition, log_partition(f));
  const std::vector<double> expected = marginals(f);
  ASSERT_EQ(found.marginals.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(same_bits({found.marginals[i]}, {expected[i]}))
        << "cell " << i << ": " << found.marginals[i] << ", not " << expected[i];
  }
}

class Lanes : public testing::TestWithParam<TreeFamily> {};
INSTANTIATE_TEST_SUITE_P(Of, Lanes, testing::Values(TreeFamily::kAll, TreeFamily::kProjective),
                         [](const auto& family) {
                           return family.param == TreeFamily::kAll ? "AllTrees" : "ProjectiveTrees";
                         });

// Every length, in groups of one length and in groups with shorter sentences.
TEST_P(Lanes, AreTheSame) {
  for_each_target([] {
    for (int n = 1; n <= kMostLaneWords; ++n) {
      for (const bool mixed : {false, true}) {
        std::vector<Problem> problems;
        for (int b = 0; b < static_cast<int>(kLaneGroup); ++b) {
          const int length = mixed ? std::max(1, n - b * b % 11) : n;
          problems.push_back(
              oracle::gaussian(length, 1 + b % 3, static_cast<unsigned>(100 * n + b)));
        }
        const std::vector<ScoreView> views = views_of(problems);
        for (const Root root : kRoots) {
          const std::vector<Found> found = ask(GetParam(), views, root);
          for (std::size_t b = 0; b < problems.size(); ++b) {
            SCOPED_TRACE(testing::Message() << "n = " << n << ", sentence " << b << " of "
                                            << problems[b].n << " words, " << name(root));
            EXPECT_TRUE(found[b].answered);
            expect_same(GetParam(), found[b], views[b], root);
          }
        }
      }
    }
  });
}

// One problem of each family, for some n.
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
    case 12:
      return oracle::attractor_pairs(n, 60, seed);
    case 13:
      return oracle::sparse(n, 0.08, seed);
    default:
      return oracle::heavy_tailed(n, seed);
  }
}
constexpr int kFamilies = 15;

// Any family in any lane, beside any other, with ties, forbidden edges, marginals near 0 and 1, and
// sentences that have no tree or leave double's range.
TEST_P(Lanes, AreTheSameForEveryKindOfScores) {
  int answered = 0;
  int lost = 0;
  int left = 0;
  int tiny = 0;
  for_each_target([&] {
    for (int round = 0; round < 60; ++round) {
      Stream stream(stream_key(static_cast<unsigned>(round), 1), 0, Purpose::kTree);
      std::vector<Problem> problems;
      for (std::size_t b = 0; b < kLaneGroup; ++b) {
        const auto n = 1 + static_cast<int>(kMostLaneWords * stream.uniform());
        const auto family = static_cast<int>(kFamilies * stream.uniform());
        problems.push_back(problem_of(family, n, static_cast<unsigned>(100 * round) + b));
      }
      const std::vector<ScoreView> views = views_of(problems);
      for (const Root root : kRoots) {
        const std::vector<Found> found = ask(GetParam(), views, root);
        for (std::size_t b = 0; b < kLaneGroup; ++b) {
          SCOPED_TRACE(testing::Message() << "round " << round << ", sentence " << b << " of "
                                          << problems[b].n << " words, " << name(root));
          expect_same(GetParam(), found[b], views[b], root);
          ++(!found[b].answered ? left : found[b].outcome.ok() ? answered : lost);
          for (const double p : found[b].marginals) tiny += p > 0 && p < 1e-16 ? 1 : 0;
        }
      }
    }
  });
  const bool all = GetParam() == TreeFamily::kAll;  // Sentences without a tree are lost, else left.
  EXPECT_GT(answered, all ? 10 * left : left);
  EXPECT_TRUE(!all || lost > 0);
  EXPECT_GT(left, 0);
  EXPECT_GT(tiny, 100);
}

// Graphs like those of Range.DoubleIsGivenUpExactlyWhereItMust: what a weight loses by underflow,
// it may owe to the answer. Lanes answer exactly where double is enough.
TEST_P(Lanes, LeaveWhatDoubleCannotHold) {
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
      const Found found = ask(GetParam(), {ScoreView(problem.scores.data(), n)}, root)[0];
      ++(found.answered ? answered : left);
      expect_same(GetParam(), found, ScoreView(problem.scores.data(), n), root);
    }
  }
  EXPECT_GT(answered, 50);
  EXPECT_GT(left, 50);
}

// The bits of an answer are the sentence's own: not those of its neighbors, its lane, the number of
// threads or the width of the vectors.
TEST_P(Lanes, DoNotTouchEachOther) {
  std::vector<Problem> problems;
  for (int b = 0; b < 8; ++b)
    problems.push_back(oracle::gaussian(32 - 4 * b + b % 2, 3, static_cast<unsigned>(7 + b)));
  std::map<std::pair<bool, Root>, std::vector<Found>> of_targets;
  for (const std::int64_t target : compiled_targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const TargetScope scope(target);
    for (const Root root : kRoots) {
      const std::vector<ScoreView> views = views_of(problems);
      const std::vector<Found> together = ask(GetParam(), views, root);
      for (std::size_t b = 0; b < 8; ++b) {
        EXPECT_TRUE(together[b].answered);
        EXPECT_EQ(ask(GetParam(), {views[b]}, root)[0], together[b]) << b;
        EXPECT_EQ(ask(GetParam(), {views[0], views[7], views[b]}, root)[2], together[b]) << b;
      }
      std::vector<ScoreView> turned(views.rbegin(), views.rend());
      const std::vector<Found> backwards = ask(GetParam(), turned, root);
      for (std::size_t b = 0; b < 8; ++b) EXPECT_EQ(backwards[7 - b], together[b]) << b;
      const auto [known, fresh] =
          of_targets.try_emplace({has_fused_multiply_add(target), root}, together);
      EXPECT_TRUE(fresh || known->second == together);
    }
  }
}

// A sentence that cannot be answered leaves its neighbors and its own output alone.
TEST_P(Lanes, LeaveBadSentences) {
  for_each_target([] {
    for (const Root root : kRoots) {
      for (int bad = 0; bad < 9; ++bad) {
        SCOPED_TRACE(testing::Message() << "bad " << bad << " " << name(root));
        std::vector<Problem> problems;
        for (int b = 0; b < 8; ++b)
          problems.push_back(oracle::gaussian(9 + b % 4, 2, static_cast<unsigned>(30 + b)));
        const std::vector<Found> before = ask(GetParam(), views_of(problems), root);
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
        const std::vector<Found> after = ask(GetParam(), views_of(problems), root);
        for (std::size_t b = 0; b < 8; ++b) {
          if (b == 3) {
            expect_same(GetParam(), after[b], ScoreView(problem.scores.data(), problem.n), root);
            EXPECT_TRUE(bad == 7 || !after[b].answered || !after[b].outcome.ok());
          } else {
            EXPECT_TRUE(after[b] == before[b]) << b;
          }
        }
      }
    }
  });
}

// What is in column 0 and on the diagonal is ignored.
TEST_P(Lanes, IgnoreWhatIsNoEdge) {
  Problem problem = oracle::gaussian(11, 2, 5);
  const Found expected = ask(GetParam(), views_of({problem}), Root::kSingle)[0];
  const std::size_t side = node_count(problem.n);
  for (std::size_t i = 0; i < side; ++i) {
    problem.scores[i * side] = NAN;
    problem.scores[i * side + i] = HUGE_VAL;
  }
  EXPECT_TRUE(ask(GetParam(), views_of({problem}), Root::kSingle)[0] == expected);
}

// float32 and any strides, read in place.
TEST_P(Lanes, ReadAnyView) {
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
        const std::vector<Found> found = ask(GetParam(), views, root);
        for (const Found& other : found) EXPECT_TRUE(other == found[0]) << n;
      }
    }
  });
}

}  // namespace
}  // namespace taproot::detail
