// SPDX-License-Identifier: Apache-2.0
//
// Batches of short sentences on one thread, of both families: side by side in vector lanes
// (DependencyTrees) against the same sentences one by one, and against one sentence again and
// again, which stays in the cache. Answers are compared before anything is timed. The counter is
// the time per sentence.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "taproot/taproot.h"
#include "testing/uniform_weights.h"

namespace taproot::bench {
namespace {

constexpr std::size_t kSentences = 1024;

struct Batch {
  // All sentences have n words or, if `mixed`, from n / 2 on.
  Batch(int n, bool mixed) : log_z(kSentences) {
    for (std::size_t b = 0; b < kSentences; ++b) {
      const int shorter =
          mixed ? static_cast<int>(b * 7 % (static_cast<std::size_t>(n) / 2 + 1)) : 0;
      problems.push_back(uniform_weights(n - shorter, b));
    }
    for (const oracle::Problem& problem : problems) {
      scores.emplace_back(problem.scores.data(), problem.n);
      marginals.emplace_back(problem.scores.size());
      out.push_back({marginals.back().data(), problem.n + 1});
    }
  }

  std::vector<oracle::Problem> problems;
  std::vector<ScoreView> scores;
  std::vector<double> log_z;
  std::vector<std::vector<double>> marginals;
  std::vector<EdgeMatrix> out;
};

class Contender {
 public:
  Contender(int n, TreeFamily family, bool mixed, bool marginals)
      : batch_(n, mixed), family_(family), marginals_(marginals) {}

  void side_by_side() {
    BatchOptions options;
    options.projective = family_ == TreeFamily::kProjective;
    DependencyTrees d(pool_, batch_.scores, options);
    if (marginals_) {
      d.marginals(batch_.out);
    } else {
      d.log_partition(batch_.log_z);
    }
  }
  void one_by_one() {
    for (std::size_t b = 0; b < kSentences; ++b) answer(b);
  }
  void in_cache() {
    for (std::size_t b = 0; b < kSentences; ++b) answer(0);
  }

  bool agrees() {
    one_by_one();
    const std::vector<double> log_z = batch_.log_z;
    const std::vector<std::vector<double>> p = batch_.marginals;
    side_by_side();
    for (std::size_t b = 0; b < kSentences; ++b) {
      if (!marginals_ && !(std::abs(batch_.log_z[b] - log_z[b]) < 1e-11)) return false;
      for (std::size_t i = 0; marginals_ && i < p[b].size(); ++i) {
        if (!(std::abs(batch_.marginals[b][i] - p[b][i]) < 1e-12)) return false;
      }
    }
    return true;
  }

 private:
  void answer(std::size_t b) {
    factorize(batch_.scores[b], RootRule::kSingle, family_, factorization_, workspace_);
    if (marginals_) {
      taproot::marginals(factorization_, batch_.out[b], workspace_);
    } else {
      batch_.log_z[b] = log_partition(factorization_);
    }
  }

  Batch batch_;
  TreeFamily family_;
  bool marginals_;
  Pool pool_{1};
  Factorization factorization_;
  Workspace workspace_;
};

void run(benchmark::State& state, int n, TreeFamily family, bool mixed, bool marginals,
         void (Contender::*work)()) {
  Contender contender(n, family, mixed, marginals);
  if (!contender.agrees()) state.SkipWithError("the answers differ");
  for (auto _ : state) (contender.*work)();
  state.counters["per_sentence"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kSentences,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void register_all() {
  for (const TreeFamily family : {TreeFamily::kAll, TreeFamily::kProjective}) {
    for (const bool marginals : {false, true}) {
      for (const bool mixed : {false, true}) {
        for (const int n : {2, 5, 10, 15, 20, 25, 32}) {
          const std::string name =
              std::string(family == TreeFamily::kAll ? "all/" : "projective/") +
              (marginals ? "marginals/" : "log_partition/") + (mixed ? "from_half_to/" : "words/") +
              std::to_string(n);
          const auto add = [&](const char* how, void (Contender::*work)()) {
            benchmark::RegisterBenchmark((name + "/" + how).c_str(), run, n, family, mixed,
                                         marginals, work)
                ->Unit(benchmark::kMicrosecond);
          };
          add("side_by_side", &Contender::side_by_side);
          add("one_by_one", &Contender::one_by_one);
          if (!mixed) add("in_cache", &Contender::in_cache);
        }
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
