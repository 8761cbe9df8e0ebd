// SPDX-License-Identifier: Apache-2.0
//
// The best trees on the device beyond what property_test asks: scores whose digits are far apart,
// long sentences, trained scores, and cuda_argmax() in the caller's memory and in a graph.
#include <cmath>

#include "cuda/device_memory.h"
#include "cuda/on_device.h"
#include "testing/families.h"
#include "testing/golden.h"
#include "testing/linear_congruential.h"
#include "testing/paths.h"

namespace taproot {
namespace {

using oracle::Problem;

class CudaDecode : public OnDevice {
 protected:
  static void expect_same_trees(const std::vector<Problem>& problems) {
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      Cuda cuda;
      DependencyTrees trees(cuda, views_of(problems), with_root(root));
      std::vector<Tree> heads;
      std::vector<double> score(problems.size());
      std::vector<TreeOutput> out(problems.size());
      for (const Problem& p : problems) heads.emplace_back(p.n, -7);
      for (std::size_t b = 0; b < problems.size(); ++b) {
        out[b].heads = heads[b].data();
        out[b].score = &score[b];
      }
      const std::vector<Outcome> outcomes = trees.argmax(out);
      EXPECT_EQ(cuda.statistics().eliminations, 0U) << "the best tree needs no elimination";
      for (std::size_t b = 0; b < problems.size(); ++b) {
        SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
        Tree exact(static_cast<std::size_t>(problems[b].n), -1);
        double exact_score = NAN;
        Workspace workspace;
        const Outcome outcome = argmax(ScoreView(problems[b].scores.data(), problems[b].n), root,
                                       exact, &exact_score, workspace);
        ASSERT_EQ(outcomes[b], outcome);
        EXPECT_EQ(heads[b], exact);
        if (outcome.ok()) {
          EXPECT_EQ(score[b], exact_score);
        }
      }
      expect_ran(cuda);
    }
  }
};

// Some scores are 1e-300 and some near 1e15, so that three words of 64 bits cannot hold their sums;
// sums that differ only in the smallest scores decide.
TEST_F(CudaDecode, DigitsFarApart) {
  LinearCongruential random(3);
  std::vector<Problem> problems;
  for (int i = 0; i < 200; ++i) {
    const int n = 2 + static_cast<int>(random.below(20));
    Problem p{n, std::vector<double>(static_cast<std::size_t>((n + 1) * (n + 1)))};
    for (double& s : p.scores) {
      const double tiny = i % 4 == 0 ? 0x1p-1074 : i % 4 == 1 ? 1e-300 : 1e-30;
      const auto digit = static_cast<double>(random.below(5));
      s = random.below(3) == 0 ? digit * tiny : random.below(4) == 0 ? -digit * 2e14 : digit;
    }
    problems.push_back(std::move(p));
  }
  expect_same_trees(problems);
}

TEST_F(CudaDecode, LongSentences) {
  std::vector<Problem> problems;
  for (const int n : lengths({90, 127, 128, 200, 330, 500}, 90)) {
    problems.push_back(oracle::gaussian(n, 1, 5));
    problems.push_back(oracle::uniform(n));
    problems.push_back(oracle::nested_rings(n, 3, 6));
    problems.push_back(oracle::sparse(n, 0.1, 7));
  }
  expect_same_trees(problems);
}

TEST_F(CudaDecode, GoldenCases) {
  std::vector<Problem> problems;
  for (const auto& golden : oracle::load_golden(oracle::golden_file("golden.json"))) {
    problems.push_back(golden.problem);
  }
  expect_same_trees(problems);
}

// A padded float32 batch with failures in the middle: the caller's memory, also in a graph that is
// replayed with other scores.
TEST_F(CudaDecode, StatelessInAGraph) {
  constexpr std::size_t kSide = Padded<float>::kSide;
  constexpr std::size_t kWidth = Padded<float>::kMost + 2;
  Padded<float> batch;
  const std::size_t size = batch.size();
  const CudaStream stream;
  auto* const on = static_cast<cudaStream_t>(stream.get());
  DeviceArray<std::int64_t> heads;
  DeviceArray<float> score;
  DeviceArray<CudaOutcome> outcomes;
  DeviceArray<unsigned char> workspace;
  heads.resize(size * kWidth);
  score.resize(2 * size);
  outcomes.resize(size);
  CudaArgmax q;
  q.scores = batch.scores(RootRule::kSingle);
  q.trees = {heads.data(), sizeof(std::int64_t), kWidth, 0};
  q.score = {score.data(), false, 2};
  q.outcomes = outcomes.data();
  const std::size_t bytes = cuda_argmax_bytes(q);
  workspace.resize(bytes);
  cuda_argmax(q, workspace.data(), bytes, stream.get());
  stream.wait();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  TAPROOT_CUDA(cudaStreamBeginCapture(on, cudaStreamCaptureModeGlobal));
  cuda_argmax(q, workspace.data(), bytes, stream.get());
  TAPROOT_CUDA(cudaStreamEndCapture(on, &graph));
  TAPROOT_CUDA(cudaGraphInstantiate(&run, graph, 0));
  for (int round = 0; round < 3; ++round) {
    auto cells = fetch(batch.data, size * kSide * kSide);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (round > 0) cells[i] += static_cast<float>(std::sin(static_cast<double>(i + 1)));
    }
    if (round == 2) cells[2 * kSide * kSide + 5 * kSide + 3] = HUGE_VALF;  // Of sentence 2: 3 -> 5.
    send(batch.data, cells);
    send(heads, std::vector<std::int64_t>(size * kWidth, -7));
    TAPROOT_CUDA(cudaGraphLaunch(run, on));
    stream.wait();
    const auto found = fetch(heads, size * kWidth);
    const auto found_score = fetch(score, 2 * size);
    const auto found_outcomes = fetch(outcomes, size);
    for (std::size_t b = 0; b < size; ++b) {
      SCOPED_TRACE(testing::Message() << "round " << round << " sentence " << b);
      const int n = batch.lengths[b];
      const ScoreView view(cells.data() + b * kSide * kSide, n, 1, kSide);
      Tree exact(static_cast<std::size_t>(n), -1);
      double exact_score = NAN;
      Workspace memory;
      const Outcome outcome = argmax(view, RootRule::kSingle, exact, &exact_score, memory);
      EXPECT_EQ(found_outcomes[b].status, static_cast<int>(outcome.status));
      EXPECT_EQ(found_outcomes[b].head, outcome.head);
      EXPECT_EQ(found_outcomes[b].modifier, outcome.modifier);
      for (std::size_t m = 0; m < kWidth; ++m) {
        const std::int32_t expected = m < exact.size()           ? exact[m]
                                      : m < Padded<float>::kMost ? -1
                                                                 : -7;
        EXPECT_EQ(found[b * kWidth + m], expected) << m;
      }
      if (outcome.ok()) {
        EXPECT_EQ(found_score[2 * b], static_cast<float>(exact_score));
      } else {
        EXPECT_TRUE(std::isnan(found_score[2 * b]));
      }
    }
  }
  TAPROOT_CUDA(cudaGraphExecDestroy(run));
  TAPROOT_CUDA(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace taproot
