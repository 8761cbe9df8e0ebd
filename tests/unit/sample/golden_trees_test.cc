// SPDX-License-Identifier: Apache-2.0
//
// The trees that seeds give are part of the format: tests/golden/trees.json pins them.
#include "testing/golden_trees.h"
#include "testing/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::GoldenFile;
using oracle::GoldenGraph;
using oracle::GoldenTrees;

const GoldenFile& golden() {
  static const GoldenFile file = oracle::load_golden_trees(oracle::golden_file("trees.json"));
  return file;
}

TEST(GoldenTrees, AreSampledOnEveryTarget) {
  for (const std::int64_t target : compiled_targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const TargetScope scope(target);
    for (const GoldenTrees& expected : golden().cases) {
      if (expected.needs_fused_multiply_add && !has_fused_multiply_add(target)) continue;
      std::string difference;
      EXPECT_TRUE(agree(expected, oracle::sampled(expected, golden().graphs.at(expected.graph)),
                        difference))
          << expected.name() << ": " << difference;
    }
  }
}

// All cases of one kind as a batch, in which every sentence has its case's id.
TEST(GoldenTrees, AreSampledInBatches) {
  Pool pool(2);
  std::size_t tested = 0;
  for (std::size_t first = 0; first < golden().cases.size(); ++first) {
    const GoldenTrees& kind = golden().cases[first];
    std::vector<const GoldenTrees*> cases;
    std::vector<ScoreView> scores;
    BatchOptions options{.root = kind.root, .projective = kind.family == TreeFamily::kProjective};
    const bool labeled = golden().graphs.at(kind.graph).labels > 0;
    bool is_first = true;
    for (std::size_t i = 0; i < golden().cases.size(); ++i) {
      const GoldenTrees& other = golden().cases[i];
      const GoldenGraph& graph = golden().graphs.at(other.graph);
      if (other.root != kind.root || other.family != kind.family ||
          other.replacement != kind.replacement || other.algorithm != kind.algorithm ||
          other.seed != kind.seed || other.k != kind.k || other.first_tree != kind.first_tree ||
          (graph.labels > 0) != labeled) {
        continue;
      }
      is_first = is_first && i >= first;
      cases.push_back(&other);
      scores.emplace_back(graph.scores.data(), graph.n);
      options.ids.push_back(other.id);
      if (labeled) {
        options.labels.emplace_back(graph.label_scores.data(), graph.n, graph.labels);
      }
    }
    if (!is_first) continue;  // This kind was tested.
    tested += cases.size();
    DependencyTrees d(pool, scores, options);
    if (kind.replacement) {
      std::vector<std::vector<std::int32_t>> heads;
      std::vector<std::vector<std::int32_t>> labels;
      std::vector<TreeOutput> out;
      for (const ScoreView& view : scores) {
        heads.emplace_back(kind.k * static_cast<std::size_t>(view.n()));
        labels.emplace_back(heads.back().size());
        out.push_back({heads.back().data(), view.n(), labeled ? labels.back().data() : nullptr});
      }
      d.sample(kind.k, {algorithm_named(kind.algorithm), kind.seed, 0, kind.first_tree}, out);
      for (std::size_t b = 0; b < cases.size(); ++b) {
        const auto n = static_cast<std::size_t>(scores[b].n());
        for (std::size_t s = 0; s < kind.k; ++s) {
          EXPECT_TRUE(std::equal(cases[b]->trees[s].begin(), cases[b]->trees[s].end(),
                                 heads[b].begin() + static_cast<std::ptrdiff_t>(s * n)))
              << cases[b]->name();
          if (!labeled) continue;
          EXPECT_TRUE(std::equal(cases[b]->labels[s].begin(), cases[b]->labels[s].end(),
                                 labels[b].begin() + static_cast<std::ptrdiff_t>(s * n)))
              << cases[b]->name();
        }
      }
    } else {
      std::vector<WithoutReplacementSample> out(d.size());
      d.sample_without_replacement(
          kind.k, {without_replacement_algorithm_named(kind.algorithm), kind.seed}, out);
      for (std::size_t b = 0; b < cases.size(); ++b) {
        ASSERT_EQ(out[b].size(), cases[b]->trees.size()) << cases[b]->name();
        for (std::size_t s = 0; s < out[b].size(); ++s) {
          EXPECT_EQ(Tree(out[b][s].begin(), out[b][s].end()), cases[b]->trees[s])
              << cases[b]->name();
        }
      }
    }
  }
  EXPECT_EQ(tested, golden().cases.size());
}

// The file holds what it should: every algorithm under every root rule that it goes with, ids
// beyond 32 bits, walks that auto gave up and walks that it did not.
TEST(GoldenTrees, CoverTheFormat) {
  std::set<std::string> kinds;
  bool large_id = false;
  bool gave_up_all = false;
  bool gave_up_some = false;
  for (const GoldenTrees& entry : golden().cases) {
    const bool projective = entry.family == TreeFamily::kProjective;
    kinds.insert(std::string(projective ? "projective " : "") + std::string(to_string(entry.root)) +
                 (entry.replacement ? " with " : " without ") + entry.algorithm);
    large_id = large_id || entry.id >> 32 != 0;
    if (entry.replacement && entry.algorithm == "auto" && !projective) {
      gave_up_all = gave_up_all || entry.fallbacks == entry.k;
      gave_up_some = gave_up_some || (entry.fallbacks > 5 && entry.fallbacks + 5 < entry.k);
    }
    EXPECT_EQ(entry.exhausted, entry.kappa == -HUGE_VAL) << entry.name();
    for (const Tree& tree : entry.trees) {
      EXPECT_TRUE(is_tree(tree, entry.root)) << entry.name();
      EXPECT_TRUE(!projective || is_projective(tree)) << entry.name();
    }
  }
  for (const char* kind : {"single with auto",
                           "single with elimination",
                           "single with colbourn",
                           "single with wilson-marginal",
                           "single with wilson-reject",
                           "single with wilson-rc",
                           "multi with auto",
                           "multi with elimination",
                           "multi with colbourn",
                           "multi with wilson",
                           "single without auto",
                           "single without trie",
                           "single without beam",
                           "single without list",
                           "multi without auto",
                           "multi without trie",
                           "multi without beam",
                           "multi without list",
                           "projective single with auto",
                           "projective single without auto",
                           "projective single without trie",
                           "projective single without beam",
                           "projective multi with auto",
                           "projective multi without auto",
                           "projective multi without trie",
                           "projective multi without beam"}) {
    EXPECT_EQ(kinds.count(kind), 1U) << kind;
  }
  EXPECT_EQ(kinds.size(), 26U);
  EXPECT_TRUE(large_id);
  EXPECT_TRUE(gave_up_all);
  EXPECT_TRUE(gave_up_some);
}

}  // namespace
}  // namespace taproot
