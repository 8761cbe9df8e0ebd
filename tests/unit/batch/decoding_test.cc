// SPDX-License-Identifier: Apache-2.0
//
// What the battery in dependency_trees_test.cc does not ask.
#include <gtest/gtest.h>

#include <algorithm>

#include "taproot/taproot.h"
#include "unit/batch/labels.h"
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

TEST_F(Labeled, DecodedTreesHaveTheirBestLabels) {
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
    d.kbest(4, true, ranked);
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

}  // namespace
}  // namespace taproot
