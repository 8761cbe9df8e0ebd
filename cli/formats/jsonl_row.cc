// SPDX-License-Identifier: Apache-2.0
#include "formats/jsonl_row.h"

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "error.h"

namespace taproot::cli {
namespace {

using nlohmann::json;

enum Key : std::size_t {
  kSentence,
  kSample,
  kRank,
  kHeads,
  kLabels,
  kScore,  // The values of a tree, in the order of kTreeValues.
  kLogProb,
  kGumbel,
  kWeight,
  kStatus,
  kMessage,
  kExhausted,
  kTrees,
  kOther
};

constexpr std::array<std::string_view, kOther> kNames = {
    "sentence", "sample", "rank",   "heads",   "labels",    "score", "log_prob",
    "gumbel",   "weight", "status", "message", "exhausted", "trees"};

// Takes the parts of a line as they come. Building a document first would cost more than everything
// else, and would not show which keys appear twice.
class RowHandler final : public json::json_sax_t {
 public:
  explicit RowHandler(const std::string& where) : where_(where) {}

  TreeRow tree;
  FailedRow failed;
  ExhaustedRow exhausted;
  std::array<bool, kOther> seen{};

  bool null() override {
    if (is_value()) return value(std::numeric_limits<double>::quiet_NaN());
    return other("null");
  }
  bool boolean(bool is) override {
    if (here() && key_ == kExhausted && is) return true;
    return other(is ? "true" : "false");
  }
  bool number_integer(number_integer_t number) override {  // Only negative integers come here.
    if (is_value()) return value(static_cast<double>(number));
    return other(fmt::format("{}", number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (is_value()) return value(static_cast<double>(number));
    if (in_array_ && key_ == kHeads && depth_ == 2) {
      if (!std::in_range<std::int32_t>(number)) return other(fmt::format("{}", number));
      tree.heads.push_back(static_cast<std::int32_t>(number));
      return true;
    }
    if (here()) {
      if (key_ == kSentence) return count(tree.sentence, number);
      if (key_ == kSample || key_ == kRank) return count(tree.index, number);
      if (key_ == kTrees) return count(exhausted.trees, number);
    }
    return other(fmt::format("{}", number));
  }
  bool number_float(number_float_t number, const string_t& text) override {
    if (is_value()) return value(number);
    return other(text);
  }
  bool string(string_t& text) override {
    if (in_array_ && key_ == kLabels && depth_ == 2) {
      tree.labels.push_back(std::move(text));
      return true;
    }
    if (here() && key_ == kStatus) {
      failed.status = std::move(text);
      return true;
    }
    if (here() && key_ == kMessage) {
      failed.message = std::move(text);
      return true;
    }
    return other(fmt::format("\"{}\"", text));
  }
  bool binary(binary_t&) override { return other("binary"); }

  bool start_object(std::size_t) override {
    if (depth_ > 0 && !passed_over()) return other("an object");
    ++depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ > 1) return true;
    key_ = kOther;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] == name) key_ = static_cast<Key>(i);
    }
    if (key_ == kOther) return true;
    if (std::exchange(seen[key_], true)) fail("{}: the key '{}' appears twice", where_, name);
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) fail("{}: the line is a list, not an object", where_);
    if (!passed_over() && (depth_ != 1 || (key_ != kHeads && key_ != kLabels))) {
      return other("a list");
    }
    in_array_ = true;
    ++depth_;
    return true;
  }
  bool end_array() override {
    if (--depth_ == 1) in_array_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& error) override {
    const std::string_view text = error.what();
    const std::size_t what = text.find("syntax error");
    fail("{}: the line is not JSON at character {}: {}", where_, position,
         what == std::string_view::npos ? text : text.substr(what));
  }

 private:
  // Whether the value belongs to a key of the row itself, not to one within it.
  bool here() const { return depth_ == 1; }
  bool passed_over() const { return key_ == kOther; }
  bool is_value() const { return here() && key_ >= kScore && key_ <= kWeight; }

  bool value(double number) {
    tree.*kTreeValues[key_ - kScore].second = number;
    return true;
  }

  bool count(std::size_t& to, number_unsigned_t number) {
    if (number > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return other(fmt::format("{}", number));
    }
    to = number;
    return true;
  }

  // Refuses a value that its key cannot have.
  bool other(std::string_view text) const {
    if (depth_ == 0) fail("{}: the line is {}, not an object", where_, text);
    if (passed_over()) return true;
    static constexpr std::array<std::string_view, kOther> kWanted = {
        "a number from 0", "a number from 0", "a number from 0", "a list of heads",
        "a list of texts", "a number",        "a number",        "a number",
        "a number",        "a text",          "a text",          "true",
        "a number from 0"};
    const bool is_head = key_ == kHeads && in_array_;
    const bool is_label = key_ == kLabels && in_array_;
    fail("{}: '{}' {} {}, not {}", where_, kNames[key_], in_array_ ? "holds" : "is", text,
         is_head    ? "a head, 0 to the number of words"
         : is_label ? "a text"
                    : kWanted[key_]);
  }

  const std::string& where_;
  Key key_ = kOther;
  int depth_ = 0;
  bool in_array_ = false;
};

}  // namespace

void parse_json_row(std::string_view line, const std::string& where, AnyRow& row, IndexKind& kind) {
  RowHandler handler(where);
  json::sax_parse(line.begin(), line.end(), &handler);
  const auto& seen = handler.seen;
  const auto need = [&](Key key) {
    if (!seen[key]) fail("{}: the key '{}' is missing", where, kNames[key]);
  };
  need(kSentence);
  const std::size_t sentence = handler.tree.sentence;
  if (seen[kExhausted]) {
    need(kTrees);
    handler.exhausted.sentence = sentence;
    row = handler.exhausted;
  } else if (seen[kStatus] && !seen[kHeads]) {
    need(kMessage);
    handler.failed.sentence = sentence;
    row = std::move(handler.failed);
  } else {
    need(kHeads);
    if (seen[kSample] && seen[kRank]) fail("{}: the tree has both 'sample' and 'rank'", where);
    if (seen[kLabels] && handler.tree.labels.size() != handler.tree.heads.size()) {
      fail("{}: the tree has {} labels but {} heads", where, handler.tree.labels.size(),
           handler.tree.heads.size());
    }
    kind = seen[kSample] ? IndexKind::kSample : seen[kRank] ? IndexKind::kRank : IndexKind::kNone;
    row = std::move(handler.tree);
  }
}

}  // namespace taproot::cli
