// SPDX-License-Identifier: Apache-2.0
//
// Every exact sampler draws from the law that it is given; what does not is rejected by the same
// tests.
#include <gtest/gtest.h>

#include <cmath>

#include "law/statistics.h"
#include "property/check.h"
#include "sample/chart/chart_cell.h"
#include "sample/walk/walk.h"
#include "testing/families.h"

namespace taproot {
namespace {

using law::kAlpha;
using law::TreeCounts;
using oracle::Problem;
using oracle::Root;

constexpr double kForbidden = -HUGE_VAL;
constexpr std::size_t kTrees = 100000;
constexpr TreeFamily kProjective = TreeFamily::kProjective;

struct Graph {
  std::string name;
  Problem problem;
};

// The paper's Figure 1: A -> B, A -> C, C -> B, B -> A, ROOT -> A, ROOT -> C, all of weight 1/2;
// three single-root trees of equal weight.
Problem figure_1() {
  const double half = std::log(0.5);
  const double x = kForbidden;
  return {3, {x, half, x, half, x, x, half, half, x, half, x, x, x, x, half, x}};
}

Problem forced_root() {
  Problem problem = oracle::gaussian(4, 1.5, 21);
  for (const std::size_t m : {1U, 2U, 4U}) problem.scores[m] = kForbidden;
  return problem;
}

std::vector<Graph> graphs() {
  return {{"one-word", oracle::gaussian(1, 1, 1)},
          {"two-words", oracle::gaussian(2, 1, 2)},
          {"uniform-3", oracle::uniform(3)},
          {"uniform-4", oracle::uniform(4)},
          {"uniform-5", oracle::uniform(5)},
          {"random-3", oracle::gaussian(3, 1, 3)},
          {"random-4", oracle::gaussian(4, 2, 4)},
          {"random-5", oracle::gaussian(5, 1, 5)},
          {"heavy-tailed-4", oracle::heavy_tailed(4, 6)},
          {"heavy-tailed-5", oracle::heavy_tailed(5, 7)},
          {"sparse-5", oracle::sparse(5, 0.6, 2)},
          {"few-heads-5", oracle::near_empty_columns(5, 3)},
          {"forced-root", forced_root()},
          {"pairs-4-2", oracle::attractor_pairs(4, 2, 8)},
          {"pairs-4-6", oracle::attractor_pairs(4, 6, 9)},
          {"pairs-5-6", oracle::attractor_pairs(5, 6, 10)},
          {"figure-1", figure_1()}};
}

TreeCounts count_trees(const Problem& problem, Root root, const SampleOptions& options,
                       std::size_t trees, TreeFamily family = TreeFamily::kAll,
                       SampleStatistics* statistics = nullptr) {
  const Factorization f = factored(problem, root, family);
  Sampler sampler;
  Workspace workspace;
  sampler.build(f, options.algorithm, workspace);
  const auto n = static_cast<std::size_t>(problem.n);
  std::vector<std::int32_t> heads(trees * n);
  EXPECT_EQ(sampler.sample(3, options, trees, {heads.data(), static_cast<std::ptrdiff_t>(n)}, {},
                           statistics, workspace),
            trees);
  TreeCounts counts;
  for (std::size_t s = 0; s < trees; ++s) {
    counts[Tree(heads.begin() + static_cast<std::ptrdiff_t>(s * n),
                heads.begin() + static_cast<std::ptrdiff_t>((s + 1) * n))] += 1;
  }
  return counts;
}

struct Case {
  Algorithm algorithm;
  Root root;
  TreeFamily family = TreeFamily::kAll;
};

class ExactSamplers : public testing::TestWithParam<Case> {};

TEST_P(ExactSamplers, SampleFromTheLaw) {
  const auto& [algorithm, root, family] = GetParam();
  int tested = 0;
  for (const auto& [name, problem] : graphs()) {
    SCOPED_TRACE(name);
    if (!factored(problem, root, family).outcome().ok()) continue;
    const SampleOptions options{algorithm, 11, 0};
    const TreeCounts counts = count_trees(problem, root, options, kTrees, family);
    EXPECT_GT(law::tree_law_p(problem, root, counts, family), kAlpha);
    ++tested;
  }
  EXPECT_GE(tested, 12);
}

// One possible tree: no statistics needed.
TEST_P(ExactSamplers, SampleTheOnlyTree) {
  const auto& [algorithm, root, family] = GetParam();
  const int n = 5;
  Problem chain{n, std::vector<double>(36, kForbidden)};
  const Tree only{0, 1, 2, 2, 4};
  for (std::size_t m = 1; m <= 5; ++m) {
    chain.scores[static_cast<std::size_t>(only[m - 1]) * 6 + m] = -40.0 * static_cast<double>(m);
  }
  const TreeCounts counts = count_trees(chain, root, {algorithm, 1, 0}, 100, family);
  EXPECT_EQ(counts, (TreeCounts{{only, 100.0}}));
}

INSTANTIATE_TEST_SUITE_P(All, ExactSamplers,
                         testing::Values(Case{Algorithm::kAuto, Root::kSingle},
                                         Case{Algorithm::kAuto, Root::kMulti},
                                         Case{Algorithm::kAuto, Root::kSingle, kProjective},
                                         Case{Algorithm::kAuto, Root::kMulti, kProjective},
                                         Case{Algorithm::kElimination, Root::kSingle},
                                         Case{Algorithm::kElimination, Root::kMulti},
                                         Case{Algorithm::kColbourn, Root::kSingle},
                                         Case{Algorithm::kColbourn, Root::kMulti},
                                         Case{Algorithm::kWilson, Root::kMulti},
                                         Case{Algorithm::kWilsonMarginal, Root::kSingle},
                                         Case{Algorithm::kWilsonReject, Root::kSingle}),
                         [](const auto& param_info) {
                           const Case& one = param_info.param;
                           std::string label(to_string(one.algorithm));
                           std::replace(label.begin(), label.end(), '-', '_');
                           return label + "_" + name(one.root) +
                                  (one.family == kProjective ? "_projective" : "");
                         });

TEST(WrongSamplers, WilsonRcIsRejectedOnThePapersGraph) {
  const Problem problem = figure_1();
  const TreeCounts counts =
      count_trees(problem, Root::kSingle, {Algorithm::kWilsonRc, 11, 0}, kTrees);
  EXPECT_LT(law::tree_law_p(problem, Root::kSingle, counts), kAlpha);
  // The tree rooted at C comes half of the time instead of a third of it.
  EXPECT_NEAR(counts.at(Tree{2, 3, 0}) / static_cast<double>(kTrees), 0.5, 0.01);
}

// Walks down the chart that are nearly right. The law of all trees, and choices that forget a
// factor: the edge inside a split, or the rest of the span.
enum class ChartFault { kNone, kForgetsTheRest, kUniformSplit };

Tree walk_chart(const detail::ChartView<const double>& c, ChartFault fault,
                detail::Stream& stream) {
  using detail::ChartCell;
  const detail::ChartShape& shape = c.shape();
  Tree heads(static_cast<std::size_t>(shape.size + shape.first - 1));
  std::vector<ChartCell> pending;
  const auto attach = [&](int m, int h) {
    heads[static_cast<std::size_t>(m + shape.first - 1)] = h < 0 ? 0 : h + shape.first;
  };
  const auto push = [&](const ChartCell& cell) { pending.push_back(cell); };
  detail::start_walk(shape, attach, push);
  while (!pending.empty()) {
    const ChartCell cell = pending.back();
    pending.pop_back();
    std::vector<double> weights;
    for (int e = 0; e < detail::choice_count(shape, cell); ++e) {
      if (cell.kind == ChartCell::kRoot) {
        weights.push_back(c.root_term(e));
      } else {
        const auto products = detail::products_of(c, cell);
        double w = products(e);
        if (fault == ChartFault::kForgetsTheRest && cell.kind == ChartCell::kRightSpan) {
          w = products.a[e * products.up];
        }
        if (fault == ChartFault::kUniformSplit && cell.kind == ChartCell::kSplitSpan) w = w > 0;
        weights.push_back(w);
      }
    }
    double total = 0;
    for (const double w : weights) total += w;
    double u = stream.uniform() * total;
    std::size_t e = 0;
    while (e + 1 < weights.size() && u >= weights[e]) u -= weights[e++];
    detail::take_choice(shape, cell, static_cast<int>(e), attach, push);
  }
  return heads;
}

TEST(WrongSamplers, WrongWalksDownTheChartAreRejected) {
  const Problem problem = oracle::gaussian(5, 1.5, 14);
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const Factorization f = factored(problem, root, kProjective);
    const auto view = detail::Access::data(f).chart.view();
    for (const ChartFault fault :
         {ChartFault::kNone, ChartFault::kForgetsTheRest, ChartFault::kUniformSplit}) {
      TreeCounts counts;
      for (std::uint32_t s = 0; s < kTrees; ++s) {
        detail::Stream stream(detail::stream_key(11, 0), s, detail::Purpose::kTree);
        counts[walk_chart(view, fault, stream)] += 1;
      }
      EXPECT_EQ(law::tree_law_p(problem, root, counts, kProjective) > kAlpha,
                fault == ChartFault::kNone)
          << static_cast<int>(fault);
    }
    // The trees of the other family have another law.
    const TreeCounts counts = count_trees(problem, root, {Algorithm::kAuto, 11, 0}, kTrees);
    EXPECT_LT(law::tree_law_p(problem, root, counts, kProjective), kAlpha);
  }
}

// The edges out of ROOT are so much heavier, or lighter, than the others that their weights do not
// fit one scale; the law given one root does not depend on it.
TEST(WilsonReject, IsExactWhateverTheWeightOfRoot) {
  for (const double z : {-3.0, 500.0, 650.0, 730.0, 745.0, 1000.0, 1e9}) {
    const double x = kForbidden;
    const Problem problem{3, {x, z, x, x, x, x, 0, 0, x, 0, x, -1, x, 0, -2, x}};
    const TreeCounts counts =
        count_trees(problem, Root::kSingle, {Algorithm::kWilsonReject, 11, 0}, 20000);
    EXPECT_GT(law::tree_law_p(problem, Root::kSingle, counts), kAlpha) << z;
  }
}

// Drawn by its weight, a word that reaches no other would be a root without a tree.
TEST(WrongSamplers, WilsonRcSamplesPossibleRootsOnly) {
  const double x = kForbidden;
  const Problem problem{2, {x, 0, 5, x, x, 0, x, x, x}};  // ROOT -> 1, ROOT -> 2, 1 -> 2.
  const TreeCounts counts = count_trees(problem, Root::kSingle, {Algorithm::kWilsonRc, 1, 0}, 100);
  EXPECT_EQ(counts, (TreeCounts{{Tree{0, 1}, 100.0}}));
}

// A budget after which a *fresh* root is drawn favors roots that are reached quickly.
TEST(WrongSamplers, AFreshRootAfterTheBudgetIsRejected) {
  const Problem problem = oracle::attractor_pairs(5, 6, 10);
  const Factorization f = factored(problem, Root::kSingle);
  const detail::FactorData& data = detail::Access::data(f);
  Workspace workspace;
  detail::Walk walk;
  walk.build(data, false, detail::Access::scratch(workspace));
  const std::vector<double> roots = root_marginals(f);
  Tree heads(5);
  for (const bool fresh : {true, false}) {
    TreeCounts counts;
    for (std::uint32_t s = 0; s < kTrees; ++s) {
      detail::Stream stream(detail::stream_key(11, 0), s, detail::Purpose::kTree);
      const auto sample_root = [&] {
        double u = stream.uniform();
        int root = 0;
        while (root < 4 && u >= roots[static_cast<std::size_t>(root)]) {
          u -= roots[static_cast<std::size_t>(root++)];
        }
        return root + 1;
      };
      int root = sample_root();
      for (std::uint32_t attempt = 0;; ++attempt) {
        const detail::Stacks stacks{detail::stream_key(11, 0, attempt), s};
        if (detail::walk_simply(walk.tables(), root, stacks, {40, detail::kMostDepth},
                                heads.data()) != detail::kGivenUp) {
          break;
        }
        if (fresh) root = sample_root();
      }
      counts[heads] += 1;
    }
    const double p = law::tree_law_p(problem, Root::kSingle, counts);
    if (fresh) {
      EXPECT_LT(p, kAlpha);
    } else {
      EXPECT_GT(p, kAlpha);  // With the same root it is a way to go on.
    }
  }
}

}  // namespace
}  // namespace taproot
