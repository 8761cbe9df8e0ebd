// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "commands/commands.h"
#include "commands/tree_results.h"
#include "io/output_file.h"

namespace taproot::cli {
namespace {

struct Summary {
  std::size_t sentences = 0;
  std::size_t words = 0;
  int shortest = 1 << 30;
  int longest = 0;
  std::map<std::string, std::size_t> failed;
  std::size_t answered = 0;
  double tries = 0;
  double entropy = 0;
  double best = 0;  // Probability of the best tree.
  std::size_t answered_words = 0;
  std::vector<double> best_of_all;
};

void add(Engine& engine, const Chunk& chunk, Summary& sum) {
  DependencyTrees trees = engine.trees(chunk, true);
  std::vector<double> entropies(chunk.size());
  std::vector<double> tries(chunk.size());
  const std::vector<Outcome> outcomes = trees.entropy(entropies);
  trees.expected_tries(tries);
  const std::vector<SentenceTrees> best = best_trees(trees);
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const int n = chunk.sentences[i].n;
    ++sum.sentences;
    sum.words += static_cast<std::size_t>(n);
    sum.shortest = std::min(sum.shortest, n);
    sum.longest = std::max(sum.longest, n);
    if (chunk.bad_constraint[i] || !outcomes[i].ok()) {
      ++sum.failed[chunk.bad_constraint[i] ? "bad_constraint"
                                           : std::string(to_string(outcomes[i].status))];
      continue;
    }
    ++sum.answered;
    sum.answered_words += static_cast<std::size_t>(n);
    sum.tries += tries[i];
    sum.entropy += entropies[i];
    sum.best += std::exp(best[i].log_prob[0]);
    sum.best_of_all.push_back(std::exp(best[i].log_prob[0]));
  }
}

// The mean of the two middle values if their number is even. Changes the order of the values.
double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

int run_info(const Options& options) {
  ChunkReader reader(options, 1);
  Engine engine(options);
  Summary sum;
  Chunk chunk;
  while (reader.next(chunk)) add(engine, chunk, sum);
  std::string text = fmt::format("sentences        {}\n", sum.sentences);
  if (sum.sentences > 0) {
    text += fmt::format("words            {}, {} to {} per sentence, {:.1f} on average\n",
                        sum.words, sum.shortest, sum.longest,
                        static_cast<double>(sum.words) / static_cast<double>(sum.sentences));
  }
  if (sum.answered > 0) {
    const auto count = static_cast<double>(sum.answered);
    text += fmt::format("root rule        {}\n", to_string(options.root));
    text += fmt::format(
        "entropy          {:.4f} nats per sentence, {:.4f} per word\n", sum.entropy / count,
        sum.entropy / static_cast<double>(std::max<std::size_t>(1, sum.answered_words)));
    text +=
        fmt::format("best tree        has probability {:.4f} on average, {:.4f} in the median\n",
                    sum.best / count, median(sum.best_of_all));
    text += fmt::format(
        "Z_T / Z_D        {:.4f} on average (tries until a multi-root tree has one root)\n",
        sum.tries / count);
  }
  for (const auto& [status, count] : sum.failed) text += fmt::format("{:<16} {}\n", status, count);
  OutputFile out(options.output);
  out.write(text);
  out.commit();
  return sum.failed.empty() ? kAllFine : kSomeFailed;
}

}  // namespace taproot::cli
