// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <utility>

#include "error.h"
#include "formats/formats.h"
#include "formats/row_check.h"
#include "input/lengths.h"
#include "io/npy_column.h"

namespace taproot::cli {
namespace {

// A row is held whole in memory, and its width is the file's claim: any above this is refused.
constexpr std::uint64_t kWidestRow = 1U << 24U;

class NpzReader final : public TreeReader {
 public:
  explicit NpzReader(const std::string& file) : archive_(file) {
    heads_ = open_column("heads", &NpyReader::require_integers);
    const NpyHeader& header = heads_->array().header();
    if (header.shape.size() != 2) {
      fail("{} must be a matrix with one row per tree, and has shape {}", heads_->array().name(),
           header.shape_text());
    }
    rows_ = header.shape[0];
    width_ = header.shape[1];
    if (width_ > kWidestRow) {
      fail("{} has trees of {} words; at most {} are read", heads_->array().name(), width_,
           kWidestRow);
    }
    heads_->array().require_shape({rows_, width_});
    sentences_ = open_column("sentence", &NpyReader::require_integers, Shape{rows_});
    const bool sample = archive_.find("sample") != nullptr;
    const bool rank = archive_.find("rank") != nullptr;
    if (sample && rank) fail("{} has both 'sample' and 'rank'", file);
    if (sample || rank) {
      kind_ = sample ? IndexKind::kSample : IndexKind::kRank;
      indices_ =
          open_column(sample ? "sample" : "rank", &NpyReader::require_integers, Shape{rows_});
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const char* const name = kTreeValues[i].first;
      if (archive_.find(name) == nullptr) continue;
      values_[i] = open_column(name, &NpyReader::require_floats, Shape{rows_});
    }
    if (archive_.find("labels") != nullptr) {
      labels_ = open_column("labels", &NpyReader::require_texts, Shape{rows_, width_});
    }
    if (archive_.find("lengths") != nullptr) {
      NpyReader array = open_array(archive_, "lengths");
      lengths_ = read_lengths(array);
    }
    if (archive_.find("exhausted") != nullptr) read_exhausted();
  }

