// SPDX-License-Identifier: Apache-2.0
//
// Samplers without replacement, set-up included. Every iteration has another seed.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "taproot/taproot.h"
#include "testing/uniform_weights.h"
#if defined(TAPROOT_BENCH_FILES)
#include "testing/trained_scores.h"
#endif

namespace taproot::bench {
namespace {

void distinct(benchmark::State& state, WithoutReplacementAlgorithm algorithm, int n,
              std::size_t k) {
  const oracle::Problem problem = uniform_weights(n);
  Factorization f;
  Workspace workspace;
  WithoutReplacementSampler sampler;
  WithoutReplacementSample sample;
  std::uint64_t seed = 0;
  const auto run = [&] {
    eliminate({problem.scores.data(), n}, RootRule::kSingle, f, workspace);
    sampler.build(f, {algorithm, seed++}, 0, workspace);
    sampler.sample(k, sample, workspace);
  };
  run();  // From then on memory is reused, for every k.
  for (auto _ : state) run();
  state.counters["bytes"] = static_cast<double>(sample.memory);
}

void with_replacement(benchmark::State& state, int n, std::size_t k) {
  const oracle::Problem problem = uniform_weights(n);
  Factorization f;
  Workspace workspace;
  Sampler sampler;
  std::vector<std::int32_t> heads(k * static_cast<std::size_t>(n));
  std::uint64_t seed = 0;
  for (auto _ : state) {
    eliminate({problem.scores.data(), n}, RootRule::kSingle, f, workspace);
    sampler.build(f, Algorithm::kAuto, workspace);
    sampler.sample(0, {Algorithm::kAuto, seed++}, k, {heads.data(), n}, {}, nullptr, workspace);
  }
}

#if defined(TAPROOT_BENCH_FILES)
void trained(benchmark::State& state, WithoutReplacementAlgorithm algorithm,
             const std::string& path) {
  const TrainedScores file(path);
  const std::vector<ScoreView> scores = file.views();
  std::vector<WithoutReplacementSample> samples(scores.size());
  Pool pool(1);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    DependencyTrees(pool, scores, {.keep = false})
        .sample_without_replacement(50, {algorithm, seed++}, samples);
  }
}
#endif

void register_all() {
  using benchmark::RegisterBenchmark;
  const auto add = [](const char* name, int n, std::size_t k) {
    RegisterBenchmark(("without_replacement/" + std::string(name) + "/" + std::to_string(n) + "/" +
                       std::to_string(k))
                          .c_str(),
                      distinct, without_replacement_algorithm_named(name), n, k);
  };
  for (const char* name : {"auto", "trie", "beam"}) {
    add(name, 14, 1000);
    add(name, 100, 1000);
    add(name, 30, 1000);
    add(name, 30, 10000);
    add(name, 60, 10000);
  }
  add("list", 14, 1000);
  add("list", 30, 1000);
  add("list", 30, 10000);
  RegisterBenchmark("with_replacement/100/1000", with_replacement, 100, 1000);
#if defined(TAPROOT_BENCH_FILES)
  if (const char* folder = std::getenv("TRAINED")) {
    for (const char* name : {"en_ewt.npz", "wo_wtb.npz"}) {
      for (const char* algorithm : {"auto", "trie", "beam"}) {
        RegisterBenchmark((std::string("trained/") + name + "/" + algorithm).c_str(), trained,
                          without_replacement_algorithm_named(algorithm),
                          std::string(folder) + "/" + name);
      }
    }
  }
#endif
}

}  // namespace
}  // namespace taproot::bench

int main(int argc, char** argv) {
  taproot::bench::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
