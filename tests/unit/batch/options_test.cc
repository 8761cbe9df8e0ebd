// SPDX-License-Identifier: Apache-2.0
//
// Batches with labels and constraints are batches of the scores that come of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "property/check.h"
#include "testing/linear_congruential.h"
#include "testing/misuse.h"
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

constexpr int kLabels = 3;

// Label scores for every sentence, some of them forbidden.
class Labels {
 public:
  explicit Labels(const Sentences& sentences) {
    LinearCongruential random(11);
    for (const ScoreView& view : sentences.views()) {
      const auto side = static_cast<std::size_t>(view.n()) + 1;
      data_.emplace_back(side * side * kLabels);
      for (double& s : data_.back()) s = random.below(7) == 0 ? -HUGE_VAL : 2 * random.uniform();
      // One label is left to every edge.
      for (std::size_t i = 0; i < data_.back().size(); i += kLabels) data_.back()[i] = 0.5;
      views_.emplace_back(data_.back().data(), view.n(), kLabels);
    }
  }
  const std::vector<LabelView>& views() const { return views_; }

 private:
  std::vector<std::vector<double>> data_;
  std::vector<LabelView> views_;
};

// The scores of a batch with its labels summed out or maximized, and constraints applied.
class Applied {
 public:
  Applied(const Sentences& sentences, const std::vector<LabelView>& labels, LabelSum sum,
          const std::vector<Constraints>& constraints)
      : memory_(sentences.size()), views_(sentences.views()) {
    for (std::size_t b = 0; b < views_.size(); ++b) {
      if (!labels.empty()) views_[b] = add_labels(views_[b], labels[b], sum, memory_[b]);
      if (!constraints.empty()) views_[b] = constraints[b].apply(views_[b], memory_[b]);
    }
  }
  const std::vector<ScoreView>& views() const { return views_; }

 private:
  std::vector<std::vector<double>> memory_;
  std::vector<ScoreView> views_;
};

// Every second sentence may not have its last word as a root, every third must have it below the
// first word.
std::vector<Constraints> some_constraints(const Sentences& sentences) {
  std::vector<Constraints> constraints(sentences.size());
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    const int n = sentences.views()[b].n();
    if (n < 3) continue;
    if (b % 2 == 0) constraints[b].forbid(0, n);
    if (b % 3 == 0) constraints[b].force(1, n);
  }
  return constraints;
}

class Options : public testing::Test {
 protected:
  Options() : labels_(sentences_), constraints_(some_constraints(sentences_)) {}

  Sentences sentences_;
  Labels labels_;
  std::vector<Constraints> constraints_;
};

// What has nothing to do with decoding is asked of the summed scores.
TEST_F(Options, QueriesAreThoseOfTheScoresThatComeOfThem) {
  const std::vector<LabelView> none;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const auto& [labels, constraints] :
         {std::pair(&labels_.views(), std::vector<Constraints>()), std::pair(&none, constraints_),
          std::pair(&labels_.views(), constraints_)}) {
      const Applied summed(sentences_, *labels, LabelSum::kLogSum, constraints);
      const Applied best(sentences_, *labels, LabelSum::kMax, constraints);
      for (const int threads : {1, 2, 7}) {
        Pool pool(threads);
        DependencyTrees d(pool, sentences_.views(),
                          {.root = root, .labels = *labels, .constraints = constraints});
        DependencyTrees plain(pool, summed.views(), {.root = root});
        DependencyTrees decoded(pool, best.views(), {.root = root});
        EXPECT_EQ(d.label_count(), labels->empty() ? 0 : kLabels);
        for (std::size_t b = 0; b < d.size(); ++b) {
          const ScoreView& decodes = d.decode_scores(b);
          ASSERT_EQ(decodes.n(), d.n(b));
          for (int m = 1; m <= d.n(b) && Sentences::outcome(b).ok(); ++m) {
            EXPECT_EQ(decodes(m - 1, m), best.views()[b](m - 1, m));
          }
        }
        for (const Question& question : all_questions(root)) {
          SCOPED_TRACE(question.name);
          // Decoders see the best label of every edge, and their probabilities are those of
          // labeled trees: see below.
          const bool decodes = question.name == "argmax" || question.name == "kbest";
          if (!labels->empty() && !decodes &&
              (question.name.find("best") != std::string::npos ||
               question.name.find("argmax") != std::string::npos || question.name == "mbr")) {
            continue;
          }
          std::vector<Row> rows(d.size());
          std::vector<Row> expected(d.size());
          const std::vector<Outcome> outcomes = question.ask(d, rows);
          EXPECT_EQ(outcomes, question.ask(decodes ? decoded : plain, expected));
          for (std::size_t b = 0; b < d.size(); ++b) {
            EXPECT_TRUE(same(rows[b], expected[b])) << b;
          }
        }
      }
    }
  }
}

