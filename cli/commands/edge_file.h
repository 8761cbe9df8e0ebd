// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "commands/number_file.h"
#include "io/text_column.h"

namespace taproot::cli {

/// Writes marginals as a list: one row per edge whose probability is positive and at least the
/// threshold (0 unless it was given), ordered by sentence, modifier and head, with the words if
/// there are any. ROOT is the word of head 0. Where there are label scores, an edge and a label
/// have a row, with the probability of the edge with this label, in the order of the labels.
class EdgeFile final : public NumberSink {
 public:
  /// `label_names` is used where there are label scores.
  EdgeFile(const Options& options, const std::vector<std::string>& label_names);

  void sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                std::span<const double> values) override;

 private:
  std::vector<NpyArray> arrays() override;
  void row(std::size_t sentence, std::size_t head, std::size_t modifier, std::size_t label,
           double probability);

  double threshold_;
  bool has_words_;
  std::vector<std::string> labels_;  // As the format writes them; empty without label scores.
  std::vector<std::string> words_;   // Of the sentence, from ROOT on, as the format writes them.
  Spill sentences_{file_.temporary()};
  Spill heads_{file_.temporary()};
  Spill modifiers_{file_.temporary()};
  Spill probabilities_{file_.temporary()};
  TextColumn label_texts_{file_.temporary()};
  TextColumn head_words_{file_.temporary()};
  TextColumn modifier_words_{file_.temporary()};
  std::vector<double> of_labels_;  // p [n+1][n+1][labels]
};

}  // namespace taproot::cli
