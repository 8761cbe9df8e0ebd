// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

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
  double projective = 0;  // The share of the projective trees in Z.
  double entropy = 0;
  double best = 0;  // Probability of the best tree.
  std::size_t answered_words = 0;
  std::vector<double> best_of_all;
};

void add(Engine& engine, const Chunk& chunk, Summary& sum) {
  DependencyTrees trees = engine.trees(chunk, true);
  std::vector<double> entropies(chunk.size());
  std::vector<double> tries(chunk.size());
  std::vector<double> projective(chunk.size());
  const std::vector<Outcome> outcomes = trees.entropy(entropies);
  trees.expected_tries(tries);
  trees.projective_mass(projective);
  const std::vector<SentenceTrees> best = decoded_trees(trees, &DependencyTrees::argmax);
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const int n = chunk.sentences[i].n;
    ++sum.sentences;
    sum.words += static_cast<std::size_t>(n);
    sum.shortest = std::min(sum.shortest, n);
    sum.longest = std::max(sum.longest, n);
    const bool bad_constraint = !chunk.bad_constraint[i].empty();
    if (bad_constraint || !outcomes[i].ok()) {
      ++sum.failed[bad_constraint ? "bad_constraint" : std::string(to_string(outcomes[i].status))];
      continue;
    }
    ++sum.answered;
    sum.answered_words += static_cast<std::size_t>(n);
    sum.tries += tries[i];
    sum.projective += projective[i];
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

// The averages that text and JSON both print, over the sentences that were answered.
struct Averages {
  double entropy = 0;
  double entropy_per_word = 0;
  double best = 0;
  double median_best = 0;
  double tries = 0;
  double projective = 0;
};

Averages averages(Summary& sum) {
  const auto count = static_cast<double>(sum.answered);
  const auto words = static_cast<double>(std::max<std::size_t>(1, sum.answered_words));
  return {sum.entropy / count,     sum.entropy / words, sum.best / count,
          median(sum.best_of_all), sum.tries / count,   sum.projective / count};
}

std::string as_text(Summary& sum, const Options& options) {
  std::string text = fmt::format("sentences        {}\n", sum.sentences);
  if (sum.sentences > 0) {
    text += fmt::format("words            {}, {} to {} per sentence, {:.1f} on average\n",
                        sum.words, sum.shortest, sum.longest,
                        static_cast<double>(sum.words) / static_cast<double>(sum.sentences));
  }
  if (sum.answered > 0) {
    const Averages mean = averages(sum);
    text += fmt::format("root rule        {}\n", to_string(options.root));
    if (options.projective) text += "trees            projective\n";
    text += fmt::format("entropy          {:.4f} nats per sentence, {:.4f} per word\n",
                        mean.entropy, mean.entropy_per_word);
    text +=
        fmt::format("best tree        has probability {:.4f} on average, {:.4f} in the median\n",
                    mean.best, mean.median_best);
    text += fmt::format(
        "expected tries   {:.4f} on average (multi-root trees sampled until one has a single "
        "root)\n",
        mean.tries);
    text += fmt::format("projective       {:.4f} of the probability of all trees, on average\n",
                        mean.projective);
  }
  for (const auto& [status, count] : sum.failed) text += fmt::format("{:<16} {}\n", status, count);
  return text;
}

std::string as_json(Summary& sum, const Options& options) {
  nlohmann::ordered_json line = {{"sentences", sum.sentences}, {"words", sum.words}};
  if (sum.sentences > 0) {
    line["shortest"] = sum.shortest;
    line["longest"] = sum.longest;
  }
  line["root"] = to_string(options.root);
  if (options.projective) line["projective"] = true;
  if (sum.answered > 0) {
    const Averages mean = averages(sum);
    line["mean_entropy"] = mean.entropy;
    line["mean_entropy_per_word"] = mean.entropy_per_word;
    line["mean_best_probability"] = mean.best;
    line["median_best_probability"] = mean.median_best;
    line["mean_expected_tries"] = mean.tries;
    line["mean_projective_mass"] = mean.projective;
  }
  line["failed"] = nlohmann::ordered_json::object();
  for (const auto& [status, count] : sum.failed) line["failed"][status] = count;
  return line.dump() + "\n";
}

}  // namespace

int run_info(const Options& options) {
  ChunkReader reader(options, 1);
  Engine engine(options);
  OutputFile out(options.output);
  Summary sum;
  Chunk chunk;
  while (reader.next(chunk)) add(engine, chunk, sum);
  out.write(options.format == Format::kJsonl ? as_json(sum, options) : as_text(sum, options));
  out.commit();
  return sum.failed.empty() ? kAllFine : kSomeFailed;
}

}  // namespace taproot::cli
