// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "error.h"
#include "formats/formats.h"
#include "formats/jsonl_row.h"
#include "formats/row_check.h"
#include "io/text_lines.h"

namespace taproot::cli {
namespace {

class JsonlReader final : public TreeReader {
 public:
  explicit JsonlReader(const std::string& file) : in_(file) {
    // The first tree says whether trees are numbered by "sample", by "rank" or not at all. The file
    // may be a pipe, so the rows that were read to find it are kept.
    AnyRow row;
    while (!kind_ && read(row)) ahead_.push_back(std::move(row));
  }

  bool next(AnyRow& row) override {
    if (ahead_.empty()) return read(row);
    row = std::move(ahead_.front());
    ahead_.pop_front();
    return true;
  }
  IndexKind kind() const override { return kind_.value_or(IndexKind::kNone); }
  const WordSentence* words() const override { return nullptr; }

 private:
  bool read(AnyRow& row) {
    do {
      if (!in_.next(line_)) return false;
    } while (line_.find_first_not_of(" \t\r") == std::string::npos);
    const std::string where = in_.where();
    IndexKind kind = IndexKind::kNone;
    parse_json_row(line_, where, row, kind);
    if (const TreeRow* const tree = std::get_if<TreeRow>(&row)) {
      if (!kind_) kind_ = kind;
      if (*kind_ != kind) {
        const auto shown = [](IndexKind k) {
          return k == IndexKind::kNone ? "neither 'sample' nor 'rank'"
                                       : fmt::format("'{}'", index_name(k));
        };
        fail("{}: the tree has {}, but the trees before it have {}", where, shown(kind),
             shown(*kind_));
      }
      check_(*tree, where);
    }
    return true;
  }

  TextLines in_;
  std::string line_;
  std::optional<IndexKind> kind_;
  std::deque<AnyRow> ahead_;
  RowCheck check_;
};

}  // namespace

std::unique_ptr<TreeReader> jsonl_reader(const std::string& file) {
  return std::make_unique<JsonlReader>(file);
}

}  // namespace taproot::cli
