// SPDX-License-Identifier: Apache-2.0
#include "commands/edge_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/line_writer.h"
#include "taproot/labels.h"

namespace taproot::cli {

EdgeFile::EdgeFile(const Options& options, const std::vector<std::string>& label_names)
    : NumberSink(options),
      threshold_(options.has_threshold ? options.threshold : 0),
      has_words_(!options.words.empty()) {
  if (!options.label_scores.empty()) labels_ = label_names;
  if (format_ == Format::kJsonl) {
    for (std::string& label : labels_) label = nlohmann::json(label).dump();
  }
  if (format_ != Format::kTsv) return;
  line_.text("sentence\thead\tmodifier\t");
  line_.text(labels_.empty() ? "probability" : "label\tprobability");
  line_.text(has_words_ ? "\thead_word\tmodifier_word\n" : "\n");
}

void EdgeFile::sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                        std::span<const double> values) {
  const Sentence& sentence = chunk.sentences[i];
  if (!outcome.ok()) {
    failed_ = true;
    if (format_ != Format::kNpz) write_failure(line_, format_, chunk.failure(i, outcome));
    return;
  }
  if (const WordSentence* const own = chunk.words_of(i)) {
    words_ = {"ROOT"};
    words_.insert(words_.end(), own->words.begin(), own->words.end());
    if (format_ == Format::kJsonl) {
      for (std::string& word : words_) word = nlohmann::json(word).dump();
    }
  }
  const auto side = static_cast<std::size_t>(sentence.n) + 1;
  const std::size_t count = std::max<std::size_t>(1, labels_.size());
  if (!labels_.empty()) {
    of_labels_.resize(side * side * count);
    label_marginals(chunk.labels[i].view(), values, of_labels_);
    values = of_labels_;
  }
  for (std::size_t m = 1; m < side; ++m) {
    for (std::size_t h = 0; h < side; ++h) {
      for (std::size_t l = 0; l < count; ++l) {
        const double p = values[(h * side + m) * count + l];
        if (h != m && p > 0 && p >= threshold_) row(sentence.number, h, m, l, p);
      }
    }
  }
  line_.flush_if_full(file_);
}

void EdgeFile::row(std::size_t sentence, std::size_t head, std::size_t modifier, std::size_t label,
                   double probability) {
  if (format_ == Format::kNpz) {
    sentences_.put(static_cast<std::int64_t>(sentence));
    heads_.put(static_cast<std::int32_t>(head));
    modifiers_.put(static_cast<std::int32_t>(modifier));
    if (!labels_.empty()) label_texts_.put(labels_[label]);
    probabilities_.put(probability);
    if (!has_words_) return;
    head_words_.put(words_[head]);
    modifier_words_.put(words_[modifier]);
    return;
  }
  const bool json = format_ == Format::kJsonl;
  const auto next = [&](const char* key) { json ? line_.text(key) : line_.byte('\t'); };
  if (json) line_.text("{\"sentence\":");
  line_.number(sentence);
  next(",\"head\":");
  line_.number(head);
  next(",\"modifier\":");
  line_.number(modifier);
  if (!labels_.empty()) {
    next(",\"label\":");
    line_.text(labels_[label]);
  }
  next(",\"probability\":");
  line_.number(probability);
  if (has_words_) {
    next(",\"head_word\":");
    line_.text(words_[head]);
    next(",\"modifier_word\":");
    line_.text(words_[modifier]);
  }
  line_.text(json ? "}\n" : "\n");
}

std::vector<NpyArray> EdgeFile::arrays() {
  std::vector<NpyArray> arrays = {
      spilled_array("sentence", "<i8", sizeof(std::int64_t), sentences_),
      spilled_array("head", "<i4", sizeof(std::int32_t), heads_),
      spilled_array("modifier", "<i4", sizeof(std::int32_t), modifiers_),
      spilled_array("probability", "<f8", sizeof(double), probabilities_)};
  if (!labels_.empty()) arrays.push_back(label_texts_.array("label"));
  if (has_words_) {
    arrays.push_back(head_words_.array("head_word"));
    arrays.push_back(modifier_words_.array("modifier_word"));
  }
  return arrays;
}

}  // namespace taproot::cli
