// SPDX-License-Identifier: Apache-2.0
//
// What an object keeps: it eliminates once, whatever it is asked and in whatever order, and the
// answers do not depend on the order.
#include <algorithm>
#include <functional>

#include "cuda/device_memory.h"
#include "cuda/on_device.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;

class CudaKept : public OnDevice {};

// Short sentences, and one that the shared memory of a block cannot hold.
std::vector<Problem> short_and_long() {
  std::vector<Problem> problems = {oracle::gaussian(10, 1, 1), oracle::sparse(31, 0.5, 2),
                                   oracle::attractor_pairs(40, 8, 3)};
  if (!sanitized()) problems.push_back(oracle::gaussian(200, 1, 4));
  return problems;
}

TEST_F(CudaKept, ABatchInHostMemoryEliminatesOnce) {
  const std::vector<Problem> problems = short_and_long();
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
      Cuda cuda(precision);
      DependencyTrees trees(cuda, views_of(problems), with_root(root));
      EXPECT_EQ(cuda.statistics().eliminations, 0U);
      const Answers first = ask(trees);  // log Z, marginals and entropy.
      const auto heads = sample(trees, 100);
      for (const Outcome& outcome : trees.outcomes()) EXPECT_TRUE(outcome.ok());
      const Answers second = ask(trees);
      EXPECT_EQ(cuda.statistics().eliminations, 1U);
      EXPECT_EQ(first.log_partition, second.log_partition);
      EXPECT_EQ(first.entropy, second.entropy);
      EXPECT_EQ(first.marginals, second.marginals);
      EXPECT_EQ(heads, sample(trees, 100));
      DependencyTrees other(cuda, views_of(problems), with_root(root));
      EXPECT_EQ(heads, sample(other, 100));
      EXPECT_EQ(cuda.statistics().eliminations, 2U);
    }
  }
}

// Questions of a padded float32 batch in device memory, in two orders, kept or not.
TEST_F(CudaKept, AnswersDoNotDependOnTheOrderOfQuestions) {
  constexpr std::size_t kSide = Padded<float>::kMost + 1;
  constexpr std::size_t kTrees = 100;
  const Padded<float> batch;
  const std::size_t size = batch.size();
  struct Found {
    std::vector<double> log_partition, entropy, marginals, roots;
    std::vector<std::int32_t> heads;
    bool operator==(const Found&) const = default;
  };
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
      const auto found = [&](bool keep, bool backwards, std::uint64_t eliminations) {
        DeviceArray<double> log_partition, entropy, marginals, roots;
        DeviceArray<std::int32_t> heads;
        const std::vector<double> nothing(size * kSide * kSide, -7);
        for (auto* array : {&log_partition, &entropy, &marginals, &roots}) send(*array, nothing);
        heads.resize(size * kTrees * (kSide - 1));
        const CudaEdges edges{marginals.data(), true, kSide * kSide, kSide, 1, nullptr};
        const CudaTreeBuffer buffer{heads.data(), kTrees * (kSide - 1), kSide - 1};
        Cuda cuda(precision);
        const CudaStream streams[2];
        CudaDependencyTrees trees(cuda, batch.scores(root), keep);
        std::vector<std::function<void(void*)>> questions = {
            [&](void* stream) { trees.log_partition(log_partition.data(), stream); },
            [&](void* stream) { trees.marginals(edges, stream); },
            [&](void* stream) { trees.entropy(entropy.data(), stream); },
            [&](void* stream) { trees.root_marginals(roots.data(), stream); },
            [&](void* stream) { trees.sample(kTrees, 1, 0, nullptr, buffer, stream); }};
        if (backwards) std::reverse(questions.begin(), questions.end());
        for (std::size_t i = 0; i < questions.size(); ++i) questions[i](streams[i % 2].get());
        for (const CudaStream& stream : streams) stream.wait();
        EXPECT_EQ(cuda.statistics().eliminations, eliminations);
        return Found{fetch(log_partition, size), fetch(entropy, size),
                     fetch(marginals, nothing.size()), fetch(roots, size * (kSide - 1)),
                     fetch(heads, size * kTrees * (kSide - 1))};
      };
      const Found kept = found(true, false, 1);
      EXPECT_TRUE(kept == found(true, true, 1));
      // Not kept, the law of the root comes from another sum, and all but log Z eliminate again.
      const Found again = found(false, false, 4);
      EXPECT_EQ(kept.log_partition, again.log_partition);
      EXPECT_EQ(kept.entropy, again.entropy);
      EXPECT_EQ(kept.marginals, again.marginals);
      EXPECT_EQ(kept.heads, again.heads);
      EXPECT_LE(largest_difference(kept.roots, again.roots),
                precision == Precision::kFloat64 ? 1e-14 : 1e-6);
      EXPECT_EQ(kept.log_partition.back(), -7) << "a sentence without a tree has no log Z";
    }
  }
}

// Larger batches than the memory has room for go piece by piece; here, more sentences than a grid
// may have.
TEST_F(CudaKept, PiecesOfABatch) {
  const std::size_t size = samples(70000, 300);
  const Problem problem = oracle::gaussian(3, 1, 5);
  Cuda cuda;
  DependencyTrees trees(cuda, copies_of(problem, size));
  const Answers found = ask(trees);
  const auto heads = sample(trees, 2);
  const Factorization f = eliminate(ScoreView(problem.scores.data(), problem.n));
  std::size_t different = 0;
  for (std::size_t b = 0; b < size; ++b) {
    ASSERT_NEAR(found.log_partition[b], log_partition(f), 1e-14);
    ASSERT_NEAR(found.entropy[b], entropy(f), 1e-14);
    const TreeView tree(heads[b]);
    ASSERT_TRUE(is_tree(tree.first(3), RootRule::kSingle));
    different += heads[b] != heads[0];
  }
  EXPECT_GT(different, size / 2) << "each sentence has random numbers of its own";
  EXPECT_EQ(cuda.statistics().eliminations, size > 65536 ? 3U : 1U);
}

TEST_F(CudaKept, MemoryIsGivenBack) {
  Cuda cuda;
  const auto free_bytes = [] {
    std::size_t free = 0;
    std::size_t total = 0;
    TAPROOT_CUDA(cudaMemGetInfo(&free, &total));
    return free;
  };
  const Problem problem = oracle::gaussian(100, 1, 5);
  const std::vector<ScoreView> scores = copies_of(problem, samples(4000, 200));
  const auto use = [&](std::vector<ScoreView> batch) {
    DependencyTrees trees(cuda, std::move(batch));
    return ask(trees).log_partition[0];
  };
  use(copies_of(problem, 1));  // Loads the kernels, which takes memory too.
  cuda.release();
  const std::size_t before = free_bytes();
  use(scores);
  const std::size_t cells = scores.size() * 101 * 101;
  EXPECT_LT(free_bytes(), before - cells * sizeof(double)) << "memory is kept for the next object";
  cuda.release();
  EXPECT_GT(free_bytes(), before - cells * sizeof(double));
  EXPECT_NEAR(use(scores), log_partition(eliminate(ScoreView(problem.scores.data(), problem.n))),
              1e-10);
}

}  // namespace
}  // namespace taproot
