// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands/commands.h"
#include "commands/number_file.h"
#include "formats/line_writer.h"
#include "io/output_file.h"
#include "taproot/draw.h"

namespace taproot::cli {
namespace {

// What is written about one sentence.
struct Answer {
  const Sentence& sentence;
  const WordSentence* words;
  double log_partition;
  double entropy;
  const std::vector<double>& marginals;

  std::size_t side() const { return static_cast<std::size_t>(sentence.n) + 1; }
  double probability(std::size_t head, std::size_t modifier) const {
    return marginals[head * side() + modifier];
  }
  // The word itself, or its number if the words are unknown.
  std::string word(std::size_t node) const {
    if (node == 0) return "ROOT";
    return words == nullptr ? fmt::format("{}", node) : words->words[node - 1];
  }
};

// A word, and up to three of its heads, the most probable first. Heads after the first are listed
// only from half a percent on.
struct Doubt {
  std::size_t modifier;
  std::vector<std::size_t> heads;
};

// The `top` words whose most probable head is least probable.
std::vector<Doubt> doubts(const Answer& answer, int top) {
  constexpr std::size_t kMostHeads = 3;
  constexpr double kLeast = 0.005;
  std::vector<Doubt> all;
  for (std::size_t m = 1; m < answer.side(); ++m) {
    std::vector<std::size_t> heads(answer.side());
    std::iota(heads.begin(), heads.end(), 0);
    std::stable_sort(heads.begin(), heads.end(), [&](std::size_t a, std::size_t b) {
      return answer.probability(a, m) > answer.probability(b, m);
    });
    heads.resize(std::min(kMostHeads, heads.size()));
    while (heads.size() > 1 && answer.probability(heads.back(), m) < kLeast) heads.pop_back();
    all.push_back({m, std::move(heads)});
  }
  std::stable_sort(all.begin(), all.end(), [&](const Doubt& a, const Doubt& b) {
    return answer.probability(a.heads[0], a.modifier) < answer.probability(b.heads[0], b.modifier);
  });
  all.resize(std::min(all.size(), static_cast<std::size_t>(top)));
  return all;
}

// In percent, and "100.0 %" for exactly 1 alone.
std::string percent(double p) {
  return p < 1 && p >= 0.9995 ? "> 99.9 %" : fmt::format("{:.1f} %", 100 * p);
}

std::string as_text(const Answer& answer, int top) {
  std::vector<std::string> words;
  if (answer.words != nullptr) {
    for (const std::string& word : answer.words->words) words.push_back(shown_text(word));
  }
  std::string text =
      fmt::format("{:>3}  log Z {:<10.4f} entropy {:<8.4f} {}\n", answer.sentence.number,
                  answer.log_partition, answer.entropy, fmt::join(words, " "));
  for (const Doubt& doubt : doubts(answer, top)) {
    text += fmt::format("       {:>14} <-", shown_text(answer.word(doubt.modifier)));
    for (const std::size_t head : doubt.heads) {
      text += fmt::format("  {} {}", shown_text(answer.word(head)),
                          percent(answer.probability(head, doubt.modifier)));
    }
    text += "\n";
  }
  return text;
}

std::string as_json(const Answer& answer, int top) {
  using Json = nlohmann::ordered_json;
  const bool words = answer.words != nullptr;
  Json listed = Json::array();
  for (const Doubt& doubt : doubts(answer, top)) {
    Json heads = Json::array();
    for (const std::size_t head : doubt.heads) {
      Json& one = heads.emplace_back(Json{{"head", head}});
      if (words) one["head_word"] = answer.word(head);
      one["probability"] = answer.probability(head, doubt.modifier);
    }
    Json& one = listed.emplace_back(Json{{"modifier", doubt.modifier}});
    if (words) one["modifier_word"] = answer.word(doubt.modifier);
    one["heads"] = std::move(heads);
  }
  const Json line = {{"sentence", answer.sentence.number},
                     {"n", answer.sentence.n},
                     {"status", "ok"},
                     {"log_partition", answer.log_partition},
                     {"entropy", answer.entropy},
                     {"least_certain", listed}};
  return line.dump() + "\n";
}

}  // namespace

int run_edges(const Options& options) {
  ChunkReader reader(options, 1);
  Engine engine(options);
  OutputFile out(options.output);
  LineBuffer failure;
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
      if (!outcomes[i].ok()) {
        failed = true;
        write_failure(failure, options.format, chunk.failure(i, outcomes[i]));
        failure.flush(out);
        continue;
      }
      const Answer answer{chunk.sentences[i], chunk.words_of(i), log_partitions[i], entropies[i],
                          marginals[i]};
      out.write(options.format == Format::kJsonl ? as_json(answer, options.top)
                                                 : as_text(answer, options.top));
    }
  }
  out.commit();
  return failed ? kSomeFailed : kAllFine;
}

}  // namespace taproot::cli
