// SPDX-License-Identifier: Apache-2.0
//
// Samplers with replacement. Every iteration draws trees that were not drawn before: a processor
// that has learnt the branches of one tree by heart would flatter us.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "taproot/taproot.h"
#include "testing/families.h"
#include "testing/trained_scores.h"
#include "testing/uniform_weights.h"

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
    sampler.build(f, {algorithm, 1, 0}, workspace);
    sampler.sample(0, first, 100, {heads.data(), 100}, workspace);
    first += 100;
  }
}

void one_tree(benchmark::State& state, Algorithm algorithm, const oracle::Problem& problem) {
  Factorization f;
  Workspace workspace;
  Sampler sampler;
  eliminate({problem.scores.data(), problem.n}, RootRule::kSingle, f, workspace);
  sampler.build(f, {algorithm, 1, 0}, workspace);
  std::vector<std::int32_t> heads(static_cast<std::size_t>(problem.n));
  std::uint32_t sample = 0;
  SampleStatistics statistics;
  for (auto _ : state) {
    sampler.sample(0, sample++, 1, {heads.data(), 0}, workspace, {}, &statistics);
    benchmark::ClobberMemory();
  }
  const double trees = static_cast<double>(statistics.trees);
  state.counters["steps"] = static_cast<double>(statistics.steps) / trees;
  state.counters["tries"] = static_cast<double>(statistics.tries) / trees;
}

// 100 trees of every sentence of a file of trained scores.
void trained(benchmark::State& state, Algorithm algorithm, const std::string& path) {
  const TrainedScores file(path);
  const Scores scores = file.view(RootRule::kSingle);
  std::vector<std::vector<std::int32_t>> trees(scores.size());
  std::vector<TreeBuffer> out;
  for (std::size_t b = 0; b < scores.size(); ++b) {
    trees[b].resize(100 * static_cast<std::size_t>(scores[b].n()));
    out.push_back({trees[b].data(), scores[b].n()});
  }
  std::vector<Outcome> outcomes(scores.size());
  std::vector<double> tries(scores.size());
  Pool pool(1);
  SampleStatistics statistics;
  std::uint64_t seed = 0;
  for (auto _ : state) {
    sample(pool, scores, 100, {algorithm, seed++, 0}, outcomes, out, 0, &statistics);
  }
  expected_tries(pool, scores, outcomes, tries);
  double mean = 0;
  for (const double t : tries) mean += t / static_cast<double>(tries.size());
  state.counters["tries"] =
      static_cast<double>(statistics.tries) / static_cast<double>(statistics.trees);
  state.counters["expected_tries"] = mean;
}

void thousand_sentences(benchmark::State& state) {
  std::vector<oracle::Problem> problems;
  std::vector<ScoreView> views;
  std::vector<std::vector<std::int32_t>> trees;
  std::vector<TreeBuffer> out;
  for (int b = 0; b < 1000; ++b) {
    const int n = 5 + b * 7 % 50;
    problems.push_back(oracle::gaussian(n, 2, static_cast<std::uint64_t>(b)));
    trees.emplace_back(100 * static_cast<std::size_t>(n));
  }
  for (std::size_t b = 0; b < problems.size(); ++b) {
    views.emplace_back(problems[b].scores.data(), problems[b].n);
    out.push_back({trees[b].data(), problems[b].n});
  }
  const Scores scores(views);
  std::vector<Outcome> outcomes(scores.size());
  Pool pool(static_cast<int>(state.range(0)));
  std::uint64_t seed = 0;
  for (auto _ : state) sample(pool, scores, 100, {Algorithm::kAuto, seed++, 0}, outcomes, out);
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
  if (const char* folder = std::getenv("TRAINED")) {
    for (const char* name : {"en_ewt.npz", "wo_wtb.npz"}) {
      for (const char* algorithm : {"wilson-marginal", "wilson-reject", "auto", "elimination"}) {
        RegisterBenchmark((std::string("trained/") + name + "/" + algorithm).c_str(), trained,
                          algorithm_named(algorithm), std::string(folder) + "/" + name);
      }
    }
  }
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
