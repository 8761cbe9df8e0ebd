// SPDX-License-Identifier: Apache-2.0
//
// Projective trees beside all trees, in one run: log Z, log Z and marginals, a sampled tree, the
// best tree. One thread, one sentence in the cache, uniform weights. Before anything is timed,
// marginals are checked: they sum to 1 for every word, and projective_mass() is what the two log Z
// say.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

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

struct Task {
  Task(int n, TreeFamily of)
      : family(of),
        scores(make_scores(n)),
        view(scores.data(), n),
        out(scores.size()),
        matrix{out.data(), n + 1},
        heads(static_cast<std::size_t>(n)) {
    factorize(view, RootRule::kSingle, family, factorization, workspace);
    sampler.build(factorization, Algorithm::kAuto, workspace);
  }

  bool answers_agree() {
    const int n = view.n();
    marginals(factorization, matrix, workspace);
    for (int m = 1; m <= n; ++m) {
      double sum = 0;
      for (int h = 0; h <= n; ++h) sum += out[static_cast<std::size_t>(h * (n + 1) + m)];
      if (!(std::abs(sum - 1) <= 1e-10)) return false;
    }
    const double log_mass =
        log_partition(factorize(view, RootRule::kSingle, TreeFamily::kProjective)) -
        log_partition(factorize(view, RootRule::kSingle, TreeFamily::kAll));
    return std::abs(projective_mass(factorization, workspace) - std::exp(log_mass)) <=
           1e-9 * std::exp(log_mass);
  }

  TreeFamily family;
  std::vector<double> scores;
  ScoreView view;
  Factorization factorization;
  Workspace workspace;
  Sampler sampler;
  std::vector<double> out;
  EdgeMatrix matrix;
  Tree heads;
};

Task& task(const benchmark::State& state) {
  static std::map<std::pair<int, TreeFamily>, Task> tasks;
  const int n = static_cast<int>(state.range(0));
  const auto family = static_cast<TreeFamily>(state.range(1));
  const auto found = tasks.find({n, family});
  if (found != tasks.end()) return found->second;
  Task& made = tasks.try_emplace({n, family}, n, family).first->second;
  if (!made.answers_agree()) {
    std::fprintf(stderr, "n = %d: the answers differ\n", n);
    std::exit(1);
  }
  return made;
}

void factor(benchmark::State& state) {
  Task& t = task(state);
  for (auto _ : state) {
    factorize(t.view, RootRule::kSingle, t.family, t.factorization, t.workspace);
    benchmark::DoNotOptimize(log_partition(t.factorization));
  }
}

void factor_and_marginals(benchmark::State& state) {
  Task& t = task(state);
  for (auto _ : state) {
    factorize(t.view, RootRule::kSingle, t.family, t.factorization, t.workspace);
    marginals(t.factorization, t.matrix, t.workspace);
    benchmark::ClobberMemory();
  }
}

void sample(benchmark::State& state) {
  Task& t = task(state);
  std::uint32_t tree = 0;
  for (auto _ : state) {
    t.sampler.sample(0, {Algorithm::kAuto, 1, 0, tree++}, 1, {t.heads.data(), 0}, {}, nullptr,
                     t.workspace);
    benchmark::ClobberMemory();
  }
}

void best(benchmark::State& state) {
  Task& t = task(state);
  for (auto _ : state) {
    argmax(t.view, RootRule::kSingle, t.family, t.heads, nullptr, t.workspace);
    benchmark::ClobberMemory();
  }
}

void cases(benchmark::internal::Benchmark* b) {
  for (const int n : {10, 25, 50, 100, 200}) {
    for (const TreeFamily family : {TreeFamily::kAll, TreeFamily::kProjective}) {
      b->Args({n, static_cast<int>(family)});
    }
  }
  b->ArgNames({"n", "projective"});
}

BENCHMARK(factor)->Apply(cases);
BENCHMARK(factor_and_marginals)->Apply(cases);
BENCHMARK(sample)->Apply(cases);
BENCHMARK(best)->Apply(cases);

}  // namespace
}  // namespace taproot::bench

BENCHMARK_MAIN();
