// SPDX-License-Identifier: Apache-2.0
//
// Longer sentences, where trees cannot be counted: edges and roots come as often as their marginals
// say, all of them at once; on trained scores, on attractors that a walk does not leave, and where
// Colbourn's row form must not be used.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "core/random.h"
#include "law/statistics.h"
#include "law/trained.h"
#include "property/check.h"
#include "sample/walk/walk.h"
#include "testing/families.h"
#include "testing/paths.h"

namespace taproot {
namespace {

using law::trained_sentences;
using oracle::Problem;
using oracle::Root;

// Draws trees, checks that they are trees, and compares every edge's frequency with its marginal.
SampleStatistics expect_marginals(const Problem& problem, Root root, Algorithm algorithm,
                                  std::size_t trees, TreeFamily family = TreeFamily::kAll) {
  const Factorization f = factored(problem, root, family);
  EXPECT_TRUE(f.outcome().ok());
  Sampler sampler;
  Workspace workspace;
  sampler.build(f, algorithm, workspace);
  const auto side = static_cast<std::size_t>(problem.n) + 1;
  std::vector<double> counts(side * side);
  Tree heads(side - 1);
  SampleStatistics statistics;
  for (std::size_t s = 0; s < trees; ++s) {
    EXPECT_EQ(sampler.sample(1, {algorithm, 5, 0, static_cast<std::uint32_t>(s)}, 1,
                             {heads.data(), 0}, {}, &statistics, workspace),
              1U);
    if (s < 1000) {
      EXPECT_TRUE(is_tree(heads, f.root_rule()));
      if (family == TreeFamily::kProjective) {
        EXPECT_TRUE(is_projective(heads));
      }
    }
    for (std::size_t m = 1; m < side; ++m)
      ++counts[static_cast<std::size_t>(heads[m - 1]) * side + m];
  }
  const std::vector<double> p = marginals(f);
  const double n_trees = static_cast<double>(trees);
  const double delta = law::kAlpha / static_cast<double>(side * side);
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_LE(std::abs(counts[i] / n_trees - p[i]), law::frequency_bound(p[i], n_trees, delta))
        << i / side << " -> " << i % side << " p " << p[i] << " seen " << counts[i];
  }
  return statistics;
}

const std::vector<std::pair<Algorithm, Root>>& walks_and_elimination() {
  static const std::vector<std::pair<Algorithm, Root>> all{
      {Algorithm::kAuto, Root::kSingle},           {Algorithm::kAuto, Root::kMulti},
      {Algorithm::kElimination, Root::kSingle},    {Algorithm::kElimination, Root::kMulti},
      {Algorithm::kWilsonMarginal, Root::kSingle}, {Algorithm::kWilsonReject, Root::kSingle},
      {Algorithm::kWilson, Root::kMulti}};
  return all;
}

TEST(Frequencies, OfRandomGraphs) {
  for (const int n : {10, 30, 60}) {
    const Problem problem = oracle::gaussian(n, 1.5, static_cast<std::uint64_t>(n));
    for (const auto& [algorithm, root] : walks_and_elimination()) {
      SCOPED_TRACE(testing::Message() << n << " " << to_string(algorithm) << " " << name(root));
      expect_marginals(problem, root, algorithm, 200000);
    }
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(testing::Message() << n << " colbourn " << name(root));
      expect_marginals(problem, root, Algorithm::kColbourn, n == 60 ? 20000 : 200000);
    }
  }
}

TEST(Frequencies, OfTrainedSentences) {
  ASSERT_EQ(trained_sentences(oracle::golden_file("trained.json")).size(), 6U);
  for (const auto& [label, problem] : trained_sentences(oracle::golden_file("trained.json"))) {
    for (const auto& [algorithm, root] : walks_and_elimination()) {
      SCOPED_TRACE(testing::Message() << label << " " << to_string(algorithm) << " " << name(root));
      expect_marginals(problem, root, algorithm, 200000);
    }
    SCOPED_TRACE(label + " colbourn");
    expect_marginals(problem, Root::kSingle, Algorithm::kColbourn, 5000);
  }
}

