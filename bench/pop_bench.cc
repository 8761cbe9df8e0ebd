// SPDX-License-Identifier: Apache-2.0
//
// Popping against the walk that it replaced (plain_walk.h), in turns in one process.
//
// Usage: bench_pop [avx2] [FAMILY]     microseconds per further tree of "auto", single-root
//        bench_pop times               serves experiments/walks.py
// FAMILY is a part of a name. With TRAINED=data the trained scores are timed, too. `avx2` leaves
// AVX-512 unused.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "hwy/targets.h"
#include "plain_walk.h"
#include "sample/walk/walk.h"
#include "taproot/taproot.h"
#include "testing/families.h"
#include "testing/uniform_weights.h"
#ifdef TAPROOT_BENCH_FILES
#include "testing/trained_scores.h"
#endif

namespace taproot::bench {
namespace {

constexpr int kRounds = 9;
constexpr double kRoundSeconds = 2e-3;
constexpr std::size_t kTreesPerCall = 256;

double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double seconds(const std::function<void()>& function) {
  const double begin = now();
  function();
  return now() - begin;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Sentence {
 public:
  Sentence(const ScoreView& scores, RootRule root, Algorithm algorithm = Algorithm::kAuto)
      : algorithm_(algorithm), heads_(kTreesPerCall * static_cast<std::size_t>(scores.n())) {
    if (!eliminate(scores, root, f_, workspace_).ok()) std::exit(1);
    plain_.build(f_, algorithm == Algorithm::kAuto, workspace_);
    sampler_.build(f_, algorithm, workspace_);
  }

  void walk(std::uint32_t first, std::size_t count) {
    plain_.sample(1, first, count, heads_.data(), workspace_);
  }
  void pop(std::uint32_t first, std::size_t count) {
    sampler_.sample(0, {algorithm_, 1, 0, first}, count, {heads_.data(), f_.n()}, {}, nullptr,
                    workspace_);
  }

 private:
  Algorithm algorithm_;
  Factorization f_;
  Workspace workspace_;
  PlainWalk plain_;
  Sampler sampler_;
  std::vector<std::int32_t> heads_;
};

// One line of the table: calls for `per_call` trees of each sentence, in turns.
void report(const std::string& family, const std::string& n,
            const std::vector<std::unique_ptr<Sentence>>& sentences, std::size_t per_call) {
  std::vector<std::uint32_t> calls;
  double trees = 0;
  for (const auto& sentence : sentences) {
    sentence->pop(0, per_call);
    const double once = seconds([&] { sentence->walk(0, per_call); });
    const double share = kRoundSeconds / static_cast<double>(sentences.size());
    calls.push_back(static_cast<std::uint32_t>(std::max(2.0, share / once)));
    trees += calls.back() * static_cast<double>(per_call);
  }
  std::vector<double> times[2];
  std::uint32_t first = 1000;
  for (int round = 0; round < kRounds; ++round) {
    double taken[2] = {};
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      for (const bool popped : {round % 2 == 0, round % 2 != 0}) {
        taken[popped ? 1 : 0] += seconds([&] {
          for (std::uint32_t c = 0; c < calls[i]; ++c) {
            const std::uint32_t from = first + c * static_cast<std::uint32_t>(per_call);
            popped ? sentences[i]->pop(from, per_call) : sentences[i]->walk(from, per_call);
          }
        });
      }
      most = std::max(most, calls[i] * static_cast<std::uint32_t>(per_call));
    }
    first += most;
    for (int i = 0; i < 2; ++i) times[i].push_back(taken[i] / trees);
  }
  const double walked = median(times[0]);
  const double popped = median(times[1]);
  std::printf("| %s | %s | %.3f | %.3f | %.2f |\n", family.c_str(), n.c_str(), 1e6 * walked,
              1e6 * popped, popped / walked);
  std::fflush(stdout);
}

struct Family {
  std::string name;
  oracle::Problem (*make)(int n, std::uint64_t seed);
  std::size_t per_call = kTreesPerCall;
};

const Family kFamilies[] = {
    {"uniform", uniform_weights},
    {"uniform, one tree per call", uniform_weights, 1},
    {"Gaussian, sigma 2", [](int n, std::uint64_t s) { return oracle::gaussian(n, 2, s); }},
    {"heavy-tailed", oracle::heavy_tailed},
    {"pairs at e^8", [](int n, std::uint64_t s) { return oracle::attractor_pairs(n, 8, s); }},
    {"rings of 5 at e^8", [](int n, std::uint64_t s) { return oracle::rings(n, 5, 8, s); }},
    {"rings of 3 in a ring", [](int n, std::uint64_t s) { return oracle::nested_rings(n, 8, s); }}};

void report_all(const std::string& wanted) {
  std::printf(
      "| weights | n | walk, us | popping, us | ratio |\n| --- | --- | --- | --- | --- |\n");
  for (const Family& family : kFamilies) {
    if (family.name.find(wanted) == std::string::npos) continue;
    for (const int n : {5, 10, 25, 50, 100, 200, 400}) {
      std::vector<std::unique_ptr<Sentence>> sentences;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const oracle::Problem problem = family.make(n, seed);
        sentences.push_back(
            std::make_unique<Sentence>(ScoreView(problem.scores.data(), n), RootRule::kSingle));
      }
      report(family.name, std::to_string(n), sentences, family.per_call);
    }
  }
#ifdef TAPROOT_BENCH_FILES
  const char* folder = std::getenv("TRAINED");
  for (const char* name : {"en_ewt", "wo_wtb"}) {
    if (folder == nullptr) break;
    const TrainedScores file(std::string(folder) + "/" + name + ".npz");
    std::vector<std::unique_ptr<Sentence>> sentences;
    for (const ScoreView& view : file.views()) {
      sentences.push_back(std::make_unique<Sentence>(view, RootRule::kSingle));
    }
    report(name, "all", sentences, kTreesPerCall / 2);
  }
#endif
}

// Answers requests of lines "N TREES FILE", where FILE has the scores as doubles: a line with the
// milliseconds of so many trees from the scores on, and of one more tree, for wilson-marginal by
// the plain walk, by the walk on stacks by its definition, and by popping.
class Times {
 public:
  Times(int n, std::size_t trees, const std::vector<double>& scores)
      : view_(scores.data(), n), trees_(trees), heads_(trees * static_cast<std::size_t>(n)) {}

