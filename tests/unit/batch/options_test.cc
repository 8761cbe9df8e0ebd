// SPDX-License-Identifier: Apache-2.0
//
// Batches with labels and constraints are batches of the scores that come of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "property/check.h"
#include "testing/misuse.h"
#include "unit/batch/labels.h"
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

// What has nothing to do with decoding is asked of the summed scores.
TEST_F(Labeled, QueriesAreThoseOfTheScoresThatComeOfThem) {
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