TEST(Frequencies, OfProjectiveTrees) {
  auto problems = trained_sentences(oracle::golden_file("trained.json"));
  problems.emplace_back("random-30", oracle::gaussian(30, 1.5, 31));
  problems.emplace_back("uniform-60", oracle::uniform(60));
  problems.emplace_back("uniform-150", oracle::uniform(150));  // A common factor, in double.
  problems.emplace_back("pairs-20", oracle::attractor_pairs(20, 300, 3));  // Over Wide.
  int wide = 0;
  for (const auto& [label, problem] : problems) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(label + " " + name(root));
      const bool is_wide = factored(problem, root, TreeFamily::kProjective).is_wide();
      wide += is_wide ? 1 : 0;
      expect_marginals(problem, root, Algorithm::kAuto, is_wide || problem.n > 100 ? 20000 : 200000,
                       TreeFamily::kProjective);
    }
  }
  EXPECT_GE(wide, 1);
}

// A walk would need e^gap steps; these return at once.
TEST(Frequencies, OfAttractors) {
  for (const double gap : {30.0, 100.0, 900.0}) {
    const Problem problem = oracle::attractor_pairs(10, gap, 3);
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kElimination}) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        SCOPED_TRACE(testing::Message() << gap << " " << to_string(algorithm) << " " << name(root));
        const SampleStatistics taken = expect_marginals(problem, root, algorithm, 50000);
        if (algorithm == Algorithm::kAuto) {
          EXPECT_EQ(taken.fallbacks, taken.trees);
          EXPECT_LE(taken.steps, static_cast<std::uint64_t>(detail::most_steps(10)) * taken.trees);
        }
      }
    }
  }
}

// Some of the walks of "auto" are given up and some are not, because one word takes too many heads
// or because all words together do. What is left of the walks must not be biased.
TEST(Frequencies, OfWalksOnABudget) {
  Problem pair = oracle::gaussian(20, 1, 5);
  pair.scores[1 * 21 + 2] = 7;
  pair.scores[2 * 21 + 1] = 7;
  const Problem ring = oracle::rings(20, 20, 8, 5);
  const Problem pairs = oracle::attractor_pairs(10, 4, 3);
  for (const auto& [problem, root] :
       {std::pair(pair, Root::kSingle), std::pair(pair, Root::kMulti),
        std::pair(ring, Root::kMulti), std::pair(pairs, Root::kSingle),
        std::pair(pairs, Root::kMulti)}) {
    SCOPED_TRACE(testing::Message() << problem.n << " words, " << name(root));
    const SampleStatistics taken = expect_marginals(problem, root, Algorithm::kAuto, 200000);
    EXPECT_GT(taken.fallbacks, taken.trees / 20);
    EXPECT_LT(taken.fallbacks, taken.trees - taken.trees / 20);
  }
}

TEST(Frequencies, OfColbournWhereItsRowsWouldFail) {
  std::vector<std::pair<std::string, Problem>> problems{
      {"gauss-60", oracle::gaussian(20, 60, 4)}, {"gauss-60-b", oracle::gaussian(20, 60, 5)}};
  for (const int gap : {20, 40, 60, 100}) {
    problems.emplace_back("gap-" + std::to_string(gap), oracle::attractor_pairs(6, gap, 5));
  }
  for (const auto& [label, problem] : problems) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(label + " " + name(root));
      const SampleStatistics taken = expect_marginals(problem, root, Algorithm::kColbourn, 50000);
      std::printf("colbourn %s %s: contracted %.1f %%\n", label.c_str(), name(root),
                  100.0 * static_cast<double>(taken.fallbacks) / static_cast<double>(taken.trees));
    }
  }
}

