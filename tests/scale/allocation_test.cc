// SPDX-License-Identifier: Apache-2.0
//
// A batch that has met its longest sentence allocates no more. Counted by replacing operator new,
// so this is a program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "taproot/taproot.h"
#include "testing/families.h"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace taproot {
namespace {

TEST(Allocation, NoneInTheSteadyStateOfABatch) {
  std::vector<oracle::Problem> problems;
  for (int i = 0; i < 50; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    problems.push_back(oracle::gaussian(1 + i * 13 % 60, 2, seed));
    problems.push_back(oracle::sparse(5 + i % 20, 0.3, seed));
  }
  problems.push_back(oracle::attractor_pairs(20, 900, 1));  // The wide scalar too.
  std::vector<ScoreView> views;
  for (const auto& problem : problems) views.emplace_back(problem.scores.data(), problem.n);
  std::vector<double> out(views.size());
  Pool pool(1);
  // How many allocations a batch and one question take, first with cold memory, then with warm. A
  // few are left for the batch itself and for the outcomes that it returns, whatever its size.
  const auto counted = [&](bool keep, const auto& question) {
    const auto count = [&](std::vector<ScoreView> some) {
      const long before = allocations;
      DependencyTrees d(pool, std::move(some), {.keep = keep});
      question(d, std::span(out).first(d.size()));
      return allocations - before;
    };
    const long cold = count(views);
    const long warm = count(views);
    EXPECT_EQ(warm, count(views));
    EXPECT_EQ(warm, count({views[0]})) << "allocations grow with the batch";
    return std::pair(cold, warm);
  };
  const auto sum = [](DependencyTrees& d, std::span<double> to) { d.log_partition(to); };
  const auto measure = [](DependencyTrees& d, std::span<double> to) { d.entropy(to); };
  const auto [cold, warm] = counted(false, sum);
  EXPECT_GT(cold, warm) << "the counter does not count";
  EXPECT_LE(warm, 8);
  EXPECT_LE(counted(false, measure).second, 8);
  // A batch that keeps its factors has those of the batches before it.
  EXPECT_LE(counted(true, measure).second, 8);
}

// A question that was asked before needs no memory but that of the outcomes, and of what it hands
// to the threads; it does not grow with the batch.
TEST(Allocation, NoneInTheSecondQuestion) {
  const oracle::Problem problem = oracle::gaussian(30, 1, 1);
  const std::vector<ScoreView> views(20, ScoreView(problem.scores.data(), 30));
  std::vector<double> out(20);
  std::vector<std::int32_t> heads(20 * 10 * 30);
  std::vector<TreeOutput> trees;
  for (std::size_t b = 0; b < 20; ++b) trees.push_back({heads.data() + b * 300, 30});
  Pool pool(1);
  DependencyTrees d(pool, views);
  const auto expect_few = [](const auto& question, long most) {
    for (int i = 0; i < 3; ++i) question();
    const long before = allocations;
    question();
    EXPECT_LE(allocations - before, most);
  };
  expect_few([&] { d.log_partition(out); }, 1);
  expect_few([&] { d.entropy(out); }, 1);
  expect_few([&] { d.expected_tries(out); }, 1);
  expect_few([&] { d.sample(10, {}, trees); }, 2);
  expect_few([&] { d.argmax(trees); }, 2);
}

TEST(Allocation, NoneInTheSteadyStateOfAHessianProduct) {
  for (const double gap : {5.0, 900.0}) {  // In double and on the wide scalar.
    const oracle::Problem problem = oracle::attractor_pairs(20, gap, 1);
    const Factorization f = eliminate(ScoreView(problem.scores.data(), problem.n));
    EXPECT_EQ(f.is_wide(), gap > 100);
    const std::vector<double> direction(problem.scores.size(), 1.0);
    std::vector<double> out(problem.scores.size());
    Workspace workspace;
    hessian_product(f, direction, {out.data(), problem.n + 1}, workspace);
    const long warm = allocations;
    for (int i = 0; i < 3; ++i) {
      hessian_product(f, direction, {out.data(), problem.n + 1}, workspace);
    }
    EXPECT_EQ(allocations, warm);
  }
}

// Memory that gives out in the middle leaves a factorization that says so, and can be used again.
TEST(Allocation, FailureOnTheWayLeavesNoAnswer) {
  const oracle::Problem small = oracle::gaussian(4, 1, 1);
  const ScoreView view(small.scores.data(), 4);
  const double one = 1;
  // So large that no allocation of it succeeds: a stride of 0 makes it all the same score.
  const ScoreView huge(&one, 1 << 30, 0, 0);
  Factorization f = eliminate(view);
  const double log_z = log_partition(f);
  Workspace workspace;
  EXPECT_THROW(eliminate(huge, RootRule::kSingle, f, workspace), std::bad_alloc);
  EXPECT_FALSE(f.outcome().ok());
  EXPECT_THROW(log_partition(f), SentenceError);
  EXPECT_TRUE(eliminate(view, RootRule::kSingle, f, workspace).ok());
  EXPECT_EQ(log_partition(f), log_z);
}

}  // namespace
}  // namespace taproot
