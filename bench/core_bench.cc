// SPDX-License-Identifier: Apache-2.0
//
// Factor, log-partition and marginals from scores, against a determinant and an inverse by Eigen of
// the Laplacian that is already there. One thread. Answers are compared before anything is timed.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "eigen_contender.h"
#include "taproot/taproot.h"
#include "testing/linear_congruential.h"

namespace taproot::bench {
namespace {

// Scores log(u), u uniform in (0, 1): the paper's uniform weights.
std::vector<double> make_scores(int n) {
  const auto side = static_cast<std::size_t>(n) + 1;
  std::vector<double> scores(side * side);
  LinearCongruential random(12345);
  for (double& s : scores) s = std::log(random.uniform());
  return scores;
}

// One sentence with everything that the contenders work on.
struct Task {
  explicit Task(int n)
      : scores(make_scores(n)),
        view(scores.data(), n),
        eigen(scores, n),
        out(scores.size()),
        matrix{out.data(), n + 1} {}

  bool answers_agree() {
    eliminate(view, RootRule::kSingle, factorization, workspace);
    eigen.invert();
    const double ours = log_partition(factorization);
    if (!(std::abs(ours - eigen.log_partition()) <= 1e-9 * std::abs(ours))) return false;
    marginals(factorization, matrix, workspace);
    const std::vector<double> theirs = eigen.marginals();
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!(std::abs(out[i] - theirs[i]) <= 1e-9)) return false;
    }
    return true;
  }

  std::vector<double> scores;
  ScoreView view;
  EigenContender eigen;
  Factorization factorization;
  Workspace workspace;
  std::vector<double> out;
  EdgeMatrix matrix;
};

Task& task(int n) {
  static std::map<int, Task> tasks;
  const auto found = tasks.find(n);
  if (found != tasks.end()) return found->second;
  Task& made = tasks.try_emplace(n, n).first->second;
  if (!made.answers_agree()) {
    std::fprintf(stderr, "n = %d: the contenders' answers differ\n", n);
    std::exit(1);
  }
  return made;
}

void factor(benchmark::State& state) {
  Task& t = task(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    eliminate(t.view, RootRule::kSingle, t.factorization, t.workspace);
    benchmark::DoNotOptimize(log_partition(t.factorization));
  }
}

void factor_and_marginals(benchmark::State& state) {
  Task& t = task(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    eliminate(t.view, RootRule::kSingle, t.factorization, t.workspace);
    marginals(t.factorization, t.matrix, t.workspace);
    benchmark::ClobberMemory();
  }
}

void eigen_lu(benchmark::State& state) {
  Task& t = task(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(t.eigen.log_partition());
}

void eigen_inverse(benchmark::State& state) {
  Task& t = task(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    t.eigen.invert();
    benchmark::ClobberMemory();
  }
}

void lengths(benchmark::internal::Benchmark* b) {
  for (const int n : {10, 25, 50, 100, 200, 400, 1000}) b->Arg(n);
}

BENCHMARK(factor)->Apply(lengths);
BENCHMARK(factor_and_marginals)->Apply(lengths);
BENCHMARK(eigen_lu)->Apply(lengths);
BENCHMARK(eigen_inverse)->Apply(lengths);

}  // namespace
}  // namespace taproot::bench

BENCHMARK_MAIN();
