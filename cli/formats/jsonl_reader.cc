// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "error.h"
#include "formats/formats.h"
#include "formats/jsonl_row.h"
#include "formats/row_check.h"
#include "io/standard_input.h"

namespace taproot::cli {
namespace {

class JsonlReader final : public TreeReader {
 public:
  explicit JsonlReader(const std::string& file)
      : name_(shown_name(file)), stream_(std::fopen(openable(file).c_str(), "re")) {
    if (!stream_) fail("{} cannot be opened: {}", name_, std::strerror(errno));
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
    std::string_view text;
    do {
      errno = 0;
      const ssize_t size = getline(&line_.text, &line_.capacity, stream_.get());
      if (size < 0 && (std::ferror(stream_.get()) != 0 || errno == ENOMEM)) {
        fail("{} cannot be read: {}", name_, std::strerror(errno));
      }
      if (size < 0) return false;
      text = {line_.text, static_cast<std::size_t>(size)};
      ++number_;
    } while (text.find_first_not_of(" \t\r\n") == std::string_view::npos);
    const std::string where = fmt::format("{}, line {}", name_, number_);
    IndexKind kind = IndexKind::kNone;
    parse_json_row(text, where, row, kind);
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

  // The memory of getline().
  struct Line {
    char* text = nullptr;
    std::size_t capacity = 0;
    Line() = default;
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    ~Line() { std::free(text); }
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string name_;
  std::unique_ptr<std::FILE, Close> stream_;
  Line line_;
  std::size_t number_ = 0;
  std::optional<IndexKind> kind_;
  std::deque<AnyRow> ahead_;
  RowCheck check_;
};

}  // namespace

std::unique_ptr<TreeReader> jsonl_reader(const std::string& file) {
  return std::make_unique<JsonlReader>(file);
}

}  // namespace taproot::cli
