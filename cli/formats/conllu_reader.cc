// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "error.h"
#include "formats/conllu_keys.h"
#include "formats/formats.h"
#include "formats/row_check.h"
#include "io/standard_input.h"
#include "parse.h"

namespace taproot::cli {
namespace {

// The comments of a block that have one of kConlluKeys.
class Comments {
 public:
  Comments(const WordSentence& words, const std::string& where) : where_(where) {
    for (const std::string& line : words.lines) {
      if (!line.starts_with('#')) break;
      const auto comment = conllu_comment(line);
      if (!comment || !is_our_comment(line)) continue;
      if (!values_.emplace(*comment).second) {
        fail("{}: '# {}' appears twice", where, comment->first);
      }
    }
  }

  std::optional<std::string_view> text(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

  std::optional<std::size_t> count(std::string_view key) const {
    const auto number = parsed<std::uint64_t>(key, "a number from 0");
    if (number && *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      fail("{}: '# {}' is {}, which is too large", where_, key, *number);
    }
    return number;
  }
  std::optional<double> value(std::string_view key) const {
    return parsed<double>(key, "a number");
  }

 private:
  template <typename T>
  std::optional<T> parsed(std::string_view key, std::string_view wanted) const {
    const auto text_of_key = text(key);
    if (!text_of_key) return std::nullopt;
    T number{};
    if (!parse_whole(*text_of_key, number)) {
      fail("{}: '# {}' is '{}', not {}", where_, key, *text_of_key, wanted);
    }
    return number;
  }

  const std::string& where_;
  std::map<std::string_view, std::string_view> values_;
};

IndexKind kind_of(const Comments& comments, const std::string& where) {
  const bool sample = comments.text("sample").has_value();
  const bool rank = comments.text("rank").has_value();
  if (sample && rank) fail("{}: the tree has both '# sample' and '# rank'", where);
  return sample ? IndexKind::kSample : rank ? IndexKind::kRank : IndexKind::kNone;
}

class ConlluReader final : public TreeReader {
 public:
  explicit ConlluReader(const std::string& file) : name_(shown_name(file)), reader_(file, true) {
    // The first tree says whether trees are numbered by "sample", by "rank" or not at all. The file
    // may be a pipe, so the blocks that were read to find it are kept.
    for (AnyRow row; !kind_ && read(row);) ahead_.emplace_back(std::move(row), words_);
  }

  bool next(AnyRow& row) override {
    if (ahead_.empty()) return read(row);
    std::tie(row, words_) = std::move(ahead_.front());
    ahead_.pop_front();
    return true;
  }

  IndexKind kind() const override { return kind_.value_or(IndexKind::kNone); }
  const WordSentence* words() const override { return &words_; }

 private:
  bool read(AnyRow& row) {
    if (pending_) {
      row = *pending_;
      pending_.reset();
      return true;
    }
    if (!reader_.next(words_)) return false;
    const std::string where = fmt::format("{}, block {}", name_, ++block_);
    const Comments comments(words_, where);
    const std::size_t sentence = comments.count("sentence").value_or(next_sentence_);
    next_sentence_ = sentence + 1;
    const auto exhausted = comments.count("exhausted");
    if (const auto status = comments.text("status")) {
      row = FailedRow{sentence, std::string(*status),
                      std::string(comments.text("message").value_or(""))};
    } else if (exhausted == 0U) {
      row = ExhaustedRow{sentence, 0};
    } else {
      row = tree(sentence, comments, where);
      if (exhausted) pending_ = ExhaustedRow{sentence, *exhausted};
    }
    return true;
  }

  TreeRow tree(std::size_t sentence, const Comments& comments, const std::string& where) {
    const IndexKind kind = kind_of(comments, where);
    if (!kind_) kind_ = kind;
    if (kind != *kind_) {
      fail(
          "{}: the tree does not have the same index ('# sample', '# rank' or none) as the trees "
          "before it",
          where);
    }
    TreeRow row;
    row.sentence = sentence;
    if (kind != IndexKind::kNone) {
      row.index = *comments.count(kind == IndexKind::kSample ? "sample" : "rank");
    }
    row.heads = words_.heads;
    for (std::size_t i = 0; i < row.heads.size(); ++i) {
      if (row.heads[i] < 0) fail("{}: word {} has no head", where, i + 1);
    }
    for (const auto& [name, member] : kTreeValues) row.*member = comments.value(name);
    if (is_labeled(comments, where)) row.labels = words_.relations;
    check_(row, where);
    return row;
  }

  bool is_labeled(const Comments& comments, const std::string& where) const {
    if (const auto said = comments.text("labeled")) {
      if (said != "yes") fail("{}: '# labeled' is '{}', not yes", where, *said);
      return true;
    }
    return std::ranges::any_of(words_.relations, [](const std::string& r) { return r != "_"; });
  }

  std::string name_;
  WordReader reader_;
  std::optional<IndexKind> kind_;
  WordSentence words_;
  std::size_t block_ = 0;
  std::size_t next_sentence_ = 0;
  std::optional<ExhaustedRow> pending_;
  std::deque<std::pair<AnyRow, WordSentence>> ahead_;
  RowCheck check_;
};

}  // namespace

std::unique_ptr<TreeReader> conllu_reader(const std::string& file) {
  return std::make_unique<ConlluReader>(file);
}

}  // namespace taproot::cli
