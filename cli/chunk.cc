// SPDX-License-Identifier: Apache-2.0
#include "chunk.h"

#include <algorithm>

#include "error.h"

namespace taproot::cli {
namespace {

constexpr std::size_t kMostSentences = 512;
constexpr std::size_t kMostCells = std::size_t{1} << 22;  // Scores, 32 MB.
constexpr std::size_t kMostHeads = std::size_t{1} << 23;  // Of trees, 32 MB.

const double kNothing[1] = {0};

ReadOptions read_options(const Options& options) {
  ReadOptions read;
  read.files = options.files;
  read.lengths = options.lengths;
  read.weights = options.weights;
  read.first = options.first;
  read.last = options.last;
  return read;
}

}  // namespace

ChunkReader::ChunkReader(const Options& options, std::size_t trees)
    : options_(options),
      trees_(trees),
      scores_(read_options(options)),
      progress_(options.quiet, options.progress) {
  if (!options.words.empty()) words_ = std::make_unique<WordReader>(options.words);
  if (options.label_scores.empty() != options.labels.empty()) {
    fail("--labels (the names) and --label-scores go together");
  }
  if (!options.labels.empty()) {
    label_names_ = read_label_names(options.labels);
    labels_ =
        std::make_unique<LabelReader>(options.label_scores, static_cast<int>(label_names_.size()));
  }
}

void ChunkReader::add(Chunk& chunk, Sentence&& sentence) {
  const std::size_t number = sentence.number;
  const int n = sentence.n;
  chunk.sentences.push_back(std::move(sentence));
  if (words_ != nullptr) {
    words_->read(number, chunk.words.emplace_back());
    const std::size_t words = chunk.words.back().words.size();
    if (words != static_cast<std::size_t>(n)) {
      fail("{}: sentence {} has {} words, and scores for {}", options_.words, number, words, n);
    }
  }
  if (labels_ != nullptr) labels_->read(number, n, chunk.labels.emplace_back());
  chunk.bad_constraint.push_back(!options_.constraints.fits(n));
}

bool ChunkReader::next(Chunk& chunk) {
  if (chunk.size() > 0) progress_.done(chunk.size());
  chunk = {};
  std::size_t cells = 0;
  std::size_t heads = 0;
  Sentence sentence;
  while (chunk.size() < kMostSentences && cells < kMostCells && heads < kMostHeads &&
         scores_.next(sentence)) {
    const auto n = static_cast<std::size_t>(sentence.n);
    cells += (n + 1) * (n + 1);
    heads += n * trees_;
    add(chunk, std::move(sentence));
    sentence = {};
  }
  // Views last: the sentences do not move any more.
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    ScoreView view = chunk.sentences[i].view();
    ScoreView decode = view;
    if (chunk.bad_constraint[i]) {
      view = decode = ScoreView(kNothing, 0);
    } else {
      if (labels_ != nullptr) {
        const LabelView labels = chunk.label_view(i, label_names_.size());
        decode = add_labels(view, labels, LabelSum::kMax, chunk.memory.emplace_back());
        view = add_labels(view, labels, LabelSum::kLogSum, chunk.memory.emplace_back());
      }
      if (!options_.constraints.empty()) {
        const bool same = labels_ == nullptr;
        view = options_.constraints.apply(view, chunk.memory.emplace_back());
        decode = same ? view : options_.constraints.apply(decode, chunk.memory.emplace_back());
      }
    }
    chunk.views.push_back(view);
    chunk.decode_views.push_back(decode);
  }
  return chunk.size() > 0;
}

FailedRow Chunk::failure(std::size_t i, const Outcome& outcome) const {
  const std::size_t number = sentences[i].number;
  if (bad_constraint[i]) {
    return {number, "bad_constraint",
            fmt::format("sentence {}: a constraint names a word beyond its {} words", number,
                        sentences[i].n)};
  }
  return {number, std::string(to_string(outcome.status)), describe(outcome, number)};
}

}  // namespace taproot::cli
