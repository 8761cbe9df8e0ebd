// SPDX-License-Identifier: Apache-2.0
//
// The rows of Arrow's columns as sentences: which rows are sentences at all, and views of those
// that are, in the columns' own memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "taproot/dependency_trees.h"

namespace taproot::python {

/// What became of a row: the outcome of its sentence, or why it is not a sentence. The first
/// numbers are those of taproot::Status.
enum class RowStatus : std::uint8_t {
  kBadConstraint = 6,  ///< Its constraints name words that it does not have.
  kNoId,               ///< Its id is null.
  kNoScores,           ///< Its scores are null.
  kBadLength,          ///< Its scores are not (n+1)^2 numbers.
  kBadLabels,          ///< Its label scores are null, or not (n+1)^2 times the number of labels.
};
inline constexpr std::size_t kRowStatuses = 11;
std::string_view row_status_name(std::size_t status);

using Offsets = Contiguous<const std::int64_t>;
using Integers = Contiguous<const std::int32_t>;
using Mask = Contiguous<const std::uint8_t>;

/// Lists of 32-bit integers: row i has values[offsets[i]] to values[offsets[i + 1]], unless it is
/// null. `seconds` has a second number for each value, where values are pairs.
struct IntegerLists {
  Mask valid;
  Offsets offsets;
  Integers values;
  std::optional<Integers> seconds;

  std::optional<std::span<const std::int32_t>> row(std::size_t i) const {
    if (valid.data()[i] == 0) return {};
    const std::size_t size = static_cast<std::size_t>(offsets.data()[i + 1] - offsets.data()[i]);
    return std::span(values.data() + offsets.data()[i], size);
  }
};

class Rows {
 public:
  /// Row i has values[offsets[i]] to values[offsets[i + 1]]. `statuses` holds a status per row on
  /// entry, where 0 means that nothing is wrong so far, and then what became of each row.
  Rows(Floats values, Offsets offsets, Contiguous<std::uint8_t> statuses,
       Contiguous<const std::uint64_t> ids, bool multi, bool projective);

  /// Likewise for label scores, (n+1)^2 times `count` numbers per row.
  void set_labels(Floats values, Offsets offsets, Mask valid, int count);
  /// "force" and "forbid" have pairs (head, modifier), "roots" words, "partial_tree" heads.
  void set_constraint(std::string_view kind, IntegerLists lists);

  /// Finds out which rows are sentences; before everything that is about sentences.
  void prepare();

  std::size_t size() const { return statuses_.size(); }
  /// How many rows are sentences. They keep their order.
  std::size_t sentences() const { return rows_.size(); }
  std::size_t row(std::size_t sentence) const { return rows_[sentence]; }
  std::size_t words(std::size_t sentence) const {
    return static_cast<std::size_t>(views_[sentence].n());
  }
  int label_count() const { return label_count_; }
  /// Whether a sentence was answered.
  bool ok(std::size_t sentence) const { return statuses_.data()[rows_[sentence]] == 0; }

  /// Asks a question of one chunk of sentences after the other. question(trees, first) is about the
  /// sentences from `first` on and returns their outcomes, which become the statuses of the rows;
  /// then done(first, end) is called. A chunk fits in a processor's cache, and what a question
  /// needs for its work does not grow with the batch.
  using Question = std::function<std::vector<Outcome>(DependencyTrees&, std::size_t)>;
  using Done = std::function<void(std::size_t, std::size_t)>;
  void ask(const Question& question, const Done& done);

 private:
  bool constrain(std::size_t row, int n, Constraints& to) const;
  DependencyTrees trees(std::size_t first, std::size_t end) const;

  Floats values_;
  bool is_double_;
  Offsets offsets_;
  Contiguous<std::uint8_t> statuses_;
  Contiguous<const std::uint64_t> ids_;
  bool multi_;
  bool projective_;
  struct LabelColumn {
    Floats values;
    bool is_double;
    Offsets offsets;
    Mask valid;
  };
  std::optional<LabelColumn> labels_;
  int label_count_ = 0;
  enum Kind : std::size_t { kForce, kForbid, kRoots, kPartialTree, kKinds };
  std::array<std::optional<IntegerLists>, kKinds> constraint_columns_;

  // The sentences.
  bool prepared_ = false;
  std::vector<std::size_t> rows_;
  std::vector<ScoreView> views_;
  std::vector<LabelView> label_views_;
  std::vector<Constraints> constraints_;
};

}  // namespace taproot::python
