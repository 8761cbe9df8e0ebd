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
/// there are any. ROOT is the word of head 0.
class EdgeFile final : public NumberSink {
 public:
  explicit EdgeFile(const Options& options);

  void sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                std::span<const double> values) override;
  int finish() override;

 private:
  void row(std::size_t sentence, std::size_t head, std::size_t modifier, double probability);

  std::string name_;
  Format format_;
  double threshold_;
  bool has_words_;
  OutputFile file_;
  LineBuffer line_;
  std::vector<std::string> words_;  // Of the sentence, from ROOT on, as the format writes them.
  Spill sentences_{file_.temporary()};
  Spill heads_{file_.temporary()};
  Spill modifiers_{file_.temporary()};
  Spill probabilities_{file_.temporary()};
  TextColumn head_words_{file_.temporary()};
  TextColumn modifier_words_{file_.temporary()};
  bool failed_ = false;
};

}  // namespace taproot::cli
