// SPDX-License-Identifier: Apache-2.0
//
// Labeled trees against the enumeration of labeled trees.
#include "taproot/labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "property/check.h"
#include "taproot/taproot.h"
#include "testing/families.h"
#include "testing/linear_congruential.h"
#include "testing/misuse.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr int kLabels = 3;

std::vector<double> label_scores(int n) {
  const auto side = static_cast<std::size_t>(n) + 1;
  std::vector<double> scores(side * side * kLabels);
  LinearCongruential random(11);
  for (double& s : scores) {
    const std::uint64_t bits = random.bits();
    s = std::ldexp(static_cast<double>(bits >> 33), -30) - 1;
    if ((bits >> 20) % 7 == 0) s = -HUGE_VAL;
  }
  return scores;
}

using Labeled = std::pair<Tree, std::vector<std::int32_t>>;

// Every labeled tree of three words with its weight.
std::map<Labeled, double> enumerated(const Problem& problem, const LabelView& labels, Root root) {
  std::map<Labeled, double> weights;
  for (const auto& [tree, p] : oracle::all_trees(problem, root)) {
    for (std::int32_t code = 0; code < kLabels * kLabels * kLabels; ++code) {
      const std::vector<std::int32_t> of{code % 3, code / 3 % 3, code / 9};
      const double total =
          score(ScoreView(problem.scores.data(), 3), tree) + labels_score(labels, tree, of);
      if (total > -HUGE_VAL) weights[{tree, of}] = std::exp(total);
    }
  }
  return weights;
}

TEST(Labels, AreThoseOfLabeledTrees) {
  const Problem problem = oracle::gaussian(3, 1, 4);
  const ScoreView view(problem.scores.data(), 3);
  const std::vector<double> data = label_scores(3);
  const LabelView labels(data.data(), 3, kLabels);
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const auto weights = enumerated(problem, labels, root);
    double z = 0;
    double top = 0;
    Labeled best;
    std::vector<double> edges(16 * kLabels, 0.0);
    for (const auto& [tree, w] : weights) {
      z += w;
      if (w > top) {
        top = w;
        best = tree;
      }
    }
    for (const auto& [tree, w] : weights) {
      for (std::size_t m = 1; m <= 3; ++m) {
        const auto h = static_cast<std::size_t>(tree.first[m - 1]);
        edges[(h * 4 + m) * kLabels + static_cast<std::size_t>(tree.second[m - 1])] += w / z;
      }
    }
    std::vector<double> memory;
    const ScoreView summed = add_labels(view, labels, LabelSum::kLogSum, memory);
    const Factorization f = eliminate(summed, rule(root));
    ASSERT_TRUE(f.outcome().ok());
    EXPECT_NEAR(log_partition(f), std::log(z), 1e-12);
    std::vector<double> p(16 * kLabels);
    label_marginals(labels, marginals(f), p);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], edges[i], 1e-13) << i;
    for (const auto& [tree, w] : weights) {
      EXPECT_NEAR(log_prob(f, tree.first) + labels_log_prob(labels, tree.first, tree.second),
                  std::log(w / z), 1e-12);
    }
    std::vector<double> decoding;
    const ScoredTree found = argmax(add_labels(view, labels, LabelSum::kMax, decoding), rule(root));
    EXPECT_EQ(found.heads, best.first);
    EXPECT_NEAR(found.score, std::log(top), 1e-12);
    std::vector<std::int32_t> of(3);
    best_labels(labels, found.heads, of);
    EXPECT_EQ(of, best.second);
    std::vector<std::int32_t> of_edges(16);
    best_edge_labels(labels, of_edges);
    for (std::size_t e = 0; e < 16; ++e) {
      const auto first = p.begin() + static_cast<std::ptrdiff_t>(e * kLabels);
      const auto expected = std::max_element(first, first + kLabels) - first;
      if (e % 4 != 0 && e % 4 != e / 4) {
        EXPECT_EQ(of_edges[e], expected) << e;
      }
    }

    // Drawn trees with drawn labels: frequencies within six standard deviations.
    constexpr std::uint32_t kDraws = 40000;
    std::map<Labeled, double> counts;
    Sampler sampler;
    Workspace workspace;
    sampler.build(f, Algorithm::kAuto, workspace);
    Tree heads(3);
    for (std::uint32_t s = 0; s < kDraws; ++s) {
      sampler.sample(0, {Algorithm::kAuto, 0, 0, s}, 1, {heads.data(), 0}, {}, nullptr, workspace);
      sample_labels(labels, heads, 0, 0, s, of);
      ASSERT_TRUE(weights.count({heads, of}) == 1);
      counts[{heads, of}] += 1;
    }
    for (const auto& [tree, w] : weights) {
      const double q = w / z;
      EXPECT_NEAR(counts[tree] / kDraws, q, 6 * std::sqrt(q / kDraws) + 6.0 / kDraws);
    }
  }
}

