// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "error.h"
#include "formats/conllu_keys.h"
#include "formats/formats.h"
#include "formats/line_writer.h"
#include "formats/row_check.h"

namespace taproot::cli {
namespace {

constexpr std::size_t kStep = 16;

// The text of a sentence, cut where heads and labels go.
struct Template {
  struct Word {
    std::string before;  // The lines before the word's, and its own up to HEAD.
    std::string after;   // Its line after DEPREL.
  };
  std::string comments;
  std::vector<Word> words;
  std::string after;

  // For trees without labels: everything between two heads as one piece, all pieces in one string.
  // Piece i ends at piece_end[i]; there is one more than there are words. kStep bytes follow them.
  std::string pieces;
  std::vector<std::size_t> piece_end;

  void join() {
    for (const Word& word : words) {
      pieces += word.before;
      piece_end.push_back(pieces.size());
      pieces += "\t_" + word.after;
    }
    pieces += after + "\n";
    piece_end.push_back(pieces.size());
    pieces.resize(pieces.size() + kStep);
  }
};

// Copies a short text faster than memcpy() does, in steps: up to kStep bytes beyond its end are
// read and written.
char* put_text(char* at, const char* text, std::size_t size) {
  for (std::size_t i = 0; i < size; i += kStep) std::memcpy(at + i, text + i, kStep);
  return at + size;
}

std::array<std::string_view, 10> columns(std::size_t sentence, std::string_view line) {
  std::array<std::string_view, 10> parts;
  const auto count = std::ranges::count(line, '\t') + 1;
  if (count != 10) {
    fail("sentence {}: the line '{}' has {} columns separated by tabs, not ten", sentence, line,
         count);
  }
  for (std::string_view& part : parts) {
    part = line.substr(0, line.find('\t'));
    line.remove_prefix(std::min(part.size() + 1, line.size()));
  }
  return parts;
}

Template from_conllu(std::size_t sentence, const WordSentence& words) {
  Template result;
  std::string before;
  std::size_t word = 0;
  bool in_comments = true;
  for (std::size_t i = 0; i < words.lines.size(); ++i) {
    const std::string& line = words.lines[i];
    in_comments = in_comments && line.starts_with('#');
    if (in_comments) {
      if (!is_our_comment(line)) result.comments += line + "\n";
    } else if (word < words.line_of_word.size() && words.line_of_word[word] == i) {
      const auto parts = columns(sentence, line);
      const auto up_to_head = static_cast<std::size_t>(parts[6].data() - line.data());
      before += line.substr(0, up_to_head);
      result.words.push_back({std::move(before), fmt::format("\t{}\t{}\n", parts[8], parts[9])});
      before.clear();
      ++word;
    } else {
      before += line + "\n";
    }
  }
  result.after = std::move(before);
  if (result.words.size() != words.words.size()) {
    fail("sentence {} has {} words but {} lines", sentence, words.words.size(),
         result.words.size());
  }
  return result;
}

Template from_words(const WordSentence& words) {
  Template result;
  result.comments = "# text =";
  for (std::size_t i = 0; i < words.words.size(); ++i) {
    result.comments += " " + words.words[i];
    result.words.push_back(
        {fmt::format("{}\t{}\t_\t_\t_\t_\t", i + 1, words.words[i]), "\t_\t_\n"});
  }
  result.comments += "\n";
  return result;
}

class ConlluWriter final : public LineWriter {
 public:
  using LineWriter::LineWriter;

  std::unique_ptr<TreeWriter> part() const override {
    return std::make_unique<ConlluWriter>(kind_);
  }

  void sentence(std::size_t number, int n, const WordSentence* words) override {
    if (words == nullptr) {
      fail("sentence {} has no words, and CoNLL-U needs them; name a file with --words", number);
    }
    comments_end_.reset();
    if (number_ == number) return;
    check_words(number, n, *words);
    template_ = words->lines.empty() ? from_words(*words) : from_conllu(number, *words);
    template_.join();
    number_ = number;
  }