TEST_F(Options, SampledTreesHaveSampledLabels) {
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

TEST_F(Options, DecodedTreesHaveTheirBestLabels) {
  const Applied summed(sentences_, labels_.views(), LabelSum::kLogSum, {});
  const Applied best(sentences_, labels_.views(), LabelSum::kMax, {});
  Pool pool(2);
  for (const bool ask_labels : {true, false}) {
    DependencyTrees d(pool, sentences_.views(), {.labels = labels_.views()});
    const TreeMemory top(d, 1, ask_labels, true, true);
    const TreeMemory risk(d, 1, ask_labels, true, true);
    std::vector<BestTrees> ranked(d.size());
    d.argmax(top.out());
    d.mbr(risk.out());
    d.kbest(4, ranked, true);
    EXPECT_TRUE(top.gaps_untouched() && risk.gaps_untouched());
    for (std::size_t b = 0; b < d.size(); ++b) {
      if (!Sentences::outcome(b).ok()) {
        EXPECT_TRUE(is_lost(top.row(b)) && is_lost(risk.row(b)));
        EXPECT_EQ(ranked[b].size(), 0U);
        continue;
      }
      const Factorization f = eliminate(summed.views()[b]);
      const LabelView& labels = d.labels(b);
      std::vector<std::int32_t> of(words(d, b));
      const auto expect_tree = [&](TreeView heads, TreeView given, double log_p) {
        best_labels(labels, heads, of);
        if (!given.empty()) {
          EXPECT_TRUE(std::equal(of.begin(), of.end(), given.begin()));
        }
        EXPECT_EQ(log_p, log_prob(f, heads) + labels_log_prob(labels, heads, of));
      };
      const ScoredTree alone = argmax(best.views()[b]);
      EXPECT_TRUE(std::equal(alone.heads.begin(), alone.heads.end(), top.heads(b, 0).begin()));
      EXPECT_EQ(top.score(b, 0), alone.score);
      const TreeView none;
      expect_tree(top.heads(b, 0), ask_labels ? top.labels(b, 0) : none, top.log_prob(b, 0));
      const Tree safe = mbr(f);
      EXPECT_TRUE(std::equal(safe.begin(), safe.end(), risk.heads(b, 0).begin()));
      EXPECT_EQ(risk.score(b, 0), score(best.views()[b], safe));
      expect_tree(safe, ask_labels ? risk.labels(b, 0) : none, risk.log_prob(b, 0));
      ASSERT_EQ(ranked[b].labels.size(), ranked[b].heads.size());
      for (std::size_t i = 0; i < ranked[b].size(); ++i) {
        expect_tree(ranked[b][i], TreeView(ranked[b].labels).subspan(i * words(d, b), words(d, b)),
                    ranked[b].log_prob[i]);
      }
    }
  }
}

TEST_F(Options, LabelMarginalsSplitTheMarginals) {
  const Applied summed(sentences_, labels_.views(), LabelSum::kLogSum, constraints_);
  for (const int threads : {1, 2}) {
    Pool pool(threads);
    DependencyTrees d(pool, sentences_.views(),
                      {.labels = labels_.views(), .constraints = constraints_});
    for (int again = 0; again < 2; ++again) {
      const EdgeMemory memory(d, kLabels);
      const std::vector<Outcome> outcomes = d.label_marginals(memory.out());
      for (std::size_t b = 0; b < d.size(); ++b) {
        EXPECT_EQ(outcomes[b], Sentences::outcome(b)) << b;
        if (!outcomes[b].ok()) {
          EXPECT_TRUE(is_lost(memory.row(b)));
          continue;
        }
        const Row edges = marginals(eliminate(summed.views()[b]));
        Row expected(edges.size() * kLabels);
        label_marginals(labels_.views()[b], edges, expected);
        EXPECT_TRUE(same(memory.row(b), expected)) << b;
      }
    }
  }
}

TEST_F(Options, LogProbOfLabeledTrees) {
  Pool pool(2);
  DependencyTrees d(pool, sentences_.views(), {.labels = labels_.views()});
  const TreeMemory memory(d, 3, true, true, false);
  d.sample(3, {}, memory.out());
  std::vector<TreeBuffer> heads;
  std::vector<TreeBuffer> labels;
  std::vector<std::vector<double>> values(d.size(), std::vector<double>(3, kUntouched));
  std::vector<double*> out;
  for (std::size_t b = 0; b < d.size(); ++b) {
    heads.push_back({memory.out()[b].heads, memory.out()[b].stride});
    labels.push_back({memory.out()[b].labels, memory.out()[b].stride});
    out.push_back(values[b].data());
  }
  const auto expect_given = [&] {
    const std::vector<Outcome> outcomes = d.log_prob(3, heads, labels, out);
    for (std::size_t b = 0; b < d.size(); ++b) {
      EXPECT_EQ(outcomes[b], Sentences::outcome(b));
      for (std::size_t s = 0; s < 3; ++s) {
        if (outcomes[b].ok() && memory.heads(b, s)[0] != -1) {
          EXPECT_EQ(values[b][s], memory.log_prob(b, s));
        } else {
          EXPECT_TRUE(std::isnan(values[b][s]));
        }
      }
    }
  };
  expect_given();
  memory.out()[0].heads[0] = -1;  // Not there, whatever its labels.
  memory.out()[0].labels[0] = 99;
  expect_given();
  memory.out()[1].labels[0] = kLabels;
  EXPECT_THROW(d.log_prob(3, heads, labels, out), std::invalid_argument);
  memory.out()[1].labels[0] = 0;
  memory.out()[1].heads[0] = 99;
  EXPECT_THROW(d.log_prob(3, heads, labels, out), std::invalid_argument);
  DependencyTrees plain(pool, sentences_.views());
  expect_misuse("log_prob", [&] { plain.log_prob(3, heads, labels, out); });
}

// A NaN among the labels of an edge is a bad score of that edge, and of its sentence alone.
TEST(Labels, BadOnesAreBadScores) {
  const oracle::Problem problem = oracle::gaussian(3, 1, 1);
  std::vector<float> good(16 * kLabels, 0.0F);
  std::vector<float> bad = good;
  bad[(2 * 4 + 1) * kLabels + 2] = NAN;
  Pool pool(2);
  DependencyTrees d(
      pool, std::vector<ScoreView>(2, ScoreView(problem.scores.data(), 3)),
      {.labels = {LabelView(bad.data(), 3, kLabels), LabelView(good.data(), 3, kLabels)}});
  std::vector<double> out(2);
  const std::vector<Outcome> outcomes = d.entropy(out);
  EXPECT_EQ(outcomes[0], (Outcome{Status::kBadScore, 2, 1}));
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_TRUE(outcomes[1].ok());
  EXPECT_GT(out[1], 0);
}

// Constraints that contradict each other leave no tree in their sentence; a partial tree of the
// wrong length is misuse.
TEST(BatchConstraints, Contradict) {
  const oracle::Problem problem = oracle::gaussian(4, 1, 1);
  const std::vector<ScoreView> views(2, ScoreView(problem.scores.data(), 4));
  Pool pool(2);
  std::vector<Constraints> constraints(2);
  constraints[1].force(1, 2).force(2, 1);
  DependencyTrees d(pool, views, {.constraints = constraints});
  std::vector<double> out(2);
  const std::vector<Outcome> outcomes = d.log_partition(out);
  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_EQ(out[0], log_partition(eliminate(views[0])));
  EXPECT_EQ(outcomes[1].status, Status::kNoTree);
  constraints[1] = Constraints().force_partial_tree(Tree{-1, -1, 0});
  EXPECT_THROW(DependencyTrees(pool, views, {.constraints = constraints}), std::invalid_argument);
}

}  // namespace
}  // namespace taproot
