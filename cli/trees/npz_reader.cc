// SPDX-License-Identifier: Apache-2.0
#include <zip.h>

#include <array>
#include <cstdint>
#include <utility>

#include "error.h"
#include "trees/formats.h"
#include "trees/npy_column.h"
#include "trees/row_check.h"
#include "trees/zip_message.h"

namespace taproot::cli {
namespace {

// One row is held in memory, whatever the file says about its width.
constexpr std::uint64_t kMostWords = 1U << 24U;
constexpr std::uint64_t kMostSentences = 100'000'000;

class NpzReader final : public TreeReader {
 public:
  explicit NpzReader(const std::string& file) : name_(file) {
    int code = 0;
    archive_.reset(zip_open(file.c_str(), ZIP_RDONLY, &code));
    if (!archive_) {
      zip_error_t error;
      zip_error_init_with_code(&error, code);
      fail("{} cannot be opened: {}", file, zip_message(&error));
    }
    heads_ = open("heads", 'i', "integers");
    if (heads_->shape().size() != 2) fail("{}, heads: it is no matrix, one row a tree", file);
    rows_ = heads_->shape()[0];
    width_ = heads_->shape()[1];
    if (width_ > kMostWords) fail("{}, heads: trees of {} words", file, width_);
    sentences_ = open_column("sentence", 'i', "integers");
    const bool sample = NpyColumn::exists(archive_.get(), "sample");
    const bool rank = NpyColumn::exists(archive_.get(), "rank");
    if (sample && rank) fail("{}: both 'sample' and 'rank'", file);
    if (sample || rank) {
      kind_ = sample ? IndexKind::kSample : IndexKind::kRank;
      indices_ = open_column(sample ? "sample" : "rank", 'i', "integers");
    }
    for (Value& value : values_) {
      if (!NpyColumn::exists(archive_.get(), value.name)) continue;
      value.numbers = open_column(value.name, 'f', "floating-point numbers");
    }
    if (NpyColumn::exists(archive_.get(), "labels")) {
      labels_ = open("labels", 'U', "texts");
      labels_->require_shape({rows_, width_});
    }
    read_lengths();
  }

  bool next(AnyRow& any) override {
    if (row_ == rows_) return false;
    const std::string where = fmt::format("{}, row {}", name_, row_++);
    TreeRow& row = any.emplace<TreeRow>();
    row.sentence = count(*sentences_, where, "sentence");
    if (indices_) row.index = count(*indices_, where, "sample or rank");
    read_heads(row, where);
    for (Value& value : values_) {
      if (value.numbers) row.*value.member = value.numbers->next_double();
    }
    if (labels_) {
      row.labels.resize(row.heads.size());
      std::string padding;
      for (std::size_t i = 0; i < width_; ++i) {
        labels_->next_text(i < row.labels.size() ? row.labels[i] : padding);
      }
    }
    check_(row, where);
    check_length(row, where);
    return true;
  }

  IndexKind kind() const override { return kind_; }
  const WordSentence* words() const override { return nullptr; }

 private:
  struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
  };
  struct Value {
    const char* name;
    std::optional<double> TreeRow::*member;
    std::unique_ptr<NpyColumn> numbers = nullptr;
  };

  std::unique_ptr<NpyColumn> open(const char* name, char type, const char* in_words) {
    auto array = std::make_unique<NpyColumn>(archive_.get(), name_, name);
    array->require_type(type, in_words);
    return array;
  }
  std::unique_ptr<NpyColumn> open_column(const char* name, char type, const char* in_words) {
    auto array = open(name, type, in_words);
    array->require_shape({rows_});
    return array;
  }

  static std::size_t count(NpyColumn& column, const std::string& where, const char* name) {
    const std::int64_t value = column.next_integer();
    if (value < 0) fail("{}: {} is {}", where, name, value);
    return static_cast<std::size_t>(value);
  }

  void read_heads(TreeRow& row, const std::string& where) {
    bool in_padding = false;
    for (std::uint64_t i = 0; i < width_; ++i) {
      const std::int64_t head = heads_->next_integer();
      if (head == -1) {
        in_padding = true;
      } else if (in_padding) {
        fail("{}: a head behind the padding (-1), at word {}", where, i + 1);
      } else if (!std::in_range<std::int32_t>(head)) {
        fail("{}: the head of word {} is {}", where, i + 1, head);
      } else {
        row.heads.push_back(static_cast<std::int32_t>(head));
      }
    }
  }

  void read_lengths() {
    if (!NpyColumn::exists(archive_.get(), "lengths")) return;
    const auto array = open("lengths", 'i', "integers");
    if (array->shape().size() != 1) fail("{}, lengths: it is no list", name_);
    if (array->shape()[0] > kMostSentences) fail("{}, lengths: too many sentences", name_);
    has_lengths_ = true;
    for (std::uint64_t i = 0; i < array->shape()[0]; ++i) {
      const std::int64_t length = array->next_integer();
      if (length < 0 || !std::in_range<std::int32_t>(length)) {
        fail("{}, lengths: sentence {} has {} words", name_, i, length);
      }
      lengths_.push_back(static_cast<std::int32_t>(length));
    }
  }

  void check_length(const TreeRow& row, const std::string& where) const {
    if (!has_lengths_) return;
    if (row.sentence >= lengths_.size()) {
      fail("{}: sentence {}, but there are {} lengths", where, row.sentence, lengths_.size());
    }
    if (std::cmp_not_equal(lengths_[row.sentence], row.heads.size())) {
      fail("{}: {} heads, but lengths says {} for sentence {}", where, row.heads.size(),
           lengths_[row.sentence], row.sentence);
    }
  }

  std::string name_;
  std::unique_ptr<zip_t, Discard> archive_;  // Above the arrays: they go before it.
  std::uint64_t rows_ = 0;
  std::uint64_t width_ = 0;
  std::uint64_t row_ = 0;
  IndexKind kind_ = IndexKind::kNone;
  std::unique_ptr<NpyColumn> heads_;
  std::unique_ptr<NpyColumn> sentences_;
  std::unique_ptr<NpyColumn> indices_;
  std::unique_ptr<NpyColumn> labels_;
  std::array<Value, 4> values_{{{"score", &TreeRow::score},
                                {"log_prob", &TreeRow::log_prob},
                                {"gumbel", &TreeRow::gumbel},
                                {"weight", &TreeRow::weight}}};
  bool has_lengths_ = false;
  std::vector<std::int32_t> lengths_;
  RowCheck check_;
};

}  // namespace

std::unique_ptr<TreeReader> npz_reader(const std::string& file) {
  return std::make_unique<NpzReader>(file);
}

}  // namespace taproot::cli
