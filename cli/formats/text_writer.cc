// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "error.h"
#include "formats/formats.h"
#include "formats/line_writer.h"
#include "formats/row_check.h"

namespace taproot::cli {
namespace {

class TextWriter final : public LineWriter {
 public:
  using LineWriter::LineWriter;

  std::unique_ptr<TreeWriter> part() const override { return std::make_unique<TextWriter>(kind_); }

  void sentence(std::size_t number, int n, const WordSentence* words) override {
    has_words_ = words != nullptr;
    if (!has_words_) return;
    check_words(number, n, *words);
    words_ = words->words;
  }

  void tree(const TreeRow& row) override {
    if (has_words_) check_size(row);  // Before anything of the line is there.
    line_.number(row.sentence);
    if (kind_ != IndexKind::kNone) {
      line_.byte(' ');
      line_.number(row.index);
    }
    line_.byte(' ');
    line_.number(row.log_prob.value_or(std::numeric_limits<double>::quiet_NaN()));
    for (std::size_t i = 0; i < row.heads.size(); ++i) {
      line_.byte(' ');
      if (has_words_) {
        line_.text(words_[i]);
        line_.byte('/');
      }
      line_.number(row.heads[i]);
      if (row.labels.empty()) continue;
      line_.byte('/');
      line_.text(row.labels[i]);
    }
    line_.byte('\n');
    flush_if_full();
  }

  void failed(const FailedRow& row) override {
    write_failure(line_, Format::kText, row);
    flush_if_full();
  }

  void exhausted(const ExhaustedRow& row) override {
    line_.text(fmt::format("# sentence {}: exhausted after {} trees\n", row.sentence, row.trees));
    flush_if_full();
  }

 private:
  void check_size(const TreeRow& row) const {
    if (row.heads.size() == words_.size()) return;
    fail("sentence {}: a tree has {} heads, but the sentence has {} words", row.sentence,
         row.heads.size(), words_.size());
  }

  bool has_words_ = false;
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<TreeWriter> text_writer(const std::string& file, IndexKind kind) {
  return std::make_unique<TextWriter>(file, kind);
}

}  // namespace taproot::cli
