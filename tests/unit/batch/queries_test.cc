// SPDX-License-Identifier: Apache-2.0
//
// What the battery in dependency_trees_test.cc does not ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "taproot/taproot.h"
#include "testing/misuse.h"
#include "unit/batch/labels.h"
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

TEST_F(Labeled, LabelMarginalsSplitTheMarginals) {
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

TEST_F(Labeled, LogProbOfLabeledTrees) {
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

TEST(Queries, CompareOnlyBatchesThatGoTogether) {
  const Sentences sentences(4);
  Pool pool(1);
  DependencyTrees d(pool, sentences.views());
  std::vector<double> out(4);
  DependencyTrees multi(pool, sentences.views(), {.root = RootRule::kMulti});
  std::vector<ScoreView> views = sentences.views();
  std::rotate(views.begin(), views.begin() + 1, views.end());
  DependencyTrees shifted(pool, views);
  views.pop_back();
  DependencyTrees fewer(pool, views);
  for (DependencyTrees* q : {&multi, &shifted, &fewer}) {
    expect_misuse("cross_entropy", [&] { d.cross_entropy(*q, out); });
    expect_misuse("kl_divergence", [&] { d.kl_divergence(*q, out); });
  }
  d.kl_divergence(d, out);  // With itself, at the first question.
  EXPECT_EQ(out, std::vector<double>(4, 0.0));
}

// A sentence has the outcome of the first of the two batches that has no answer for it.
TEST(Queries, ComparedBatchesShareTheirOutcomes) {
  const Sentences sentences(8);
  std::vector<double> nothing(1024, -HUGE_VAL);
  std::vector<ScoreView> views = sentences.views();
  views[2] = ScoreView(nothing.data(), views[2].n());
  for (const bool keep : {true, false}) {
    Pool pool(2);
    DependencyTrees p(pool, sentences.views(), {.keep = keep});
    DependencyTrees q(pool, views, {.keep = keep});
    std::vector<double> out(8);
    for (const auto& [a, b] : {std::pair(&p, &q), std::pair(&q, &p)}) {
      const std::vector<Outcome> outcomes = a->kl_divergence(*b, out);
      for (std::size_t i = 0; i < 8; ++i) {
        const bool lost = i == 2 || i == 5;
        EXPECT_EQ(outcomes[i].status, lost ? Status::kNoTree : Status::kOk) << i;
        EXPECT_EQ(std::isnan(out[i]), lost) << i;
      }
    }
  }
}

}  // namespace
}  // namespace taproot
