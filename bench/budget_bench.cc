// SPDX-License-Identifier: Apache-2.0
//
// When should `auto` give up a walk and un-eliminate instead? This program times rules for that on
// weights whose walks end early, late and never. It prints, for each family and length, the time of
// `elimination` per tree and for each rule the ratio to it, the share of walks given up and the
// mean number of steps per word. All rules sample exactly, because they depend on nothing but how
// many heads each word has taken, which is independent of the tree given the root (docs/math.md).
// The rules are timed on a plain walk with a running number for its draws; the rule "auto" is what
// the library does, which pops cycles.
//
// Usage: bench_budget [FAMILY [RULE...]], where FAMILY is a part of a name ("" for all) and a RULE
// is "auto", or STEPS:DEPTH as in struct Rule. With TRAINED=data the trained scores are timed, too.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "sample/conditionals/weights_by_modifier.h"
#include "sample/un_elimination/un_elimination.h"
#include "sample/walk/alias.h"
#include "taproot/taproot.h"
#include "testing/families.h"
#include "testing/uniform_weights.h"
#ifdef TAPROOT_BENCH_FILES
#include "testing/trained_scores.h"
#endif

namespace taproot::bench {
namespace {

using detail::Stream;

// A walk is given up when it would take more than steps_per_word * n steps in all, or more than
// `depth` (at most 127) heads for one word. 0 stands for no such limit.
struct Rule {
  std::string name;
  int steps_per_word;
  int depth;
  bool is_library() const { return name == "auto"; }
};

// The thread's own time, so that other work on the machine counts less.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Sentence {
 public:
  Sentence(const ScoreView& scores, RootRule root) : n_(scores.n()), rule_(root) {
    const Outcome outcome = eliminate(scores, root, f_, workspace_);
    if (!outcome.ok()) std::exit(1);
    const detail::FactorData& data = detail::Access::data(f_);
    detail::Scratch& scratch = detail::Access::scratch(workspace_);
    elimination_.build(data);
    const auto words = static_cast<std::size_t>(n_);
    std::vector<double> shares(words + 1);
    std::vector<std::int32_t> work(2 * words + 2);
    if (root == RootRule::kSingle) {
      const std::vector<double> p = root_marginals(f_);
      root_planes_.resize(2 * words);
      detail::fill_alias(p.data(), n_,
                         detail::alias_planes_at(root_planes_.data(), n_, words, std::size_t{0}),
                         shares.data(), work.data(), work.data() + words);
    }
    planes_.resize(2 * (words + 1) * (words + 1));
    const double* weights = detail::weights_by_modifier(data, root == RootRule::kMulti, scratch);
    for (std::size_t m = 1; m <= words; ++m) {
      const double* row = weights + m * data.table.ld;
      if (std::all_of(row, row + words + 1, [](double w) { return w == 0; })) continue;
      detail::fill_alias(
          row, n_ + 1,
          detail::alias_planes_at(planes_.data(), n_ + 1, planes_.size() / 2, m * (words + 1)),
          shares.data(), work.data(), work.data() + words + 1);
    }
    heads_.resize(words);
    state_.resize(words + 1);
    sampler_.build(f_, Algorithm::kAuto, workspace_);
  }

  int n() const { return n_; }

  void eliminate_tree(std::uint32_t sample) {
    Stream stream(detail::stream_key(1, 0), sample, detail::Purpose::kTree);
    elimination_.sample(0, stream, detail::Access::scratch(workspace_), heads_.data());
  }

  // Returns how many trees were given up.
  std::uint64_t sample(std::uint32_t first, std::uint32_t count, std::uint64_t& steps) {
    SampleStatistics statistics;
    all_heads_.resize(heads_.size() * count);
    sampler_.sample(0, {Algorithm::kAuto, 1, 0, first}, count, {all_heads_.data(), n_}, {},
                    &statistics, workspace_);
    steps += statistics.steps;
    return statistics.fallbacks;
  }

  // Returns whether the walk was given up.
  bool walk_tree(const Rule& rule, std::uint32_t sample, std::uint64_t& steps) {
    Stream stream(detail::stream_key(1, 0), sample, detail::Purpose::kTree);
    const detail::AliasTable roots = detail::alias_planes_at<const std::uint32_t>(
        root_planes_.data(), n_, static_cast<std::size_t>(n_), std::size_t{0});
    const int root = rule_ == RootRule::kSingle ? 1 + detail::sample_alias(roots, n_, stream) : 0;
    const bool finished = rule.depth == 0 ? walk_by_steps(root, rule.steps_per_word, stream, steps)
                                          : walk_by_depth(root, rule, stream, steps);
    if (finished) return false;
    Stream fresh = Stream::of_many(detail::stream_key(1, 0), sample, detail::Purpose::kFallback);
    elimination_.sample(root, fresh, detail::Access::scratch(workspace_), heads_.data());
    return true;
  }