  bool next(AnyRow& any) override {
    const std::string where = fmt::format("{}, row {}", archive_.path(), row_);
    if (!upcoming_ && row_ < rows_) upcoming_ = count(*sentences_, where, "sentence");
    if (next_exhausted(any)) return true;
    if (!upcoming_) return false;
    ++row_;
    TreeRow& row = any.emplace<TreeRow>();
    row.sentence = *std::exchange(upcoming_, std::nullopt);
    if (indices_) row.index = count(*indices_, where, "sample or rank");
    read_heads(row, where);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i]) row.*kTreeValues[i].second = values_[i]->next_double();
    }
    if (labels_) {
      row.labels.resize(row.heads.size());
      for (std::size_t i = 0; i < width_; ++i) {
        const std::string& text = labels_->next_text();
        if (i < row.labels.size()) row.labels[i] = text;
      }
    }
    check_(row, where);
    check_length(row, where);
    count_row(row.sentence);
    return true;
  }

  IndexKind kind() const override { return kind_; }
  const WordSentence* words() const override { return nullptr; }

 private:
  using Shape = std::vector<std::uint64_t>;

  std::unique_ptr<NpyColumn> open_column(const char* name, void (NpyReader::*require)() const,
                                         const std::optional<Shape>& shape = {}) const {
    NpyReader array = open_array(archive_, name);
    (array.*require)();
    if (shape) array.require_shape(*shape);
    return std::make_unique<NpyColumn>(std::move(array));
  }

  static std::size_t count(NpyColumn& column, const std::string& where, const char* name) {
    const std::int64_t value = column.next_integer();
    if (value < 0) fail("{}: {} is {}, which is negative", where, name, value);
    return static_cast<std::size_t>(value);
  }

  void read_heads(TreeRow& row, const std::string& where) {
    bool in_padding = false;
    for (std::uint64_t i = 0; i < width_; ++i) {
      const std::int64_t head = heads_->next_integer();
      if (head == -1) {
        in_padding = true;
      } else if (in_padding) {
        fail("{}: word {} has a head behind the padding (-1)", where, i + 1);
      } else if (!std::in_range<std::int32_t>(head)) {
        fail("{}: the head of word {} is {}, not one of 0 (ROOT) to the number of words", where,
             i + 1, head);
      } else {
        row.heads.push_back(static_cast<std::int32_t>(head));
      }
    }
  }

  // A sentence's ExhaustedRow follows its last tree, so its trees are counted first.
  void read_exhausted() {
    if (!lengths_) fail("{} has an array 'exhausted' but no array 'lengths'", archive_.path());
    const auto flags = open_column("exhausted", &NpyReader::require_bools, Shape{lengths_->size()});
    trees_.resize(lengths_->size());
    const auto sentences = open_column("sentence", &NpyReader::require_integers);
    for (std::uint64_t i = 0; i < rows_; ++i) {
      const std::int64_t sentence = sentences->next_integer();
      if (sentence >= 0 && std::cmp_less(sentence, trees_.size())) {
        ++trees_[static_cast<std::size_t>(sentence)].total;
      }
    }
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      trees_[i].exhausted = flags->next_integer() != 0;
      if (trees_[i].exhausted && trees_[i].total == 0) without_trees_.push_back(i);
    }
  }

  void count_row(std::size_t sentence) {
    if (trees_.empty()) return;
    Trees& trees = trees_[sentence];  // check_length() has seen that there is one.
    if (++trees.read == trees.total && trees.exhausted) {
      pending_ = ExhaustedRow{sentence, trees.total};
    }
  }

  // An exhausted sentence without trees comes before the first tree of a later sentence.
  bool next_exhausted(AnyRow& any) {
    if (pending_) {
      any = *std::exchange(pending_, std::nullopt);
      return true;
    }
    if (next_without_trees_ == without_trees_.size()) return false;
    const std::size_t sentence = without_trees_[next_without_trees_];
    if (upcoming_ && *upcoming_ < sentence) return false;
    ++next_without_trees_;
    any = ExhaustedRow{sentence, 0};
    return true;
  }

  void check_length(const TreeRow& row, const std::string& where) const {
    if (!lengths_) return;
    if (row.sentence >= lengths_->size()) {
      fail("{}: the tree is of sentence {}, but 'lengths' has {} sentences", where, row.sentence,
           lengths_->size());
    }
    if (std::cmp_not_equal((*lengths_)[row.sentence], row.heads.size())) {
      fail("{}: the tree has {} heads, but 'lengths' says {} for sentence {}", where,
           row.heads.size(), (*lengths_)[row.sentence], row.sentence);
    }
  }

  struct Trees {
    std::size_t total = 0;
    std::size_t read = 0;
    bool exhausted = false;
  };

  Archive archive_;
  std::uint64_t rows_ = 0;
  std::uint64_t width_ = 0;
  std::uint64_t row_ = 0;
  IndexKind kind_ = IndexKind::kNone;
  std::unique_ptr<NpyColumn> heads_;
  std::unique_ptr<NpyColumn> sentences_;
  std::unique_ptr<NpyColumn> indices_;
  std::unique_ptr<NpyColumn> labels_;
  std::array<std::unique_ptr<NpyColumn>, kTreeValues.size()> values_;
  std::optional<std::vector<std::int32_t>> lengths_;
  std::vector<Trees> trees_;  // Per sentence; empty without 'exhausted'.
  std::vector<std::size_t> without_trees_;
  std::size_t next_without_trees_ = 0;
  std::optional<std::size_t> upcoming_;  // The sentence of the next row.
  std::optional<ExhaustedRow> pending_;
  RowCheck check_;
};

}  // namespace

std::unique_ptr<TreeReader> npz_reader(const std::string& file) {
  return std::make_unique<NpzReader>(file);
}

}  // namespace taproot::cli
