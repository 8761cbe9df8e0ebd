// SPDX-License-Identifier: Apache-2.0
//
// Samplers with replacement. Every iteration samples trees that were not sampled before, because a
// processor that has learned the branches of one tree by heart would flatter us.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "taproot/taproot.h"
#include "testing/families.h"
#include "testing/uniform_weights.h"
#if defined(TAPROOT_BENCH_FILES)
#include "testing/trained_scores.h"
#endif

namespace taproot::bench {
namespace {

void hundred_trees(benchmark::State& state, Algorithm algorithm) {
  const oracle::Problem problem = uniform_weights(100);
  Factorization f;
  Workspace workspace;
  Sampler sampler;
  std::vector<std::int32_t> heads(100 * 100);
  std::uint32_t first = 0;
  for (auto _ : state) {
    eliminate({problem.scores.data(), 100}, RootRule::kSingle, f, workspace);
    sampler.build(f, algorithm, workspace);
    sampler.sample(0, {algorithm, 1, 0, first}, 100, {heads.data(), 100}, {}, nullptr, workspace);
    first += 100;
  }
}

void one_tree(benchmark::State& state, Algorithm algorithm, const oracle::Problem& problem) {
  Factorization f;
  Workspace workspace;
  Sampler sampler;
  eliminate({problem.scores.data(), problem.n}, RootRule::kSingle, f, workspace);
  sampler.build(f, algorithm, workspace);
  std::vector<std::int32_t> heads(static_cast<std::size_t>(problem.n));
  std::uint32_t sample = 0;
  SampleStatistics statistics;
  for (auto _ : state) {
    sampler.sample(0, {algorithm, 1, 0, sample++}, 1, {heads.data(), 0}, {}, &statistics,
                   workspace);
    benchmark::ClobberMemory();
  }
  const double trees = static_cast<double>(statistics.trees);
  state.counters["steps"] = static_cast<double>(statistics.steps) / trees;
  state.counters["tries"] = static_cast<double>(statistics.tries) / trees;
}

// Where 100 trees of every sentence go.
struct HundredTrees {
  explicit HundredTrees(const std::vector<ScoreView>& scores) {
    for (const ScoreView& view : scores) {
      heads.emplace_back(100 * static_cast<std::size_t>(view.n()));
      out.push_back({heads.back().data(), view.n()});
    }
  }
  std::vector<std::vector<std::int32_t>> heads;
  std::vector<TreeOutput> out;
};

#if defined(TAPROOT_BENCH_FILES)
// 100 trees of every sentence of a file of trained scores, set-up included.
void trained(benchmark::State& state, Algorithm algorithm, const std::string& path) {
  const TrainedScores file(path);
  const std::vector<ScoreView> scores = file.views();
  const HundredTrees trees(scores);
  std::vector<double> tries(scores.size());
  Pool pool(1);
  SampleStatistics statistics;
  std::uint64_t seed = 0;
  for (auto _ : state) {
    DependencyTrees(pool, scores, {.keep = false})
        .sample(100, {algorithm, seed++}, trees.out, &statistics);
  }
  DependencyTrees(pool, scores, {.keep = false}).expected_tries(tries);
  double mean = 0;
  for (const double t : tries) mean += t / static_cast<double>(tries.size());
  state.counters["tries"] =
      static_cast<double>(statistics.tries) / static_cast<double>(statistics.trees);
  state.counters["expected_tries"] = mean;
}
#endif

void thousand_sentences(benchmark::State& state) {
  std::vector<oracle::Problem> problems;
  std::vector<ScoreView> scores;
  for (int b = 0; b < 1000; ++b) {
    problems.push_back(oracle::gaussian(5 + b * 7 % 50, 2, static_cast<std::uint64_t>(b)));
  }
  for (const auto& problem : problems) scores.emplace_back(problem.scores.data(), problem.n);
  const HundredTrees trees(scores);
  Pool pool(static_cast<int>(state.range(0)));
  std::uint64_t seed = 0;
  for (auto _ : state) {
    DependencyTrees(pool, scores, {.keep = false})
        .sample(100, {Algorithm::kAuto, seed++}, trees.out);
  }
}

void register_all() {
  using benchmark::RegisterBenchmark;
  for (const char* name : {"wilson-marginal", "auto", "wilson-reject", "colbourn", "elimination"}) {
    RegisterBenchmark((std::string("hundred_trees/") + name).c_str(), hundred_trees,
                      algorithm_named(name));
  }
  for (const char* name : {"wilson-marginal", "wilson-reject", "auto", "elimination", "colbourn"}) {
    for (const int n : {25, 50, 100, 200, 400}) {
      if (std::string(name) == "colbourn" && n > 100) continue;
      RegisterBenchmark((std::string("one_tree/") + name + "/" + std::to_string(n)).c_str(),
                        one_tree, algorithm_named(name), uniform_weights(n));
    }
  }
  const std::vector<std::pair<std::string, oracle::Problem>> families{
      {"gauss-1", oracle::gaussian(100, 1, 1)},
      {"gauss-5", oracle::gaussian(100, 5, 1)},
      {"gauss-10", oracle::gaussian(100, 10, 1)},
      {"heavy-tailed", oracle::heavy_tailed(100, 1)},
      {"heavy-tailed-25", oracle::heavy_tailed(25, 1)},
      {"gap-30", oracle::attractor_pairs(100, 30, 1)},
      {"gap-100", oracle::attractor_pairs(100, 100, 1)},
      {"nested-rings-8", oracle::nested_rings(100, 8, 1)},
      {"nested-rings-8-10", oracle::nested_rings(10, 8, 1)}};
  for (const auto& [name, problem] : families) {
    for (const char* algorithm : {"elimination", "auto"}) {
      RegisterBenchmark(("family/" + name + "/" + algorithm).c_str(), one_tree,
                        algorithm_named(algorithm), problem);
    }
  }
#if defined(TAPROOT_BENCH_FILES)
  if (const char* folder = std::getenv("TRAINED")) {
    for (const char* name : {"en_ewt.npz", "wo_wtb.npz"}) {
      for (const char* algorithm : {"wilson-marginal", "wilson-reject", "auto", "elimination"}) {
        RegisterBenchmark((std::string("trained/") + name + "/" + algorithm).c_str(), trained,
                          algorithm_named(algorithm), std::string(folder) + "/" + name);
      }
    }
  }
#endif
  RegisterBenchmark("thousand_sentences", thousand_sentences)->Arg(1)->Arg(2)->UseRealTime();
}

}  // namespace
}  // namespace taproot::bench

int main(int argc, char** argv) {
  taproot::bench::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