 private:
  detail::AliasTable heads_of(int node) const {
    const std::size_t offset = static_cast<std::size_t>(node) * (static_cast<std::size_t>(n_) + 1);
    return detail::alias_planes_at<const std::uint32_t>(planes_.data(), n_ + 1, planes_.size() / 2,
                                                        offset);
  }

  bool walk_by_steps(int root, int steps_per_word, Stream& stream, std::uint64_t& steps) {
    const std::uint64_t limit = steps_per_word == 0 ? ~std::uint64_t{0}
                                                    : static_cast<std::uint64_t>(steps_per_word) *
                                                          static_cast<std::uint64_t>(n_);
    std::uint8_t* in_tree = reinterpret_cast<std::uint8_t*>(state_.data());
    std::int32_t* heads = heads_.data();
    std::fill(in_tree, in_tree + n_ + 1, std::uint8_t{0});
    in_tree[root] = 1;
    if (root != 0) heads[root - 1] = 0;
    std::uint64_t taken = 0;
    for (int start = 1; start <= n_; ++start) {
      int node = start;
      while (in_tree[node] == 0) {
        if (taken == limit) {
          steps += taken;
          return false;
        }
        ++taken;
        const int head = detail::sample_alias(heads_of(node), n_ + 1, stream);
        heads[node - 1] = head;
        node = head;
      }
      for (node = start; in_tree[node] == 0; node = heads[node - 1]) in_tree[node] = 1;
    }
    steps += taken;
    return true;
  }

  // state[m] counts down the heads that m may still take; it is negative in the tree.
  bool walk_by_depth(int root, const Rule& rule, Stream& stream, std::uint64_t& steps) {
    const std::int64_t limit = rule.steps_per_word == 0 ? std::int64_t{rule.depth} * n_
                                                        : std::int64_t{rule.steps_per_word} * n_;
    std::int8_t* state = state_.data();
    std::int32_t* heads = heads_.data();
    std::fill(state, state + n_ + 1, static_cast<std::int8_t>(rule.depth));
    state[root] = -1;
    if (root != 0) heads[root - 1] = 0;
    std::int64_t left = limit;
    for (int start = 1; start <= n_; ++start) {
      int node = start;
      std::int8_t more = state[node];
      while (more > 0) {
        if (left == 0) break;
        --left;
        state[node] = static_cast<std::int8_t>(more - 1);
        const int head = detail::sample_alias(heads_of(node), n_ + 1, stream);
        heads[node - 1] = head;
        node = head;
        more = state[node];
      }
      if (more >= 0) {
        steps += static_cast<std::uint64_t>(limit - left);
        return false;
      }
      for (node = start; state[node] >= 0; node = heads[node - 1]) state[node] = -1;
    }
    steps += static_cast<std::uint64_t>(limit - left);
    return true;
  }

