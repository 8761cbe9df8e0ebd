// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "error.h"
#include "output_file.h"
#include "trees/conllu_keys.h"
#include "trees/formats.h"
#include "trees/line_buffer.h"

namespace taproot::cli {
namespace {

// A sentence in the pieces between which heads and labels go.
struct Template {
  struct Word {
    std::string before;  // Lines in front of the word's, and its own up to HEAD.
    std::string relation;
    std::string after;
  };
  std::string comments;
  std::vector<Word> words;
  std::string after;
  bool has_relations = false;
};

std::array<std::string_view, 10> columns(std::size_t sentence, std::string_view line) {
  std::array<std::string_view, 10> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t tab = line.find('\t');
    if ((tab == std::string_view::npos) != (i == 9)) {
      fail("sentence {}: '{}' does not have ten columns", sentence, line);
    }
    parts[i] = line.substr(0, tab);
    if (i < 9) line.remove_prefix(tab + 1);
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
      result.words.push_back({std::move(before), std::string(parts[7]),
                              fmt::format("\t{}\t{}\n", parts[8], parts[9])});
      result.has_relations = result.has_relations || parts[7] != "_";
      before.clear();
      ++word;
    } else {
      before += line + "\n";
    }
  }
  result.after = std::move(before);
  if (result.words.size() != words.words.size()) {
    fail("sentence {}: {} lines for {} words", sentence, result.words.size(), words.words.size());
  }
  return result;
}

Template from_words(const WordSentence& words) {
  Template result;
  result.comments = "# text =";
  for (std::size_t i = 0; i < words.words.size(); ++i) {
    result.comments += " " + words.words[i];
    result.words.push_back(
        {fmt::format("{}\t{}\t_\t_\t_\t_\t", i + 1, words.words[i]), "_", "\t_\t_\n"});
  }
  result.comments += "\n";
  return result;
}

class ConlluWriter final : public TreeWriter {
 public:
  ConlluWriter(const std::string& file, IndexKind kind) : file_(file), kind_(kind) {}

  void sentence(std::size_t number, int n, const WordSentence* words) override {
    if (words == nullptr) {
      fail("sentence {}: CoNLL-U holds words, and there are none: give a file of them (--words)",
           number);
    }
    check_words(number, n, *words);
    end_waiting();
    template_ = words->lines.empty() ? from_words(*words) : from_conllu(number, *words);
    number_ = number;
  }

  void tree(const TreeRow& row) override {
    check(row);
    begin(row.sentence);
    if (kind_ != IndexKind::kNone) comment(index_name(kind_), row.index);
    value("score", row.score);
    value("log_prob", row.log_prob);
    value("gumbel", row.gumbel);
    value("weight", row.weight);
    const bool seems_labeled = row.labels.empty() ? template_.has_relations : !all_blank(row);
    if (row.labels.empty() == seems_labeled) {
      line_.text(seems_labeled ? "# labeled = no\n" : "# labeled = yes\n");
    }
    // Its words wait: another comment may follow.
    heads_ = row.heads;
    labels_ = row.labels;
    waiting_ = true;
  }

  void failed(const FailedRow& row) override {
    begin(row.sentence);
    comment("status", std::string_view(row.status));
    comment("message", std::string_view(row.message));
    end_without_heads();
  }

  void exhausted(const ExhaustedRow& row) override {
    const bool behind_tree = waiting_ && row.sentence == waiting_sentence_;
    if (!behind_tree) begin(row.sentence);
    comment("exhausted", row.trees);
    if (!behind_tree) end_without_heads();
  }

  void finish() override {
    end_waiting();
    line_.flush(file_);
    file_.commit();
  }

 private:
  void check(const TreeRow& row) const {
    if (row.heads.size() != template_.words.size()) {
      fail("sentence {}: a tree of {} words, but the sentence has {}", row.sentence,
           row.heads.size(), template_.words.size());
    }
    for (const std::string& label : row.labels) {
      if (label.empty() || label.find_first_of("\t\n\r ") != std::string::npos) {
        fail("sentence {}: the label '{}' cannot be written as CoNLL-U: {}", row.sentence, label,
             label.empty() ? "it is empty" : "it has blanks");
      }
    }
  }

  static bool all_blank(const TreeRow& row) {
    return std::ranges::all_of(row.labels, [](const std::string& label) { return label == "_"; });
  }

  void begin(std::size_t sentence) {
    end_waiting();
    if (sentence != number_) fail("sentence {}: its words were not given", sentence);
    line_.text(template_.comments);
    comment("sentence", sentence);
    waiting_sentence_ = sentence;
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

  void end_waiting() {
    if (!waiting_) return;
    waiting_ = false;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      line_.text(template_.words[i].before);
      line_.number(heads_[i]);
      line_.byte('\t');
      line_.text(labels_.empty() ? template_.words[i].relation : labels_[i]);
      line_.text(template_.words[i].after);
    }
    end();
  }

  // Comments alone are no CoNLL-U: the words follow, without heads, and so without relations.
  void end_without_heads() {
    for (const Template::Word& word : template_.words) {
      line_.text(word.before);
      line_.text("_\t_");
      line_.text(word.after);
    }
    end();
  }

  void end() {
    line_.text(template_.after);
    line_.byte('\n');
    line_.flush_if_full(file_);
  }

  OutputFile file_;
  IndexKind kind_;
  LineBuffer line_;
  Template template_;
  std::size_t number_ = 0;
  // The tree whose comments are written and whose words are not.
  bool waiting_ = false;
  std::size_t waiting_sentence_ = 0;
  std::vector<std::int32_t> heads_;
  std::vector<std::string> labels_;
};

}  // namespace

std::unique_ptr<TreeWriter> conllu_writer(const std::string& file, IndexKind kind) {
  return std::make_unique<ConlluWriter>(file, kind);
}

}  // namespace taproot::cli
