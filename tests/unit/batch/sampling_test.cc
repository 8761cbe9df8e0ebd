// SPDX-License-Identifier: Apache-2.0
//
// Trees of a batch by id; limits, statistics, and few sentences with many trees.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "property/check.h"
#include "testing/misuse.h"
#include "unit/batch/labels.h"
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

// The rows of each id: labels, log_prob and all.
std::map<std::uint64_t, Row> by_id(Pool& pool, const std::vector<ScoreView>& views,
                                   const std::vector<std::uint64_t>& ids, std::size_t k) {
  DependencyTrees d(pool, views, {.ids = ids});
  const TreeMemory memory(d, k, false, true, false);
  d.sample(k, {Algorithm::kAuto, 5}, memory.out());
  std::vector<WithoutReplacementSample> distinct(d.size());
  d.sample_without_replacement(5, {WithoutReplacementAlgorithm::kAuto, 5}, distinct);
  std::map<std::uint64_t, Row> rows;
  for (std::size_t b = 0; b < d.size(); ++b) {
    rows[d.id(b)] = memory.row(b);
    append(rows[d.id(b)], distinct[b].heads);
  }
  return rows;
}

bool same(const std::map<std::uint64_t, Row>& a, const std::map<std::uint64_t, Row>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && taproot::same(x.second, y.second);
  });
}

// However a corpus is split, ordered and spread over threads.
TEST(Sampling, TreesGoWithTheirIds) {
  const Sentences sentences;
  const std::size_t size = sentences.size();
  for (const std::uint64_t offset :
       {std::uint64_t{0}, (std::uint64_t{1} << 32) - 20, std::uint64_t{1} << 63}) {
    std::vector<std::uint64_t> ids(size);
    for (std::size_t b = 0; b < size; ++b) ids[b] = offset + b;
    Pool one(1);
    const auto whole =
        by_id(one, sentences.views(), offset == 0 ? std::vector<std::uint64_t>() : ids, 30);
    ASSERT_EQ(whole.size(), size);
    for (const int threads : {1, 2, 7}) {
      Pool pool(threads);
      std::map<std::uint64_t, Row> pieces;
      for (const auto& [begin, end] :
           {std::pair<std::size_t, std::size_t>{14, size}, {3, 14}, {0, 3}}) {
        std::vector<ScoreView> views;
        std::vector<std::uint64_t> some;
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t b = begin + (i - begin) * 5 % (end - begin);  // Shuffled.
          views.push_back(sentences.views()[b]);
          some.push_back(ids[b]);
        }
        pieces.merge(by_id(pool, views, some, 30));
      }
      EXPECT_TRUE(same(pieces, whole)) << threads;
    }
    // Other ids, other trees.
    std::reverse(ids.begin(), ids.end());
    EXPECT_FALSE(same(by_id(one, sentences.views(), ids, 30), whole));
  }
}

// All 64 bits of an id count.
TEST(Sampling, IdsThatAgreeInTheirLowHalvesHaveTreesOfTheirOwn) {
  const oracle::Problem problem = oracle::gaussian(20, 1, 1);
  const std::vector<ScoreView> views(3, ScoreView(problem.scores.data(), 20));
  Pool pool(1);
  const auto rows =
      by_id(pool, views, {7, (std::uint64_t{1} << 32) + 7, (std::uint64_t{1} << 63) + 7}, 10);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(taproot::same(rows.at(7), rows.at((std::uint64_t{1} << 32) + 7)));
  EXPECT_FALSE(taproot::same(rows.at(7), rows.at((std::uint64_t{1} << 63) + 7)));
}

// Few sentences with many trees, which the threads share out: one piece or many, the same trees.
TEST(Sampling, TreesOfOneSentenceAreSharedOut) {
  const Sentences sentences(7);  // Sentence 5 has no tree.
  constexpr std::size_t kTrees = 2500;
  for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kColbourn}) {
    std::vector<Row> expected(sentences.size());
    SampleStatistics added;
    for (std::size_t b = 0; b < sentences.size(); ++b) {
      if (!Sentences::outcome(b).ok()) continue;
      const ScoreView& view = sentences.views()[b];
      const Factorization f = eliminate(view);
      Sampler sampler;
      Workspace workspace;
      sampler.build(f, algorithm, workspace);
      std::vector<std::int32_t> heads(kTrees * static_cast<std::size_t>(view.n()));
      sampler.sample(b, {algorithm, 3}, kTrees, {heads.data(), view.n()}, {}, &added, workspace);
      append(expected[b], heads);
    }
    for (const int threads : {1, 2, 7}) {
      for (const bool keep : {true, false}) {
        Pool pool(threads);
        DependencyTrees d(pool, sentences.views(), {.keep = keep});
        for (int again = 0; again < 3; ++again) {
          const TreeMemory memory(d, kTrees, false, false, false);
          SampleStatistics statistics{1, 2, 3, 4};
          const std::vector<Outcome> outcomes =
              d.sample(kTrees, {algorithm, 3}, memory.out(), &statistics);
          for (std::size_t b = 0; b < d.size(); ++b) {
            EXPECT_EQ(outcomes[b], Sentences::outcome(b));
            if (outcomes[b].ok()) {
              EXPECT_TRUE(taproot::same(memory.row(b), expected[b])) << b;
            } else {
              EXPECT_TRUE(is_lost(memory.row(b)));
            }
          }
          EXPECT_EQ(statistics.trees, 1 + added.trees);
          EXPECT_EQ(statistics.steps, 2 + added.steps);
          EXPECT_EQ(statistics.tries, 3 + added.tries);
          EXPECT_EQ(statistics.fallbacks, 4 + added.fallbacks);
        }
      }
    }
  }
}

