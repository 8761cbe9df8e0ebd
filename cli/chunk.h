// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/tree_row.h"
#include "input/label_reader.h"
#include "input/score_reader.h"
#include "input/words.h"
#include "options.h"
#include "progress.h"
#include "taproot/constraints.h"
#include "taproot/labels.h"
#include "taproot/scores.h"

namespace taproot::cli {

/// Some sentences at a time: enough to keep the threads busy, few enough for a small memory.
struct Chunk {
  std::vector<Sentence> sentences;
  std::vector<std::uint64_t> ids;   ///< What random numbers depend on: the number, unless given.
  std::vector<WordSentence> words;  ///< Empty without --words.
  std::vector<LabelScores> labels;  ///< Empty without --label-scores.
  std::vector<Constraints> constraints;     ///< Empty without any.
  std::vector<std::string> bad_constraint;  ///< What does not fit the sentence; mostly empty.

  std::size_t size() const { return sentences.size(); }
  const WordSentence* words_of(std::size_t i) const { return words.empty() ? nullptr : &words[i]; }
  const std::vector<std::string>& words_or_none(std::size_t i) const {
    static const std::vector<std::string> none;
    return words.empty() ? none : words[i].words;
  }

  /// Says why sentence i failed.
  FailedRow failure(std::size_t i, const Outcome& outcome) const;
};

/// Reads the input that the options name, with the words, labels and ids that belong to it.
class ChunkReader {
 public:
  /// `trees` is the number of trees that each sentence will have; with many trees a chunk has fewer
  /// sentences.
  ChunkReader(const Options& options, std::size_t trees);

  bool next(Chunk& chunk);

  /// The number of sentences that the options choose; at least one is there.
  std::size_t sentences() const { return scores_.chosen(); }

  const std::vector<std::string>& label_names() const { return label_names_; }

 private:
  void add(Chunk& chunk, Sentence&& sentence);

  const Options& options_;
  std::size_t trees_;
  ScoreReader scores_;
  std::unique_ptr<WordReader> words_;
  std::unique_ptr<LabelReader> labels_;
  std::vector<std::string> label_names_;
  std::vector<std::uint64_t> ids_;  // Empty without --ids.
  Progress progress_;
  std::size_t last_size_ = 0;  // Of the chunk before.
};

}  // namespace taproot::cli