  int n_;
  RootRule rule_;
  Factorization f_;
  Workspace workspace_;
  detail::EliminationSampler elimination_;
  Sampler sampler_;
  std::vector<std::int32_t> all_heads_;
  std::vector<std::uint32_t> root_planes_;
  std::vector<std::uint32_t> planes_;
  std::vector<std::int32_t> heads_;
  std::vector<std::int8_t> state_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr int kRepetitions = 9;

// One line of the table: `trees` of each sentence, with the rules interleaved.
void report(const std::string& family, std::vector<std::unique_ptr<Sentence>>& sentences,
            std::uint32_t trees, std::span<const Rule> rules) {
  std::vector<std::vector<double>> times(rules.size() + 1);
  std::vector<std::uint64_t> given_up(rules.size());
  std::vector<std::uint64_t> steps(rules.size());
  double words = 0;
  for (const auto& sentence : sentences) words += sentence->n();
  words /= static_cast<double>(sentences.size());
  const double count = static_cast<double>(trees) * static_cast<double>(sentences.size());
  std::uint32_t first = 0;
  // The first repetition warms up.
  for (int repetition = -1; repetition < kRepetitions; ++repetition, first += trees + 1) {
    if (repetition == 0) {
      for (auto& t : times) t.clear();
    }
    double begin = now();
    for (auto& sentence : sentences) {
      for (std::uint32_t s = 0; s < trees; ++s) sentence->eliminate_tree(first + s);
    }
    times[0].push_back(now() - begin);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const std::size_t r = (i + first) % rules.size();
      begin = now();
      for (auto& sentence : sentences) {
        if (rules[r].is_library()) given_up[r] += sentence->sample(first, trees, steps[r]);
        for (std::uint32_t s = 0; s < trees && !rules[r].is_library(); ++s) {
          given_up[r] += sentence->walk_tree(rules[r], first + s, steps[r]) ? 1U : 0U;
        }
      }
      times[r + 1].push_back(now() - begin);
    }
  }
  const double elimination = median(times[0]);
  std::printf("| %s | %.2f", family.c_str(), elimination / count * 1e6);
  for (std::size_t r = 0; r < rules.size(); ++r) {
    std::printf(" | %.2f (%.1f%%, %.1f)", median(times[r + 1]) / elimination,
                100 * static_cast<double>(given_up[r]) / count / (kRepetitions + 1),
                static_cast<double>(steps[r]) / count / (kRepetitions + 1) / words);
  }
  std::printf(" |\n");
  std::fflush(stdout);
}

void report(const std::string& family, std::span<const oracle::Problem> problems, RootRule root,
            std::span<const Rule> rules) {
  std::vector<std::unique_ptr<Sentence>> sentences;
  for (const oracle::Problem& p : problems) {
    sentences.push_back(std::make_unique<Sentence>(ScoreView(p.scores.data(), p.n), root));
  }
  const auto trees = static_cast<std::uint32_t>(
      std::max(200, 20000 / problems[0].n / static_cast<int>(problems.size())));
  report(family + " " + std::to_string(problems[0].n), sentences, trees, rules);
}

int run(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : "";
  std::vector<Rule> rules;
  for (int i = 2; i < argc; ++i) {
    Rule rule{argv[i], 0, 0};
    const bool read =
        std::sscanf(argv[i], "%d:%d", &rule.steps_per_word, &rule.depth) == 2 && rule.depth <= 127;
    if (!read && !rule.is_library()) {
      std::fprintf(stderr, "bench_budget: '%s' is neither auto nor STEPS:DEPTH\n", argv[i]);
      return 1;
    }
    rules.push_back(rule);
  }
  if (rules.empty()) {
    rules = {{"16:0", 16, 0}, {"4:0", 4, 0}, {"6:24", 6, 24}, {"9:24", 9, 24}, {"auto", 0, 0}};
  }
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    std::printf("\n%s-root\n\n| weights | elimination, us |", std::string(to_string(root)).c_str());
    for (const Rule& rule : rules) std::printf(" %s |", rule.name.c_str());
    std::printf("\n| --- | --- |");
    for (std::size_t r = 0; r < rules.size(); ++r) std::printf(" --- |");
    std::printf("\n");
    for (const int n : {5, 10, 25, 50, 100, 200}) {
      using Make = oracle::Problem (*)(int, std::uint64_t);
      const std::pair<const char*, Make> families[] = {
          {"uniform", [](int k, std::uint64_t seed) { return uniform_weights(k, seed); }},
          {"gauss-1", [](int k, std::uint64_t seed) { return oracle::gaussian(k, 1, seed); }},
          {"gauss-2", [](int k, std::uint64_t seed) { return oracle::gaussian(k, 2, seed); }},
          {"gauss-5", [](int k, std::uint64_t seed) { return oracle::gaussian(k, 5, seed); }},
          {"gauss-10", [](int k, std::uint64_t seed) { return oracle::gaussian(k, 10, seed); }},
          {"heavy-tailed", [](int k, std::uint64_t seed) { return oracle::heavy_tailed(k, seed); }},
          {"near-empty",
           [](int k, std::uint64_t seed) { return oracle::near_empty_columns(k, seed); }},
          {"pairs-3",
           [](int k, std::uint64_t seed) { return oracle::attractor_pairs(k, 3, seed); }},
          {"pairs-5",
           [](int k, std::uint64_t seed) { return oracle::attractor_pairs(k, 5, seed); }},
          {"pairs-8",
           [](int k, std::uint64_t seed) { return oracle::attractor_pairs(k, 8, seed); }},
          {"pairs-30",
           [](int k, std::uint64_t seed) { return oracle::attractor_pairs(k, 30, seed); }},
          {"rings-5-8", [](int k, std::uint64_t seed) { return oracle::rings(k, 5, 8, seed); }},
          {"ring-n-8", [](int k, std::uint64_t seed) { return oracle::rings(k, k, 8, seed); }},
          {"ring-n-12", [](int k, std::uint64_t seed) { return oracle::rings(k, k, 12, seed); }},
          {"nested-8", [](int k, std::uint64_t seed) { return oracle::nested_rings(k, 8, seed); }}};
      for (const auto& [name, make] : families) {
        if (std::strstr(name, only) == nullptr) continue;
        std::vector<oracle::Problem> problems;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) problems.push_back(make(n, seed));
        report(name, problems, root, rules);
      }
    }
#ifdef TAPROOT_BENCH_FILES
    if (const char* folder = std::getenv("TRAINED")) {
      for (const char* name : {"en_ewt", "wo_wtb"}) {
        if (std::strstr(name, only) == nullptr) continue;
        const TrainedScores file(std::string(folder) + "/" + name + ".npz");
        std::vector<std::unique_ptr<Sentence>> sentences;
        for (const ScoreView& view : file.views()) {
          sentences.push_back(std::make_unique<Sentence>(view, root));
        }
        report(name, sentences, 50, rules);
      }
    }
#endif
  }
  return 0;
}

}  // namespace
}  // namespace taproot::bench

int main(int argc, char** argv) { return taproot::bench::run(argc, argv); }
