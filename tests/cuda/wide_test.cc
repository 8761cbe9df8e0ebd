// SPDX-License-Identifier: Apache-2.0
//
// Sentences beyond the range of double are finished on the device: every question but samples.
#include <algorithm>
#include <cmath>

#include "cuda/device_memory.h"
#include "cuda/on_device.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;

class CudaWide : public OnDevice {};

// Some fit double, most do not; one has no tree.
std::vector<Problem> problems_of_all_ranges() {
  std::vector<Problem> problems = {oracle::gaussian(20, 1, 1), oracle::sparse(12, 0.05, 1)};
  std::uint64_t seed = 1;
  for (const int n : lengths({2, 3, 10, 31, 33, 64, 100, 180}, 33)) {
    problems.push_back(oracle::attractor_pairs(n, 900, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 340, ++seed));
    problems.push_back(oracle::wide_range(n, 600, ++seed));
    problems.push_back(oracle::nested_rings(n, 200, ++seed));
    problems.push_back(oracle::masked(n, -1e9, ++seed));
    problems.push_back(oracle::column_offsets(n, 1e8, ++seed));
    problems.push_back(oracle::near_empty_columns(n, ++seed));
  }
  return problems;
}

TEST_F(CudaWide, AnswersAreThoseOfTheCpu) {
  const std::vector<Problem> problems = problems_of_all_ranges();
  Pool pool;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    std::size_t wide = 0;
    for (const Problem& p : problems) wide += eliminate({p.scores.data(), p.n}, root).is_wide();
    EXPECT_GE(wide, 8U) << "the CPU needs the wide scalar for some of these";
    for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
      Cuda cuda(precision);
      const bool in_double = precision == Precision::kFloat64;
      const Answers exact = ask(pool, problems, root);
      DependencyTrees there(cuda, views_of(problems), with_root(root));
      const Answers found = ask(there);
      EXPECT_EQ(cuda.statistics().on_cpu, 0U);
      DependencyTrees here(pool, views_of(problems), with_root(root));
      const auto trees = sample(here, 3);
      const auto trees_there = sample(there, 3);
      const Answers again = ask(there);
      double worst[3] = {};
      for (std::size_t b = 0; b < problems.size(); ++b) {
        SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
        ASSERT_EQ(found.outcomes[b], exact.outcomes[b]);
        if (!exact.outcomes[b].ok()) continue;
        const double size = std::max(1.0, std::abs(exact.log_partition[b]));
        const double z = std::abs(found.log_partition[b] - exact.log_partition[b]) / size;
        const double p = largest_difference(found.marginals[b], exact.marginals[b]);
        const double h =
            std::abs(found.entropy[b] - exact.entropy[b]) / std::max(1.0, exact.entropy[b]);
        EXPECT_LE(z, in_double ? 1e-12 : 1e-5);
        EXPECT_LE(p, in_double ? 1e-12 : 1e-4);
        EXPECT_LE(h, in_double ? 1e-11 : 1e-3);
        worst[0] = std::max(worst[0], z);
        worst[1] = std::max(worst[1], p);
        worst[2] = std::max(worst[2], h);
        EXPECT_EQ(trees_there[b], trees[b]);
        EXPECT_EQ(again.marginals[b], found.marginals[b]) << "the order of questions";
      }
      std::printf("%s: log Z within %.2g, marginals %.2g, entropy %.2g\n",
                  in_double ? "float64" : "float32", worst[0], worst[1], worst[2]);
      if (in_double) {
        EXPECT_GE(cuda.statistics().on_cpu, wide) << "only the CPU samples them";
      }
    }
  }
}