  void print() {
    const auto own = [&](auto&& sample) {
      const double from_scores = median_of([&] { sample(true); });
      const double further = median_of([&] { sample(false); });
      std::printf("%.7g %.7g ", 1e3 * from_scores, 1e3 * further / static_cast<double>(trees_));
    };
    own([&](bool anew) { walk(anew); });
    own([&](bool anew) { define(anew); });
    own([&](bool anew) { pop(anew); });
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  double median_of(const std::function<void()>& function) {
    std::vector<double> times;
    double sum = 0;
    while (times.size() < 3 || (times.size() < 15 && sum < 5e-3)) {
      first_ += static_cast<std::uint32_t>(trees_);
      times.push_back(seconds(function));
      sum += times.back();
    }
    return median(times);
  }

  void factor() { eliminate(view_, RootRule::kSingle, f_, workspace_); }
  void walk(bool anew) {
    if (anew) {
      factor();
      plain_.build(f_, false, workspace_);
    }
    plain_.sample(1, first_, trees_, heads_.data(), workspace_);
  }
  void pop(bool anew) {
    if (anew) {
      factor();
      sampler_.build(f_, Algorithm::kWilsonMarginal, workspace_);
    }
    sampler_.sample(0, {Algorithm::kWilsonMarginal, 1, 0, first_}, trees_,
                    {heads_.data(), view_.n()}, {}, nullptr, workspace_);
  }
  void define(bool anew) {
    const int n = view_.n();
    const auto words = static_cast<std::size_t>(n);
    if (anew) {
      factor();
      stacks_.build(detail::Access::data(f_), false, detail::Access::scratch(workspace_));
      const std::vector<double> law = root_marginals(f_);
      std::vector<double> shares(words);
      std::vector<std::int32_t> queues(2 * words);
      roots_.resize(words * static_cast<std::size_t>(detail::alias_planes(n)));
      detail::fill_alias(law.data(), n,
                         detail::alias_planes_at(roots_.data(), n, words, std::size_t{0}),
                         shares.data(), queues.data(), queues.data() + words);
    }
    const detail::AliasTable table =
        detail::alias_planes_at<const std::uint32_t>(roots_.data(), n, words, std::size_t{0});
    for (std::size_t s = 0; s < trees_; ++s) {
      const detail::Stacks stacks{detail::stream_key(1, 0), first_ + static_cast<std::uint32_t>(s)};
      const int root = 1 + stacks.choose(table, n, 0, 0);
      detail::walk_simply(stacks_.tables(), root, stacks, {}, heads_.data() + s * words);
    }
  }

  ScoreView view_;
  std::size_t trees_;
  std::uint32_t first_ = 0;
  std::vector<std::int32_t> heads_;
  Factorization f_;
  Workspace workspace_;
  PlainWalk plain_;
  detail::Walk stacks_;
  std::vector<std::uint32_t> roots_;
  Sampler sampler_;
};

void serve() {
  int n = 0;
  std::size_t trees = 0;
  std::string path;
  while (std::cin >> n >> trees >> path) {
    const auto nodes = static_cast<std::size_t>(n) + 1;
    std::vector<double> scores(nodes * nodes);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(scores.data()),
                   static_cast<std::streamsize>(8 * scores.size()))) {
      std::fprintf(stderr, "bench_pop: %s does not have the scores of %d words\n", path.c_str(), n);
      std::exit(1);
    }
    Times(n, trees, scores).print();
  }
}

}  // namespace
}  // namespace taproot::bench

int main(int argc, char** argv) {
  int at = 1;
  if (at < argc && std::strcmp(argv[at], "times") == 0) {
    taproot::bench::serve();
    return 0;
  }
  if (at < argc && std::strcmp(argv[at], "avx2") == 0) {
    hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
    ++at;
  }
  taproot::bench::report_all(at < argc ? argv[at] : "");
}