TEST(Labels, ReportBadOnesAsBadScores) {
  const Problem problem = oracle::gaussian(3, 1, 4);
  std::vector<float> data(16 * kLabels, 0.0F);
  data[(1 * 4 + 2) * kLabels + 1] = NAN;
  data[0] = NAN;  // Column 0: ignored.
  const LabelView labels(data.data(), 3, kLabels);
  for (const LabelSum sum : {LabelSum::kLogSum, LabelSum::kMax}) {
    std::vector<double> memory;
    const ScoreView view = add_labels(ScoreView(problem.scores.data(), 3), labels, sum, memory);
    EXPECT_EQ(eliminate(view).outcome(), (Outcome{Status::kBadScore, 1, 2}));
  }
  data[(1 * 4 + 2) * kLabels + 1] = HUGE_VALF;
  std::vector<double> memory;
  EXPECT_EQ(
      eliminate(add_labels(ScoreView(problem.scores.data(), 3), labels, LabelSum::kLogSum, memory))
          .outcome()
          .status,
      Status::kBadScore);
  // No label at all forbids the edge.
  for (std::size_t l = 0; l < kLabels; ++l) data[(1 * 4 + 2) * kLabels + l] = -HUGE_VALF;
  const Factorization f =
      eliminate(add_labels(ScoreView(problem.scores.data(), 3), labels, LabelSum::kLogSum, memory));
  ASSERT_TRUE(f.outcome().ok());
  EXPECT_EQ(marginals(f)[1 * 4 + 2], 0.0);
}

TEST(Labels, AnyStrides) {
  // The same numbers with the labels first, and backwards.
  const std::vector<double> data = label_scores(3);
  const LabelView straight(data.data(), 3, kLabels);
  std::vector<double> turned(data.size());
  for (int h = 0; h <= 3; ++h) {
    for (int m = 0; m <= 3; ++m) {
      for (int l = 0; l < kLabels; ++l) {
        turned[static_cast<std::size_t>(((kLabels - 1 - l) * 4 + m) * 4 + h)] = straight(h, m, l);
      }
    }
  }
  const LabelView view(turned.data() + (kLabels - 1) * 16, 3, kLabels, 1, 4, -16);
  for (int h = 0; h <= 3; ++h) {
    for (int m = 0; m <= 3; ++m) {
      for (int l = 0; l < kLabels; ++l) EXPECT_EQ(view(h, m, l), straight(h, m, l));
    }
  }
  const Tree tree{0, 1, 1};
  std::vector<std::int32_t> of_straight(3);
  std::vector<std::int32_t> of_view(3);
  best_labels(straight, tree, of_straight);
  best_labels(view, tree, of_view);
  EXPECT_EQ(of_view, of_straight);
}

TEST(Labels, RefuseMisuse) {
  const std::vector<double> data = label_scores(3);
  const LabelView labels(data.data(), 3, kLabels);
  const Tree tree{0, 1, 1};
  std::vector<std::int32_t> of(3);
  expect_misuse("LabelView", [&] { LabelView(data.data(), 3, 0); });
  expect_misuse("best_labels", [&] { best_labels(labels, TreeView(tree).first(2), of); });
  expect_misuse("best_labels", [&] { best_labels(labels, Tree{1, 1, 1}, of); });
  expect_misuse("best_edge_labels", [&] { best_edge_labels(labels, of); });
  expect_misuse("sample_labels", [&] { sample_labels(labels, Tree{0, 9, 1}, 0, 0, 0, of); });
  of[1] = 3;
  expect_misuse("labels_score", [&] { labels_score(labels, tree, of); });
  std::vector<double> memory;
  const Problem longer = oracle::uniform(4);
  expect_misuse("add_labels", [&] {
    add_labels(ScoreView(longer.scores.data(), 4), labels, LabelSum::kMax, memory);
  });
  expect_misuse("label_marginals", [&] { label_marginals(labels, memory, memory); });
}

}  // namespace
}  // namespace taproot