// Colbourn's algorithm in double, multi-root, L^-1 updated by Sherman and Morrison.
// It gives up a tree, which is then drawn exactly, when the probabilities of a word's heads do not
// sum to 1 within a millionth. Returns the law's p-value and the share of trees given up.
std::pair<double, double> guarded_by_sums(const Problem& problem, std::uint32_t trees) {
  const int n = problem.n;
  const auto weight = [&](int h, int m) {
    return h == m ? 0.0 : std::exp(problem.scores[static_cast<std::size_t>(h * (n + 1) + m)]);
  };
  using Matrix = std::vector<std::vector<double>>;
  const auto size = static_cast<std::size_t>(n);
  // L^-1 is as good as doubles can hold it: from multiprecision marginals, p(h -> i) / A[h][i] =
  // L^-1[i][i] - L^-1[i][h].
  const oracle::Answer answer = oracle::matrix_tree(problem, Root::kMulti);
  const auto gradient = [&](int h, int m) {
    return h == m ? 0.0
                  : answer.marginals[static_cast<std::size_t>(h * (n + 1) + m)] / weight(h, m);
  };
  const Factorization f = factored(problem, Root::kMulti);
  Sampler exact;
  Workspace workspace;
  exact.build(f, Algorithm::kElimination, workspace);
  law::TreeCounts counts;
  double given_up = 0;
  for (std::uint32_t s = 0; s < trees; ++s) {
    detail::Stream stream(detail::stream_key(5, 0), s, detail::Purpose::kTree);
    Matrix b(size, std::vector<double>(size));
    for (std::size_t r = 0; r < size; ++r) {
      const int i = static_cast<int>(r) + 1;
      for (std::size_t c = 0; c < size; ++c) {
        b[r][c] = gradient(0, i) - gradient(static_cast<int>(c) + 1, i);
      }
    }
    Tree heads(size);
    bool passed = true;
    for (std::size_t i = 0; i < size && passed; ++i) {
      std::vector<double> p(size + 1);
      double sum = 0;
      for (std::size_t h = 0; h <= size; ++h) {
        if (h == i + 1) continue;
        const double entry = h == 0 ? b[i][i] : b[i][i] - b[i][h - 1];
        p[h] = std::max(0.0, weight(static_cast<int>(h), static_cast<int>(i + 1)) * entry);
        sum += p[h];
      }
      passed = std::abs(sum - 1) <= 1e-6;
      double u = stream.uniform() * sum;
      std::size_t head = 0;
      while (head < size && u >= p[head]) u -= p[head++];
      heads[i] = static_cast<std::int32_t>(head);
      std::vector<double> image(size);  // b times the new column, e_i - e_head.
      for (std::size_t r = 0; r < size; ++r) {
        image[r] = b[r][i] - (head == 0 ? 0.0 : b[r][head - 1]);
      }
      const std::vector<double> row = b[i];
      for (std::size_t r = 0; r < size; ++r) {
        const double factor = (image[r] - (r == i ? 1.0 : 0.0)) / image[i];
        for (std::size_t c = 0; c < size; ++c) b[r][c] -= factor * row[c];
      }
    }
    if (!passed) {
      exact.sample(0, {Algorithm::kElimination, 5, 0, s}, 1, {heads.data(), 0}, {}, nullptr,
                   workspace);
      given_up += 1;
    }
    counts[heads] += 1;
  }
  return {law::tree_law_p(problem, Root::kMulti, counts), given_up / trees};
}

TEST(WrongSamplers, AGuardBySumsAloneLetsWrongLawsPass) {
  int rejected = 0;
  for (const double gap : {20.0, 24.0, 28.0}) {
    const auto [p, given_up] = guarded_by_sums(oracle::attractor_pairs(4, gap, 5), 50000);
    std::printf("gap %g: %.1f %% given up, p-value of the law %.3g\n", gap, 100 * given_up, p);
    rejected += p < law::kAlpha ? 1 : 0;
  }
  EXPECT_GE(rejected, 1);
}

}  // namespace
}  // namespace taproot
