// SPDX-License-Identifier: Apache-2.0
#include "input/words.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "error.h"
#include "io/byte_source.h"
#include "io/text_lines.h"
#include "parse.h"

namespace taproot::cli {
namespace {

constexpr std::size_t kColumns = 10;
using Columns = std::array<std::string_view, kColumns>;

std::optional<std::int32_t> to_number(std::string_view text) {
  std::int32_t value = 0;
  if (!parse_whole(text, value) || text[0] == '-') return {};
  return value;
}

}  // namespace

class WordReader::Impl {
 public:
  Impl(const std::string& file, bool conllu) : in_(file), conllu_(conllu) {}

  bool next(WordSentence& sentence) {
    sentence.words.clear();
    sentence.lines.clear();
    sentence.line_of_word.clear();
    sentence.heads.clear();
    sentence.relations.clear();
    const bool found = conllu_ ? next_conllu(sentence) : next_text(sentence);
    if (found) ++at_;
    return found;
  }

  void read(std::size_t number, WordSentence& sentence) {
    if (number < at_) throw std::logic_error("words are read in order");
    while (at_ <= number) {
      if (!next(sentence)) {
        fail("{} has {} sentences, but no words for sentence {}", in_.path(), at_, number);
      }
    }
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {}", in_.where(), fmt::format(format, std::forward<Args>(args)...));
  }

  bool next_text(WordSentence& sentence) {
    if (!in_.next(line_)) return false;
    std::string_view rest = line_;
    for (std::string_view word; !(word = next_word(rest)).empty();) {
      sentence.words.emplace_back(word);
    }
    return true;
  }

  // A sentence ends at a blank line. One that holds only comments has no words.
  bool next_conllu(WordSentence& sentence) {
    range_end_ = 0;
    while (in_.next(line_)) {
      if (line_.empty()) {
        if (sentence.lines.empty()) continue;
        break;
      }
      if (sentence.lines.empty()) first_line_ = in_.number();
      if (line_[0] != '#') add_row(sentence);
      sentence.lines.push_back(line_);
    }
    if (sentence.lines.empty()) return false;
    check_sentence(sentence);
    return true;
  }

  Columns split() const {
    Columns columns;
    std::size_t count = 0;
    for (std::size_t begin = 0; begin <= line_.size(); ++count) {
      const std::size_t end = std::min(line_.find('\t', begin), line_.size());
      if (count < kColumns) {
        columns[count] = std::string_view(line_).substr(begin, end - begin);
        if (begin == end) refuse("column {} is empty; unknown values are written '_'", count + 1);
      }
      begin = end + 1;
    }
    if (count != kColumns) {
      refuse("the line has {} columns, not {}; columns are separated by tabs", count, kColumns);
    }
    return columns;
  }

  void add_row(WordSentence& sentence) {
    const Columns columns = split();
    const std::string_view id = columns[0];
    const std::size_t expected = sentence.words.size() + 1;
    const std::size_t mark = id.find_first_of("-.");
    if (mark != std::string_view::npos) {
      check_between(id, mark, expected);
      return;
    }
    const auto number = to_number(id);
    if (!number) refuse("the ID {} is not a number", quoted(id));
    if (static_cast<std::size_t>(*number) != expected) {
      refuse(
          "the ID is {}, and should be {}; IDs run from 1 without gaps, and a blank line ends a "
          "sentence",
          *number, expected);
    }
    sentence.words.emplace_back(columns[1]);
    sentence.line_of_word.push_back(sentence.lines.size());
    sentence.relations.emplace_back(columns[7]);
    sentence.heads.push_back(-1);
    if (columns[6] == "_") return;
    const auto head = to_number(columns[6]);
    if (!head) refuse("the HEAD {} is neither a number nor '_'", quoted(columns[6]));
    if (*head == *number) refuse("word {} is its own HEAD", *number);
    sentence.heads.back() = *head;
  }

  // Checks rows that are not words: "3-4" stands before word 3, "5.1" after word 5.
  void check_between(std::string_view id, std::size_t mark, std::size_t expected) {
    const auto first = to_number(id.substr(0, mark));
    const auto second = to_number(id.substr(mark + 1));
    if (!first || !second) refuse("the ID {} is not a number, a range or a decimal", quoted(id));
    const auto begin = static_cast<std::size_t>(*first);
    if (id[mark] == '.') {
      if (begin + 1 != expected) refuse("the empty node {} does not follow word {}", id, begin);
    } else if (begin != expected || *second < *first) {
      refuse("the range {} does not stand before its first word", id);
    } else {
      range_end_ = std::max(range_end_, static_cast<std::size_t>(*second));
    }
  }

  // Checks what depends on the number of words.
  void check_sentence(const WordSentence& sentence) const {
    const std::size_t n = sentence.words.size();
    if (range_end_ > n) {
      fail("{}: the sentence that begins in line {} has {} words, but a range up to {}", in_.path(),
           first_line_, n, range_end_);
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (sentence.heads[i] > static_cast<std::int64_t>(n)) {
        fail("{}, line {}: the HEAD is {}, but the sentence has {} words", in_.path(),
             first_line_ + sentence.line_of_word[i], sentence.heads[i], n);
      }
    }
  }

  TextLines in_;
  bool conllu_;
  std::size_t at_ = 0;
  std::size_t first_line_ = 0;
  std::size_t range_end_ = 0;  // The last word that a range names.
  std::string line_;
};

WordReader::WordReader(const std::string& file) : WordReader(file, file.ends_with(".conllu")) {}
WordReader::WordReader(const std::string& file, bool conllu)
    : impl_(std::make_unique<Impl>(file, conllu)) {}
WordReader::~WordReader() = default;

bool WordReader::next(WordSentence& sentence) { return impl_->next(sentence); }

void WordReader::read(std::size_t number, WordSentence& sentence) { impl_->read(number, sentence); }

}  // namespace taproot::cli