TEST(Sampling, StatisticsAddUpOverSentences) {
  const Sentences sentences;
  SampleStatistics added;
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    if (!Sentences::outcome(b).ok()) continue;
    const Factorization f = eliminate(sentences.views()[b]);
    Sampler sampler;
    Workspace workspace;
    sampler.build(f, Algorithm::kAuto, workspace);
    std::vector<std::int32_t> heads(20 * static_cast<std::size_t>(f.n()));
    sampler.sample(b, {}, 20, {heads.data(), f.n()}, {}, &added, workspace);
  }
  for (const int threads : {1, 2}) {
    Pool pool(threads);
    DependencyTrees d(pool, sentences.views());
    const TreeMemory memory(d, 20, false, false, false);
    SampleStatistics statistics;
    d.sample(20, {}, memory.out(), &statistics);
    EXPECT_EQ(statistics.trees, 25U * 20);
    EXPECT_EQ(statistics.trees, added.trees);
    EXPECT_EQ(statistics.steps, added.steps);
    EXPECT_EQ(statistics.tries, added.tries);
    EXPECT_EQ(statistics.fallbacks, added.fallbacks);
  }
}

// A sentence that meets the limit keeps the trees that did not, and harms no other sentence.
TEST(Sampling, TreesThatMeetTheStepLimitAreNotThere) {
  const oracle::Problem easy = oracle::gaussian(6, 1, 1);
  const oracle::Problem hard = oracle::attractor_pairs(6, 40, 1);
  const oracle::Problem between = oracle::attractor_pairs(6, 6, 1);
  const std::vector<ScoreView> views{ScoreView(easy.scores.data(), 6),
                                     ScoreView(hard.scores.data(), 6),
                                     ScoreView(between.scores.data(), 6)};
  const SampleOptions options{Algorithm::kWilsonMarginal, 1, 400};
  // Sentence by sentence, and tree by tree.
  for (const std::size_t k : {std::size_t{100}, std::size_t{5000}}) {
    for (const int threads : {1, 2}) {
      Pool pool(threads);
      DependencyTrees d(pool, views);
      const TreeMemory memory(d, k, false, true, false);
      SampleStatistics statistics;
      const std::vector<Outcome> outcomes = d.sample(k, options, memory.out(), &statistics);
      EXPECT_TRUE(memory.gaps_untouched());
      EXPECT_EQ(statistics.trees, 3 * k);
      EXPECT_EQ(outcomes[0], Outcome{});
      EXPECT_EQ(outcomes[1], Outcome{Status::kStepLimit});
      EXPECT_EQ(outcomes[2], Outcome{Status::kStepLimit});
      EXPECT_TRUE(is_lost(memory.row(1)));
      for (const std::size_t b : {std::size_t{0}, std::size_t{2}}) {
        const Factorization f = eliminate(views[b]);
        Sampler sampler;
        Workspace workspace;
        sampler.build(f, options.algorithm, workspace);
        std::vector<std::int32_t> heads(k * 6, -1);
        std::vector<Status> statuses(k);
        const std::size_t written =
            sampler.sample(b, options, k, {heads.data(), 6}, statuses, nullptr, workspace);
        EXPECT_GT(written, 0U);
        EXPECT_EQ(written == k, b == 0);
        for (std::size_t s = 0; s < k; ++s) {
          const TreeView tree = TreeView(heads).subspan(6 * s, 6);
          EXPECT_TRUE(std::equal(tree.begin(), tree.end(), memory.heads(b, s).begin()));
          if (statuses[s] == Status::kOk) {
            EXPECT_EQ(memory.log_prob(b, s), log_prob(f, tree));
          } else {
            EXPECT_TRUE(std::isnan(memory.log_prob(b, s)));
          }
        }
      }
    }
  }
}

