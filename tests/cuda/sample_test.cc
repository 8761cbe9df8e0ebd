// SPDX-License-Identifier: Apache-2.0
//
// Trees with replacement on the device: those of the CPU, and the law.
#include <cmath>

#include "cuda/device_memory.h"
#include "cuda/on_device.h"
#include "law/statistics.h"
#include "law/trained.h"
#include "testing/families.h"
#include "testing/paths.h"

namespace taproot {
namespace {

using law::kAlpha;
using law::TreeCounts;
using oracle::Problem;
using oracle::Root;

template <typename Where>
std::vector<std::vector<std::int32_t>> sample(Where& where, std::vector<ScoreView> scores,
                                              RootRule root, std::size_t k, std::uint64_t seed) {
  DependencyTrees trees(where, std::move(scores), with_root(root));
  SampleOptions options;
  options.seed = seed;
  return sample(trees, k, options);
}

class CudaSample : public OnDevice {};

// Weights, alias tables and draws have the same bits as on the CPU; the roots' law and what
// un-elimination scans differ in the last ones. So a tree differs with a probability of about n
// 2^-53, and none should here.
TEST_F(CudaSample, TreesOfTheCpu) {
  std::vector<Problem> problems;
  std::uint64_t seed = 1;
  // Around the lengths at which the kernel divides a warp or memory in another way.
  for (const int n : lengths({1, 2, 3, 8, 15, 16, 25, 31, 32, 60, 64, 100, 127, 128, 160}, 32)) {
    problems.push_back(oracle::gaussian(n, 1, ++seed));
    problems.push_back(oracle::gaussian(n, 4, ++seed));
    problems.push_back(oracle::sparse(n, 0.5, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 12, ++seed));
    problems.push_back(oracle::masked(n, -1e4, ++seed));
  }
  for (auto& [name, problem] : law::trained_sentences(oracle::golden_file("trained.json"))) {
    problems.push_back(std::move(problem));
  }
  const std::size_t kTrees = samples(300, 40);
  Pool pool;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
      Cuda cuda(precision);
      const auto found = sample(cuda, views_of(problems), root, kTrees, 5);
      const auto exact = sample(pool, views_of(problems), root, kTrees, 5);
      std::size_t different = 0;
      std::size_t all = 0;
      for (std::size_t b = 0; b < problems.size(); ++b) {
        ASSERT_EQ(found[b].size(), exact[b].size());
        const auto n = static_cast<std::size_t>(problems[b].n);
        for (std::size_t s = 0; s < exact[b].size() / n; ++s) {
          const TreeView tree(found[b].data() + s * n, n);
          ASSERT_TRUE(is_tree(tree, root)) << "sentence " << b << " tree " << s;
          different += !std::equal(tree.begin(), tree.end(), exact[b].data() + s * n);
          ++all;
        }
      }
      EXPECT_LE(different, precision == Precision::kFloat64 ? 0 : all / 1000);
      const CudaStatistics statistics = cuda.statistics();
      EXPECT_GT(statistics.fallbacks, 0U);
      std::printf("%zu of %zu trees differ, %llu by elimination, %llu sentences on the CPU\n",
                  different, all, static_cast<unsigned long long>(statistics.fallbacks),
                  static_cast<unsigned long long>(statistics.on_cpu));
      expect_ran(cuda);
    }
  }
}

TEST_F(CudaSample, Law) {
  const std::size_t kTrees = samples(200000, 300);
  for (const Problem& problem :
       {oracle::gaussian(4, 1.5, 3), oracle::sparse(5, 0.6, 2), oracle::attractor_pairs(5, 3, 5),
        oracle::attractor_pairs(4, 12, 6), oracle::rings(5, 3, 8, 7)}) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
        Cuda cuda(precision);
        const auto trees = sample(cuda, copies_of(problem, 1), rule(root), kTrees, 99)[0];
        TreeCounts counts;
        const auto n = static_cast<std::size_t>(problem.n);
        for (std::size_t s = 0; s < kTrees; ++s) {
          ++counts[Tree(trees.begin() + static_cast<std::ptrdiff_t>(s * n),
                        trees.begin() + static_cast<std::ptrdiff_t>((s + 1) * n))];
        }
        EXPECT_GT(law::tree_law_p(problem, root, counts), kAlpha) << name(root);
        // The same counts do not pass for another law.
        Problem other = problem;
        other.scores[2] += 0.2;
        if (!sanitized()) {
          EXPECT_LT(law::tree_law_p(other, root, counts), kAlpha);
        }
        expect_ran(cuda);
      }
    }
  }
}

// Tables, and then trees, that shared memory cannot hold, and tables with a plane for the alias.
TEST_F(CudaSample, LongSentences) {
  Pool pool;
  for (const int n : lengths({253, 254, 350, 800, 2100}, 350)) {
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      const std::vector<Problem> problems = {oracle::gaussian(n, 1, 3),
                                             oracle::attractor_pairs(n, 9, 4)};
      Cuda cuda;
      const std::size_t trees = n > 2000 ? 10 : samples(200, 10);
      EXPECT_EQ(sample(cuda, views_of(problems), root, trees, 8),
                sample(pool, views_of(problems), root, trees, 8))
          << n;
      expect_ran(cuda);
    }
  }
}

