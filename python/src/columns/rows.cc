// SPDX-License-Identifier: Apache-2.0
#include "columns/rows.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "padded.h"
#include "pool.h"

namespace taproot::python {
namespace {

// Sentences go to the threads in chunks of this many cells per thread: few enough for a cache, and
// enough that the threads rarely wait for each other.
constexpr std::size_t kChunkCells = std::size_t{1} << 16;
constexpr std::size_t kFewest = 64;  // Sentences, however many cells they have.

// n if there are (n+1)^2 numbers, -1 if there is no such n. No numbers at all are no words.
int words_of(std::int64_t size) {
  if (size == 0) return 0;
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(size))));
  return side * side == size && side < (std::int64_t{1} << 30) ? static_cast<int>(side) - 1 : -1;
}

constexpr const char* kFloats = "[Rows] scores must be float32 or float64";

}  // namespace

std::string_view row_status_name(std::size_t status) {
  constexpr std::string_view kOwn[] = {"bad_constraint", "no_id", "no_scores", "bad_length",
                                       "bad_labels"};
  constexpr auto kFirst = static_cast<std::size_t>(RowStatus::kBadConstraint);
  return status < kFirst ? to_string(static_cast<Status>(status)) : kOwn[status - kFirst];
}

Rows::Rows(Floats values, Offsets offsets, Contiguous<std::uint8_t> statuses,
           Contiguous<const std::uint64_t> ids, bool multi, bool projective)
    : values_(std::move(values)),
      is_double_(holds_doubles(values_, kFloats)),
      offsets_(std::move(offsets)),
      statuses_(std::move(statuses)),
      ids_(std::move(ids)),
      multi_(multi),
      projective_(projective) {
  if (offsets_.size() != size() + 1 || ids_.size() != size()) {
    throw std::invalid_argument("[Rows] there must be one id per row and one more offset");
  }
}

void Rows::set_labels(Floats values, Offsets offsets, Mask valid, int count) {
  const bool is_double = holds_doubles(values, kFloats);
  labels_ = LabelColumn{std::move(values), is_double, std::move(offsets), std::move(valid)};
  label_count_ = count;
}

void Rows::set_constraint(std::string_view kind, IntegerLists lists) {
  constexpr std::string_view kNames[] = {"force", "forbid", "roots", "partial_tree"};
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), kind);
  if (found == std::end(kNames)) throw std::invalid_argument("[Rows] no such constraint");
  constraint_columns_[static_cast<std::size_t>(found - kNames)] = std::move(lists);
}

bool Rows::constrain(std::size_t row, int n, Constraints& to) const {
  const auto of = [&](Kind kind) {
    const auto& column = constraint_columns_[kind];
    return column ? column->row(row) : std::nullopt;
  };
  const auto edges = [&](Kind kind, Constraints& (Constraints::*add)(int, int)) {
    const auto heads = of(kind);
    if (!heads) return;
    const std::int32_t* const modifiers =
        constraint_columns_[kind]->seconds->data() + constraint_columns_[kind]->offsets.data()[row];
    for (std::size_t i = 0; i < heads->size(); ++i) (to.*add)((*heads)[i], modifiers[i]);
  };
  try {
    edges(kForce, &Constraints::force);
    edges(kForbid, &Constraints::forbid);
    if (const auto words = of(kRoots)) to.allow_roots(*words);
    if (const auto heads = of(kPartialTree)) to.force_partial_tree(*heads);
  } catch (const std::invalid_argument&) {
    return false;  // It names something that is not an edge or a word of any sentence.
  }
  return to.fits(n);
}

void Rows::prepare() {
  if (std::exchange(prepared_, true)) return;
  const bool constrained = std::any_of(constraint_columns_.begin(), constraint_columns_.end(),
                                       [](const auto& column) { return column.has_value(); });
  rows_.reserve(size());
  views_.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    std::uint8_t& status = statuses_.data()[i];
    if (status != 0) continue;
    const auto refuse = [&](RowStatus why) { status = static_cast<std::uint8_t>(why); };
    const std::int64_t cells = offsets_.data()[i + 1] - offsets_.data()[i];
    const int n = words_of(cells);
    if (n < 0) {
      refuse(RowStatus::kBadLength);
      continue;
    }
    if (labels_) {
      const std::int64_t* const at = labels_->offsets.data() + i;
      if (labels_->valid.data()[i] == 0 || at[1] - at[0] != cells * label_count_) {
        refuse(RowStatus::kBadLabels);
        continue;
      }
    }
    if (n == 0) {  // Without numbers there may be no memory to make a view of, either.
      status = static_cast<std::uint8_t>(Status::kEmpty);
      continue;
    }
    Constraints own;
    if (constrained && !constrain(i, n, own)) {
      refuse(RowStatus::kBadConstraint);
      continue;
    }
    if (labels_) {
      label_views_.push_back(view_of<LabelView>(labels_->values.data(), labels_->is_double,
                                                labels_->offsets.data()[i], n, label_count_));
    }
    if (constrained) constraints_.push_back(std::move(own));
    views_.push_back(view_of<ScoreView>(values_.data(), is_double_, offsets_.data()[i], n));
    rows_.push_back(i);
  }
}

DependencyTrees Rows::trees(std::size_t first, std::size_t end) const {
  BatchOptions options;
  options.root = multi_ ? RootRule::kMulti : RootRule::kSingle;
  options.projective = projective_;
  options.keep = false;
  const auto part = [&](const auto& all) {
    using All = std::decay_t<decltype(all)>;
    if (all.empty()) return All();
    return All(all.begin() + static_cast<std::ptrdiff_t>(first),
               all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  options.labels = part(label_views_);
  options.constraints = part(constraints_);
  for (std::size_t i = first; i < end; ++i) options.ids.push_back(ids_.data()[rows_[i]]);
  return DependencyTrees(pool(), part(views_), std::move(options));
}

void Rows::ask(const Question& question, const Done& done) {
  const auto labels = static_cast<std::size_t>(std::max(1, label_count_));
  const std::size_t most = kChunkCells * static_cast<std::size_t>(pool().threads());
  for (std::size_t first = 0, end = 0; first < sentences(); first = end) {
    for (std::size_t cells = 0; end < sentences() && (cells < most || end - first < kFewest);
         ++end) {
      cells += (words(end) + 1) * (words(end) + 1) * labels;
    }
    DependencyTrees chunk = trees(first, end);
    const std::vector<Outcome> outcomes = question(chunk, first);
    for (std::size_t i = first; i < end; ++i) {
      statuses_.data()[rows_[i]] = static_cast<std::uint8_t>(outcomes[i - first].status);
    }
    done(first, end);
  }
}

}  // namespace taproot::python
