// SPDX-License-Identifier: Apache-2.0
//
// Best trees, on uniform weights, single-root; many graphs in turn.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "taproot/taproot.h"
#include "testing/arborescence.h"
#include "testing/uniform_weights.h"

namespace taproot::bench {
namespace {

std::vector<oracle::Problem> graphs(int n) {
  std::vector<oracle::Problem> all;
  for (std::uint64_t seed = 0; seed < (n > 300 ? 2U : 21U); ++seed) {
    all.push_back(uniform_weights(n, 1000 + seed));
  }
  return all;
}

void best(benchmark::State& state, int n) {
  const auto problems = graphs(n);
  Workspace workspace;
  Tree heads(static_cast<std::size_t>(n));
  std::size_t next = 0;
  // Answers first.
  for (const auto& problem : problems) {
    if (n > 200) break;
    const ScoredTree ours = argmax(ScoreView(problem.scores.data(), n));
    const double reference = oracle::best_tree(problem, oracle::Root::kSingle).score;
    if (!(std::abs(ours.score - reference) < 1e-9)) state.SkipWithError("the answers differ");
  }
  for (auto _ : state) {
    const auto& problem = problems[next++ % problems.size()];
    argmax(ScoreView(problem.scores.data(), n), RootRule::kSingle, heads, nullptr, workspace);
    benchmark::ClobberMemory();
  }
}

void textbook(benchmark::State& state, int n) {
  const auto problems = graphs(n);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        oracle::best_tree(problems[next++ % problems.size()], oracle::Root::kSingle));
  }
}

// A hundred trees after the best one.
void further(benchmark::State& state, int n) {
  const auto problems = graphs(n);
  Tree heads(static_cast<std::size_t>(n));
  double score = 0;
  std::size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    KBestIterator trees;
    const auto& problem = problems[next++ % problems.size()];
    trees.build(ScoreView(problem.scores.data(), n), RootRule::kSingle);
    trees.next(heads, score);
    state.ResumeTiming();
    for (int i = 0; i < 100; ++i) trees.next(heads, score);
  }
}

void register_all() {
  using benchmark::RegisterBenchmark;
  for (const int n : {10, 25, 50, 100, 200, 400, 800, 1600}) {
    RegisterBenchmark(("argmax/" + std::to_string(n)).c_str(), best, n);
  }
  for (const int n : {25, 50, 100}) {
    RegisterBenchmark(("textbook/" + std::to_string(n)).c_str(), textbook, n);
    RegisterBenchmark(("further/" + std::to_string(n)).c_str(), further, n);
  }
}

}  // namespace
}  // namespace taproot::bench

int main(int argc, char** argv) {
  taproot::bench::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