// log p of single trees, where log Z and the scores are near 1e9 and nearly cancel; and the
// derivative of the marginals.
TEST_F(CudaWide, LogProbAndHessianProduct) {
  const std::vector<Problem> problems = {
      oracle::attractor_pairs(9, 900, 3), oracle::masked(10, -1e9, 4), oracle::gaussian(7, 1, 5),
      oracle::attractor_pairs(34, 400, 6), oracle::nested_rings(27, 200, 7)};
  Pool pool;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    Cuda cuda;
    DependencyTrees here(pool, views_of(problems), with_root(root));
    DependencyTrees there(cuda, views_of(problems), with_root(root));
    auto heads = sample(here, 20);
    std::vector<std::vector<double>> direction, exact, found;
    std::vector<TreeBuffer> buffers;
    std::vector<ConstEdgeMatrix> along;
    std::vector<double> log_prob(2 * 20 * problems.size());
    std::vector<double*> of_here, of_there;
    for (std::size_t b = 0; b < problems.size(); ++b) {
      const std::size_t cells = problems[b].scores.size();
      direction.emplace_back(cells);
      for (std::size_t i = 0; i < cells; ++i) direction[b][i] = std::sin(static_cast<double>(i));
      exact.emplace_back(cells);
      found.emplace_back(cells, -7);
    }
    std::vector<EdgeMatrix> to_here, to_there;
    for (std::size_t b = 0; b < problems.size(); ++b) {
      buffers.push_back({heads[b].data(), problems[b].n});
      along.push_back({direction[b].data(), problems[b].n + 1});
      to_here.push_back({exact[b].data(), problems[b].n + 1});
      to_there.push_back({found[b].data(), problems[b].n + 1});
      of_here.push_back(log_prob.data() + 40 * b);
      of_there.push_back(log_prob.data() + 40 * b + 20);
    }
    here.log_prob(20, buffers, {}, of_here);
    there.log_prob(20, buffers, {}, of_there);
    here.hessian_product(along, to_here);
    there.hessian_product(along, to_there);
    EXPECT_EQ(cuda.statistics().on_cpu, 0U);
    for (std::size_t b = 0; b < problems.size(); ++b) {
      SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
      for (std::size_t s = 0; s < 20; ++s) {
        EXPECT_NEAR(of_there[b][s], of_here[b][s], 1e-12 * std::max(10.0, -of_here[b][s]));
      }
      EXPECT_LE(largest_difference(found[b], exact[b]), 1e-12 * problems[b].n);
    }
  }
}

// More of them in one batch than there are slots, among others that fit, and not kept.
TEST_F(CudaWide, ManyInABatch) {
  const Problem wide = oracle::attractor_pairs(40, 900, 1);
  const Problem narrow = oracle::gaussian(40, 1, 2);
  const std::size_t size = samples(1000, 20);
  std::vector<double> cells;
  for (std::size_t b = 0; b < size; ++b) {
    const Problem& p = b % 3 == 0 ? wide : narrow;
    cells.insert(cells.end(), p.scores.begin(), p.scores.end());
  }
  DeviceArray<double> data, out, entropy;
  send(data, cells);
  send(out, std::vector<double>(cells.size(), -7));
  send(entropy, std::vector<double>(size, -7));
  CudaScores scores;
  scores.data = data.data();
  scores.size = size;
  scores.max_n = 40;
  scores.sentence_stride = 41 * 41;
  for (const bool keep : {true, false}) {
    Cuda cuda;
    CudaDependencyTrees trees(cuda, scores, keep);
    trees.marginals({out.data(), true, 41 * 41, 41, 1, nullptr}, nullptr);
    trees.entropy(entropy.data(), nullptr);
    const auto found = fetch(out, cells.size());
    const auto found_entropy = fetch(entropy, size);
    for (const std::size_t first : {0U, 1U}) {
      const Factorization f =
          eliminate(ScoreView(first == 0 ? wide.scores.data() : narrow.scores.data(), 40));
      const auto exact = marginals(f);
      for (std::size_t b = first; b < size; b += first == 0 ? 3 : 1) {
        if (first == 1 && b % 3 == 0) continue;
        double worst = 0;
        for (std::size_t i = 0; i < exact.size(); ++i) {
          const double d = std::abs(found[b * exact.size() + i] - exact[i]);
          if (!(d <= worst)) worst = d;
        }
        ASSERT_LE(worst, 1e-12) << b;
        ASSERT_NEAR(found_entropy[b], taproot::entropy(f), 1e-11) << b;
      }
    }
  }
}

}  // namespace
}  // namespace taproot
