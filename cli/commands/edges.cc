// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "commands/commands.h"
#include "commands/number_file.h"
#include "io/output_file.h"

namespace taproot::cli {
namespace {

// What is printed about one sentence.
struct Answer {
  double log_partition;
  double entropy;
  const std::vector<double>& marginals;
};

std::string word(const WordSentence* words, std::size_t node) {
  if (node == 0) return "ROOT";
  return words == nullptr ? fmt::format("{}", node) : words->words[node - 1];
}

std::string describe_sentence(const Sentence& sentence, const Answer& answer,
                              const WordSentence* words, int top) {
  const auto side = static_cast<std::size_t>(sentence.n) + 1;
  std::string text = fmt::format(
      "{:>3}  log Z {:<10.4f} entropy {:<8.4f} {}\n", sentence.number, answer.log_partition,
      answer.entropy, words == nullptr ? "" : fmt::format("{}", fmt::join(words->words, " ")));
  // The heads of each word, the most probable first.
  std::vector<std::vector<std::size_t>> heads(side);
  for (std::size_t m = 1; m < side; ++m) {
    heads[m].resize(side);
    std::iota(heads[m].begin(), heads[m].end(), 0);
    std::stable_sort(heads[m].begin(), heads[m].end(), [&](std::size_t a, std::size_t b) {
      return answer.marginals[a * side + m] > answer.marginals[b * side + m];
    });
  }
  const auto certainty = [&](std::size_t m) { return answer.marginals[heads[m][0] * side + m]; };
  std::vector<std::size_t> order(side - 1);
  std::iota(order.begin(), order.end(), 1);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return certainty(a) < certainty(b); });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  for (const std::size_t m : order) {
    text += fmt::format("       {:>14} <-", word(words, m));
    for (std::size_t i = 0; i < std::min<std::size_t>(3, side); ++i) {
      const double p = answer.marginals[heads[m][i] * side + m];
      if (i > 0 && p < 0.005) break;
      text += fmt::format("  {} {:.1f} %", word(words, heads[m][i]), 100 * p);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

int run_edges(const Options& options) {
  ChunkReader reader(options, 1);
  Engine engine(options);
  OutputFile out(options.output);
  bool failed = false;
  Chunk chunk;
  while (reader.next(chunk)) {
    DependencyTrees trees = engine.trees(chunk, true);
    std::vector<std::vector<double>> marginals;
    std::vector<double> entropies(chunk.size());
    std::vector<double> log_partitions(chunk.size());
    const std::vector<Outcome> outcomes = find_marginals(trees, marginals);
    trees.entropy(entropies);
    trees.log_partition(log_partitions);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const WordSentence* words = chunk.words_of(i);
      if (outcomes[i].ok()) {
        const Answer answer{log_partitions[i], entropies[i], marginals[i]};
        out.write(describe_sentence(chunk.sentences[i], answer, words, options.top));
      } else {
        failed = true;
        const FailedRow row = chunk.failure(i, outcomes[i]);
        out.write(fmt::format("{:>3}  {}: {}\n", row.sentence, row.status, row.message));
      }
    }
  }
  out.commit();
  return failed ? kSomeFailed : kAllFine;
}

}  // namespace taproot::cli
