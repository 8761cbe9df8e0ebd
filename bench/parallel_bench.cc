// SPDX-License-Identifier: Apache-2.0
//
// Batches of short sentences on one and two threads: what it costs to share them out. Compare a
// build with TAPROOT_TBB. Every iteration makes the batch anew and asks it one question.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "taproot/taproot.h"
#include "testing/uniform_weights.h"

namespace taproot::bench {
namespace {

constexpr int kWords = 25;

struct Batch {
  explicit Batch(std::size_t size) : log_z(size) {
    for (std::size_t b = 0; b < size; ++b) problems.push_back(uniform_weights(kWords, b));
    for (const oracle::Problem& problem : problems) {
      scores.emplace_back(problem.scores.data(), kWords);
      marginals.emplace_back(problem.scores.size());
      out.push_back({marginals.back().data(), kWords + 1});
    }
  }

  std::vector<oracle::Problem> problems;
  std::vector<ScoreView> scores;
  std::vector<double> log_z;
  std::vector<std::vector<double>> marginals;
  std::vector<EdgeMatrix> out;
};

void sum(benchmark::State& state, std::size_t size, int threads, bool keep) {
  Batch batch(size);
  Pool pool(threads);
  for (auto _ : state) {
    DependencyTrees(pool, batch.scores, {.keep = keep}).log_partition(batch.log_z);
  }
}

void differentiate(benchmark::State& state, std::size_t size, int threads, bool keep) {
  Batch batch(size);
  Pool pool(threads);
  for (auto _ : state) {
    DependencyTrees(pool, batch.scores, {.keep = keep}).marginals(batch.out);
  }
}

void register_all() {
  // Many sentences, and so few that waking a thread may take longer than they do.
  for (const std::size_t size : {std::size_t{1024}, std::size_t{8}}) {
    for (const int threads : {1, 2}) {
      for (const bool keep : {true, false}) {
        const std::string suffix = "/" + std::to_string(size) + (keep ? "/keep" : "/once") +
                                   "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(("log_partition" + suffix).c_str(), sum, size, threads, keep)
            ->UseRealTime();
        benchmark::RegisterBenchmark(("marginals" + suffix).c_str(), differentiate, size, threads,
                                     keep)
            ->UseRealTime();
      }
    }
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