// log p of a sampled tree, found with it.
TEST_F(CudaSample, LogProb) {
  constexpr std::size_t kTrees = 20;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    // The last one is beyond the range of double, and so done by the CPU.
    const std::vector<Problem> problems = {oracle::gaussian(20, 1, 1), oracle::gaussian(45, 2, 2),
                                           oracle::attractor_pairs(6, 900, 8)};
    Cuda cuda;
    DependencyTrees trees(cuda, views_of(problems), with_root(root));
    std::vector<std::vector<std::int32_t>> heads;
    std::vector<double> found(problems.size() * kTrees, -7);
    for (const Problem& p : problems) heads.emplace_back(kTrees * static_cast<std::size_t>(p.n));
    std::vector<TreeOutput> out(problems.size());
    for (std::size_t b = 0; b < problems.size(); ++b) {
      out[b].heads = heads[b].data();
      out[b].stride = problems[b].n;
      out[b].log_prob = found.data() + b * kTrees;
    }
    for (const Outcome& outcome : trees.sample(kTrees, {}, out)) EXPECT_TRUE(outcome.ok());
    for (std::size_t b = 0; b < problems.size(); ++b) {
      const Factorization f = eliminate(views_of(problems)[b], root);
      for (std::size_t s = 0; s < kTrees; ++s) {
        const auto n = static_cast<std::size_t>(problems[b].n);
        const double exact = log_prob(f, TreeView(heads[b].data() + s * n, n));
        EXPECT_NEAR(found[b * kTrees + s], exact, 1e-12 * std::max(1.0, std::abs(exact)));
      }
    }
    EXPECT_EQ(cuda.statistics().on_cpu, 1U);
    EXPECT_EQ(cuda.statistics().eliminations, 1U);
  }
}

template <typename Head>
std::vector<std::int32_t> heads_as(const Padded<double>& batch, RootRule root, TreeFamily family) {
  constexpr std::size_t kTrees = 150;
  constexpr std::size_t kWidth = Padded<double>::kMost;
  constexpr std::size_t kGuard = 64;  // Beyond the trees.
  const std::size_t heads = batch.size() * kTrees * kWidth;
  DeviceArray<Head> there;
  send(there, std::vector<Head>(heads + kGuard, Head{77}));
  CudaScores scores = batch.scores(root);
  scores.family = family;
  Cuda cuda;
  CudaDependencyTrees trees(cuda, scores);
  const CudaHeadBuffer out{there.data(), sizeof(Head), kTrees * kWidth, kWidth};
  trees.sample(kTrees, 4, 1000, nullptr, out, nullptr);
  const auto found = fetch(there, heads + kGuard);
  for (std::size_t i = heads; i < found.size(); ++i) EXPECT_EQ(found[i], Head{77});
  return {found.begin(), found.begin() + static_cast<std::ptrdiff_t>(heads)};
}

TEST_F(CudaSample, HeadsOfOtherSizes) {
  const Padded<double> batch;
  for (const TreeFamily family : {TreeFamily::kAll, TreeFamily::kProjective}) {
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      const auto wide = heads_as<std::int32_t>(batch, root, family);
      EXPECT_EQ(wide, heads_as<std::int16_t>(batch, root, family));
      EXPECT_EQ(wide, heads_as<std::int8_t>(batch, root, family));
      EXPECT_EQ(wide, heads_as<std::int64_t>(batch, root, family));
      EXPECT_EQ(std::count(wide.begin(), wide.end(), 77), 0);
      // The second sentence has one word, and the last one has no tree.
      const std::size_t sentence = wide.size() / batch.size();
      EXPECT_EQ(wide[sentence], 0);
      EXPECT_EQ(wide[sentence + 1], -1);
      EXPECT_EQ(wide[4 * sentence], -1);
    }
  }
}

TEST_F(CudaSample, HeadsThatDoNotFitAreRefused) {
  Cuda cuda;
  DeviceArray<double> zeros;
  const int n = 128;
  send(zeros, std::vector<double>((n + 1) * (n + 1), 0.0));
  CudaScores scores;
  scores.data = zeros.data();
  scores.size = 1;
  scores.max_n = n;
  CudaDependencyTrees trees(cuda, scores);
  DeviceArray<std::int32_t> heads;
  heads.resize(n);
  for (const int bytes : {0, 1, 3, 16}) {
    const CudaHeadBuffer out{heads.data(), bytes, n, n};
    EXPECT_THROW(trees.sample(1, 0, 0, nullptr, out, nullptr), std::invalid_argument) << bytes;
  }
  EXPECT_NO_THROW(trees.sample(1, 0, 0, nullptr, CudaHeadBuffer(heads.data(), 2, n, n), nullptr));
}

TEST_F(CudaSample, OtherAlgorithmsAreRefused) {
  Cuda cuda;
  const Problem problem = oracle::uniform(3);
  DependencyTrees trees(cuda, copies_of(problem, 1));
  SampleOptions options;
  options.algorithm = Algorithm::kColbourn;
  EXPECT_THROW(sample(trees, 1, options), std::invalid_argument);
}

}  // namespace
}  // namespace taproot
