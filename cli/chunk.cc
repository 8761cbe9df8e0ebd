// SPDX-License-Identifier: Apache-2.0
#include "chunk.h"

#include <algorithm>
#include <string_view>

#include "error.h"
#include "input/ids.h"
#include "io/standard_input.h"

namespace taproot::cli {
namespace {

constexpr std::size_t kMostSentences = 512;
constexpr std::size_t kMostSentencesOnGpu = 8192;         // A GPU is busy with many at once.
constexpr std::size_t kMostCells = std::size_t{1} << 22;  // Of scores, 32 MB.
constexpr std::size_t kMostHeads = std::size_t{1} << 23;  // Of trees, 32 MB.

// The library's message speaks of scores; with --weights the user has given none.
std::string bad_weight_message(const Sentence& sentence, const Outcome& outcome) {
  const auto side = static_cast<std::size_t>(sentence.n) + 1;
  const std::size_t cell =
      static_cast<std::size_t>(outcome.head) * side + static_cast<std::size_t>(outcome.modifier);
  const std::string edge = fmt::format("sentence {}: the weight of head {} -> modifier {}",
                                       sentence.number, outcome.head, outcome.modifier);
  for (const BadWeight& bad : sentence.bad_weights) {
    if (bad.cell != cell) continue;
    return fmt::format("{} is {}; weights must be finite and not negative (0 forbids an edge)",
                       edge, bad.value);
  }
  return fmt::format(
      "{} cannot be combined with its label scores, which hold NaN, +inf or a number "
      "that is too large",
      edge);
}

}  // namespace

ChunkReader::ChunkReader(const Options& options, std::size_t trees)
    : options_(options),
      trees_(trees),
      scores_(options),
      progress_(options.quiet, options.progress) {
  if (!options.words.empty()) words_ = std::make_unique<WordReader>(options.words);
  if (options.labels.empty() && !options.label_scores.empty()) {
    fail("--label-scores is given without --labels, which names the labels");
  }
  if (options.label_scores.empty() && !options.labels.empty()) {
    fail("--labels is given without --label-scores");
  }
  if (!options.labels.empty()) {
    label_names_ = read_label_names(options.labels);
    labels_ =
        std::make_unique<LabelReader>(options.label_scores, static_cast<int>(label_names_.size()));
  }
  options.constraints.check_sentences(options.first_number, scores_.total());
  if (!options.ids.empty()) {
    ids_ = read_ids(options.ids);
    if (ids_.size() != scores_.total()) {
      fail("{} has {} ids, but the input has {} sentences", options.ids, ids_.size(),
           scores_.total());
    }
  }
}

void ChunkReader::add(Chunk& chunk, Sentence&& sentence) {
  const std::size_t number = sentence.number;
  const std::size_t place = number - options_.first_number;
  const int n = sentence.n;
  chunk.sentences.push_back(std::move(sentence));
  chunk.ids.push_back(ids_.empty() ? number : ids_[place]);
  if (words_ != nullptr) {
    words_->read(place, chunk.words.emplace_back());
    const std::size_t words = chunk.words.back().words.size();
    if (words != static_cast<std::size_t>(n)) {
      fail("{}: sentence {} has {} words, but {} in the input", shown_name(options_.words), number,
           words, n);
    }
  }
  if (labels_ != nullptr) labels_->read(place, n, chunk.labels.emplace_back());
  std::string& problem = chunk.bad_constraint.emplace_back();
  if (options_.constraints.empty()) return;
  chunk.constraints.push_back(options_.constraints.of(number, n, problem));
}

bool ChunkReader::next(Chunk& chunk) {
  if (last_size_ > 0) progress_.done(last_size_);
  chunk = {};
  std::size_t cells = 0;
  std::size_t heads = 0;
  Sentence sentence;
  const std::size_t most = options_.device == Device::kCuda ? kMostSentencesOnGpu : kMostSentences;
  while (chunk.size() < most && cells < kMostCells && heads < kMostHeads &&
         scores_.next(sentence)) {
    const auto n = static_cast<std::size_t>(sentence.n);
    cells += (n + 1) * (n + 1);
    heads += n * trees_;
    add(chunk, std::move(sentence));
    sentence = {};
  }
  last_size_ = chunk.size();
  return chunk.size() > 0;
}

FailedRow Chunk::failure(std::size_t i, const Outcome& outcome) const {
  const Sentence& sentence = sentences[i];
  if (!bad_constraint[i].empty()) {
    return {sentence.number, "bad_constraint",
            fmt::format("sentence {}: {}", sentence.number, bad_constraint[i])};
  }
  const bool bad_weight = outcome.status == Status::kBadScore && sentence.is_log_of_weights;
  return {sentence.number, std::string(to_string(outcome.status)),
          bad_weight ? bad_weight_message(sentence, outcome) : describe(outcome, sentence.number)};
}

}  // namespace taproot::cli
