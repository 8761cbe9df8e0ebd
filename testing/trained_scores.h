// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "input/score_reader.h"
#include "taproot/scores.h"

namespace taproot::bench {

/// All sentences of a file of scores, in memory.
struct TrainedScores {
  std::vector<cli::Sentence> sentences;

  explicit TrainedScores(const std::string& path) {
    cli::ReadOptions options;
    options.files = {path};
    cli::ScoreReader reader(options);
    for (cli::Sentence sentence; reader.next(sentence);) sentences.push_back(sentence);
  }

  std::vector<ScoreView> views() const {
    std::vector<ScoreView> all;
    for (const cli::Sentence& sentence : sentences) all.push_back(sentence.view());
    return all;
  }
};

}  // namespace taproot::bench
