// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "input/score_reader.h"
#include "input/words.h"
#include "options.h"
#include "progress.h"
#include "taproot/labels.h"
#include "taproot/scores.h"
#include "trees/tree_row.h"

namespace taproot::cli {

/// Some sentences at a time: enough to keep the threads busy, few enough for a small memory.
struct Chunk {
  std::vector<Sentence> sentences;
  /// What the library is given: constraints applied, and with labels the log-sum over them.
  std::vector<ScoreView> views;
  /// The same for decoding: with labels the best of them.
  std::vector<ScoreView> decode_views;
  std::vector<WordSentence> words;         ///< Empty without --words.
  std::vector<std::vector<float>> labels;  ///< Empty without --label-scores.
  std::vector<bool> bad_constraint;        ///< Then the views are empty sentences.

  std::size_t size() const { return sentences.size(); }
  std::uint32_t first() const { return static_cast<std::uint32_t>(sentences[0].number); }
  LabelView label_view(std::size_t i, std::size_t count) const {
    return {labels[i].data(), sentences[i].n, static_cast<int>(count)};
  }

  /// Why sentence i failed.
  FailedRow failure(std::size_t i, const Outcome& outcome) const;

  std::vector<std::vector<double>> memory;  ///< Of the views that are not the sentences' own.
};

/// Reads the input that the options name, with the words and labels that go with it.
class ChunkReader {
 public:
  /// `trees` is how many each sentence will have, which limits how many sentences make a chunk.
  ChunkReader(const Options& options, std::size_t trees);

  bool next(Chunk& chunk);

  const std::vector<std::string>& label_names() const { return label_names_; }

 private:
  void add(Chunk& chunk, Sentence&& sentence);

  const Options& options_;
  std::size_t trees_;
  ScoreReader scores_;
  std::unique_ptr<WordReader> words_;
  std::unique_ptr<LabelReader> labels_;
  std::vector<std::string> label_names_;
  Progress progress_;
};

}  // namespace taproot::cli
