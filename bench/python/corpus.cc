// SPDX-License-Identifier: Apache-2.0
//
// What corpus.py holds taproot.arrow against: the same work by a C++ caller, with the scores of all
// sentences in memory and one buffer for the answers. Prints microseconds per sentence, by the
// clock and of all cores, for 10 samples with their log probabilities and for marginals.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "taproot/taproot.h"

namespace {

using taproot::BatchOptions;
using taproot::DependencyTrees;

struct Corpus {
  std::vector<float> scores;
  int n;
  std::size_t cells;
  std::size_t sentences;
  std::size_t batch;
};

double cpu_seconds() {
  std::timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// ask(trees) for one batch after the other.
template <typename Ask>
void measure(const Corpus& corpus, taproot::Pool& pool, Ask&& ask) {
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t first = 0; first < corpus.sentences; first += corpus.batch) {
    BatchOptions options;
    options.keep = false;
    std::vector<taproot::ScoreView> views;
    for (std::size_t i = first; i < std::min(corpus.sentences, first + corpus.batch); ++i) {
      views.emplace_back(corpus.scores.data() + i * corpus.cells, corpus.n);
      options.ids.push_back(i);
    }
    DependencyTrees trees(pool, std::move(views), std::move(options));
    ask(trees);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const double each = 1e6 / static_cast<double>(corpus.sentences);
  std::printf("%.4f %.4f ", taken.count() * each, (cpu_seconds() - cpu) * each);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::fprintf(stderr, "usage: bench_corpus FILE N BATCH\n"), 2;
  Corpus corpus;
  corpus.n = std::atoi(arguments[2]);
  const auto side = static_cast<std::size_t>(corpus.n) + 1;
  corpus.cells = side * side;
  corpus.batch = static_cast<std::size_t>(std::atoi(arguments[3]));
  std::FILE* file = std::fopen(arguments[1], "rb");
  if (file == nullptr) return 1;
  std::fseek(file, 0, SEEK_END);
  corpus.scores.resize(static_cast<std::size_t>(std::ftell(file)) / sizeof(float));
  std::rewind(file);
  const std::size_t read =
      std::fread(corpus.scores.data(), sizeof(float), corpus.scores.size(), file);
  std::fclose(file);
  corpus.sentences = read / corpus.cells;

  constexpr std::size_t kTrees = 10;
  taproot::Pool pool;
  const auto words = static_cast<std::size_t>(corpus.n);
  std::vector<std::int32_t> heads(corpus.batch * kTrees * words);
  std::vector<double> log_prob(corpus.batch * kTrees);
  measure(corpus, pool, [&](DependencyTrees& trees) {
    std::vector<taproot::TreeOutput> out(trees.size());
    for (std::size_t b = 0; b < trees.size(); ++b) {
      out[b].heads = heads.data() + b * kTrees * words;
      out[b].stride = corpus.n;
      out[b].log_prob = log_prob.data() + b * kTrees;
    }
    trees.sample(kTrees, {taproot::Algorithm::kAuto, 1}, out);
  });
  std::vector<double> marginals(corpus.batch * corpus.cells);
  measure(corpus, pool, [&](DependencyTrees& trees) {
    std::vector<taproot::EdgeMatrix> out;
    for (std::size_t b = 0; b < trees.size(); ++b) {
      out.push_back({marginals.data() + b * corpus.cells, static_cast<std::ptrdiff_t>(side)});
    }
    trees.marginals(out);
  });
  std::printf("\n");
}
