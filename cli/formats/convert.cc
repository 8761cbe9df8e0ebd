// SPDX-License-Identifier: Apache-2.0
#include "formats/convert.h"

#include <memory>
#include <optional>
#include <variant>

#include "error.h"
#include "formats/tree_reader.h"

namespace taproot::cli {
namespace {

class Converter {
 public:
  Converter(const std::string& from, const std::string& to, Format format,
            const std::string& words_file)
      : from_(from), reader_(TreeReader::open(from)) {
    if (!words_file.empty()) word_reader_.emplace(words_file);
    if (format == Format::kConllu && !word_reader_ && reader_->words() == nullptr) {
      fail("{} has no words, and CoNLL-U needs them; name a file with --words", from);
    }
    writer_ = TreeWriter::open(format, to, reader_->kind());
  }

  void run() {
    AnyRow row;
    while (reader_->next(row)) std::visit([this](const auto& one) { copy(one); }, row);
    writer_->finish();
  }

 private:
  void copy(const TreeRow& row) {
    announce(row.sentence, static_cast<int>(row.heads.size()));
    writer_->tree(row);
  }
  void copy(const FailedRow& row) {
    announce(row.sentence, 0);
    writer_->failed(row);
  }
  void copy(const ExhaustedRow& row) {
    announce(row.sentence, 0);
    writer_->exhausted(row);
  }

  // Announces every sentence once, before its rows. `n` is 0 where the row does not say it.
  void announce(std::size_t sentence, int n) {
    if (sentence_ == sentence) return;
    if (word_reader_) {
      if (sentence_ && sentence < *sentence_) {
        fail(
            "{}: sentence {} comes after sentence {}; words can be added only to trees that are "
            "ordered by sentence",
            from_, sentence, *sentence_);
      }
      word_reader_->read(sentence, words_);
    }
    sentence_ = sentence;
    const WordSentence* const words = word_reader_ ? &words_ : reader_->words();
    if (n == 0 && words != nullptr) n = static_cast<int>(words->words.size());
    writer_->sentence(sentence, n, words);
  }

  std::string from_;
  std::unique_ptr<TreeReader> reader_;
  std::optional<WordReader> word_reader_;
  std::unique_ptr<TreeWriter> writer_;
  std::optional<std::size_t> sentence_;
  WordSentence words_;
};

}  // namespace

void convert(const std::string& from, const std::string& to, Format format,
             const std::string& words_file) {
  Converter(from, to, format, words_file).run();
}

}  // namespace taproot::cli