TEST(Sampling, RefusesMisuseWhateverTheData) {
  Pool pool(1);
  DependencyTrees none(pool, {});
  expect_misuse("sample", [&] { none.sample(1, {Algorithm::kWilson}, {}); });
  DependencyTrees multi(pool, {}, {.root = RootRule::kMulti});
  for (const Algorithm algorithm :
       {Algorithm::kWilsonMarginal, Algorithm::kWilsonReject, Algorithm::kWilsonRc}) {
    expect_misuse("sample", [&] { multi.sample(1, {algorithm}, {}); });
  }
  expect_misuse("sample", [&] {
    none.sample(2, {Algorithm::kAuto, 0, 0, 0xffffffff}, {});  // Trees have 32 bits.
  });
}

TEST(Sampling, NoTreesAreSampledWhereNoneAreAskedFor) {
  const Sentences sentences;
  Pool pool(2);
  DependencyTrees d(pool, sentences.views());
  const TreeMemory memory(d, 0, false, true, false);
  SampleStatistics statistics;
  const std::vector<Outcome> outcomes = d.sample(0, {}, memory.out(), &statistics);
  for (std::size_t b = 0; b < d.size(); ++b) EXPECT_EQ(outcomes[b], Sentences::outcome(b));
  EXPECT_EQ(statistics.trees, 0U);
  std::vector<WithoutReplacementSample> distinct(d.size());
  d.sample_without_replacement(0, {}, distinct);
  for (std::size_t b = 0; b < d.size(); ++b) EXPECT_EQ(distinct[b].size(), 0U);
}

TEST(Sampling, ListSaysThatItLostTrees) {
  const double x = -HUGE_VAL;
  const std::vector<double> scores{x, 0, -25, x, x, 0, x, 0, x};
  const oracle::Problem other = oracle::gaussian(4, 1, 1);
  Pool pool(2);
  DependencyTrees d(pool, {ScoreView(scores.data(), 2), ScoreView(other.scores.data(), 4)});
  std::vector<WithoutReplacementSample> out(2);
  const WithoutReplacementOptions list{WithoutReplacementAlgorithm::kList, 1};
  EXPECT_EQ(d.sample_without_replacement(1, list, out), std::vector<Outcome>(2));
  const std::vector<Outcome> outcomes = d.sample_without_replacement(2, list, out);
  EXPECT_EQ(outcomes[0], Outcome{Status::kNumericalLoss});
  EXPECT_EQ(out[0].size(), 1U);  // What there is.
  EXPECT_TRUE(outcomes[1].ok());
  EXPECT_EQ(out[1].size(), 2U);
}

TEST_F(Labeled, SampledTreesHaveSampledLabels) {
  constexpr std::size_t kTrees = 30;
  std::vector<std::uint64_t> ids(sentences_.size());
  for (std::size_t b = 0; b < ids.size(); ++b) ids[b] = (std::uint64_t{1} << 33) + 5 * b;
  const Applied summed(sentences_, labels_.views(), LabelSum::kLogSum, {});
  for (const int threads : {1, 2, 7}) {
    Pool pool(threads);
    DependencyTrees d(pool, sentences_.views(), {.labels = labels_.views(), .ids = ids});
    const TreeMemory memory(d, kTrees, true, true, false);
    const SampleOptions options{Algorithm::kAuto, 9, 0, 100};
    const std::vector<Outcome> outcomes = d.sample(kTrees, options, memory.out());
    EXPECT_TRUE(memory.gaps_untouched());
    std::vector<WithoutReplacementSample> distinct(d.size());
    d.sample_without_replacement(5, {WithoutReplacementAlgorithm::kAuto, 9}, distinct);
    for (std::size_t b = 0; b < d.size(); ++b) {
      EXPECT_EQ(outcomes[b], Sentences::outcome(b));
      if (!outcomes[b].ok()) {
        EXPECT_TRUE(is_lost(memory.row(b)));
        EXPECT_TRUE(distinct[b].labels.empty());
        continue;
      }
      const Factorization f = eliminate(summed.views()[b]);
      const LabelView& labels = d.labels(b);
      std::vector<std::int32_t> of(words(d, b));
      for (std::size_t s = 0; s < kTrees; ++s) {
        sample_labels(labels, memory.heads(b, s), 9, ids[b], static_cast<std::uint32_t>(100 + s),
                      of);
        EXPECT_TRUE(std::equal(of.begin(), of.end(), memory.labels(b, s).begin()));
        EXPECT_EQ(memory.log_prob(b, s), log_prob(f, memory.heads(b, s)) +
                                             labels_log_prob(labels, memory.heads(b, s), of));
      }
      ASSERT_EQ(distinct[b].labels.size(), distinct[b].heads.size());
      for (std::size_t s = 0; s < distinct[b].size(); ++s) {
        sample_labels(labels, distinct[b][s], 9, ids[b], static_cast<std::uint32_t>(s), of);
        EXPECT_TRUE(
            std::equal(of.begin(), of.end(),
                       distinct[b].labels.begin() + static_cast<std::ptrdiff_t>(s * words(d, b))));
        EXPECT_EQ(distinct[b].log_prob[s], log_prob(f, distinct[b][s]));  // Of the heads alone.
      }
    }
  }
}

}  // namespace
}  // namespace taproot