  void tree(const TreeRow& row) override {
    check(row);
    begin(row.sentence);
    if (kind_ != IndexKind::kNone) comment(index_name(kind_), row.index);
    for (const auto& [name, member] : kTreeValues) value(name, row.*member);
    if (!row.labels.empty() && all_blank(row)) line_.text("# labeled = yes\n");
    comments_end_ = line_.size();
    row.labels.empty() ? write_heads(row) : write_heads_and_labels(row);
  }

  void failed(const FailedRow& row) override {
    begin(row.sentence);
    comment("status", std::string_view(row.status));
    comment("message", std::string_view(row.message));
    end_without_heads();
  }

  // The last tree of the sentence, if there is one, is still in memory and gets the comment.
  void exhausted(const ExhaustedRow& row) override {
    if (comments_end_ && row.sentence == number_) {
      line_.insert(*comments_end_, fmt::format("# exhausted = {}\n", row.trees));
      return;
    }
    begin(row.sentence);
    comment("exhausted", row.trees);
    end_without_heads();
  }

 private:
  void check(const TreeRow& row) const {
    if (row.heads.size() != template_.words.size()) {
      fail("sentence {}: a tree has {} heads, but the sentence has {} words", row.sentence,
           row.heads.size(), template_.words.size());
    }
    for (const std::string& label : row.labels) {
      if (label.empty() || label.find_first_of("\t\n\r ") != std::string::npos) {
        fail("sentence {}: the label '{}' cannot be written as CoNLL-U: {}", row.sentence, label,
             label.empty() ? "it is empty" : "it holds blanks");
      }
    }
  }

  static bool all_blank(const TreeRow& row) {
    return std::ranges::all_of(row.labels, [](const std::string& label) { return label == "_"; });
  }

  void begin(std::size_t sentence) {
    if (sentence != number_) fail("sentence {}: its words were not given", sentence);
    flush_if_full();
    comments_end_.reset();
    line_.text(template_.comments);
    comment("sentence", sentence);
  }

  void comment(std::string_view key, std::size_t value) {
    begin_comment(key);
    line_.number(value);
    line_.byte('\n');
  }
  void comment(std::string_view key, std::string_view value) {
    begin_comment(key);
    line_.one_line(value);
    line_.byte('\n');
  }
  void value(std::string_view key, const std::optional<double>& number) {
    if (!number) return;
    begin_comment(key);
    line_.number(*number);
    line_.byte('\n');
  }
  void begin_comment(std::string_view key) {
    line_.text("# ");
    line_.text(key);
    line_.text(" = ");
  }

  void write_heads(const TreeRow& row) {
    const std::size_t most = template_.pieces.size() + row.heads.size() * kLongestNumber;
    line_.append(most, [&](char* at) {
      const char* piece = template_.pieces.data();
      std::size_t begin = 0;
      for (std::size_t i = 0; i < row.heads.size(); ++i) {
        at = put_text(at, piece + begin, template_.piece_end[i] - begin);
        at = put_number(at, row.heads[i]);
        begin = template_.piece_end[i];
      }
      return put_text(at, piece + begin, template_.piece_end.back() - begin);
    });
  }

  void write_heads_and_labels(const TreeRow& row) {
    for (std::size_t i = 0; i < row.heads.size(); ++i) {
      line_.text(template_.words[i].before);
      line_.number(row.heads[i]);
      line_.byte('\t');
      line_.text(row.labels[i]);
      line_.text(template_.words[i].after);
    }
    line_.text(template_.after);
    line_.byte('\n');
  }

  // CoNLL-U does not allow comments alone, so the words follow, without heads and relations.
  void end_without_heads() {
    for (const Template::Word& word : template_.words) {
      line_.text(word.before);
      line_.text("_\t_");
      line_.text(word.after);
    }
    line_.text(template_.after);
    line_.byte('\n');
  }

  Template template_;
  std::optional<std::size_t> number_;
  std::optional<std::size_t> comments_end_;  // Where the comments of the last tree end in line_.
};

}  // namespace

std::unique_ptr<TreeWriter> conllu_writer(const std::string& file, IndexKind kind) {
  return std::make_unique<ConlluWriter>(file, kind);
}

}  // namespace taproot::cli
