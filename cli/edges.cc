// SPDX-License-Identifier: Apache-2.0
#include "edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "npz.h"
#include "taproot/taproot.h"

namespace taproot::cli {
namespace {

// What is printed of one sentence.
struct Answer {
  double log_partition = 0;
  double entropy = 0;
  std::vector<double> marginals;
};

class Words {
 public:
  Words(const std::string& path, const Scores& scores) {
    if (path.empty()) return;
    sentences_ = read_words(path);
    if (sentences_.size() != scores.size()) {
      throw std::runtime_error(fmt::format("{} has {} sentences, the scores have {}", path,
                                           sentences_.size(), scores.size()));
    }
    for (std::size_t b = 0; b < scores.size(); ++b) {
      if (sentences_[b].size() != static_cast<std::size_t>(scores[b].n())) {
        throw std::runtime_error(fmt::format("{}: sentence {} has {} words, its scores {}", path, b,
                                             sentences_[b].size(), scores[b].n()));
      }
    }
  }
  std::string word(std::size_t sentence, std::size_t node) const {
    if (node == 0) return "ROOT";
    return sentences_.empty() ? fmt::format("{}", node) : sentences_[sentence][node - 1];
  }
  std::string text(std::size_t sentence) const {
    return sentences_.empty() ? "" : fmt::format("{}", fmt::join(sentences_[sentence], " "));
  }

 private:
  std::vector<std::vector<std::string>> sentences_;
};

void print_sentence(std::size_t sentence, const Answer& answer, int n, const Words& words,
                    int top) {
  const auto side = static_cast<std::size_t>(n) + 1;
  fmt::print("{:>3}  log Z {:<10.4f} entropy {:<8.4f} {}\n", sentence, answer.log_partition,
             answer.entropy, words.text(sentence));
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
    fmt::print("       {:>14} <-", words.word(sentence, m));
    for (std::size_t i = 0; i < std::min<std::size_t>(3, side); ++i) {
      const double p = answer.marginals[heads[m][i] * side + m];
      if (i > 0 && p < 0.005) break;
      fmt::print("  {} {:.1f} %", words.word(sentence, heads[m][i]), 100 * p);
    }
    fmt::print("\n");
  }
}

}  // namespace

int run_edges(const EdgesOptions& options) {
  const ScoreFile file = read_npz(options.scores);
  const Scores scores = file.view(options.root);
  const Words words(options.words, scores);
  std::vector<Outcome> outcomes(scores.size());
  std::vector<Answer> answers(scores.size());
  Pool pool(options.threads);
  for_each_factorization(
      pool, scores, outcomes, [&](std::size_t b, const Factorization& f, Workspace& workspace) {
        const auto side = static_cast<std::size_t>(f.n()) + 1;
        Answer& answer = answers[b];
        answer.log_partition = log_partition(f);
        answer.entropy = entropy(f, workspace);
        answer.marginals.resize(side * side);
        marginals(f, workspace, {answer.marginals.data(), static_cast<std::ptrdiff_t>(side)});
      });
  int failures = 0;
  for (std::size_t b = 0; b < scores.size(); ++b) {
    if (outcomes[b].ok()) {
      print_sentence(b, answers[b], scores[b].n(), words, options.top);
    } else {
      fmt::print(stderr, "taproot: {}: {}\n", options.scores, describe(outcomes[b], b));
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace taproot::cli
