// SPDX-License-Identifier: Apache-2.0
#include "distribution.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "threads.h"

namespace taproot::python {

Distribution::Distribution(std::vector<ScoreView> scores, std::vector<LabelView> labels,
                           std::span<const Constraints> constraints, RootRule root, int padded_n)
    : root_(root), padded_n_(padded_n), scores_(std::move(scores)), labels_(std::move(labels)) {
  for (const ScoreView& view : scores_) longest_ = std::max(longest_, view.n());
  if (labels_.empty() && constraints.empty()) return;
  // A view stays where its memory is when the vector around it moves.
  const std::size_t copies = labels_.empty() ? 1 : 2;
  memory_.resize(copies * scores_.size());
  if (!labels_.empty()) decode_scores_ = scores_;
  Interrupt interrupt;
  for_each(scores_.size(), longest_, interrupt, [&](std::size_t b, Own&) {
    const auto replace = [&](ScoreView& view, LabelSum sum, std::vector<double>& memory) {
      if (!labels_.empty()) view = add_labels(view, labels_[b], sum, memory);
      if (!constraints.empty()) view = constraints[b].apply(view, memory);
    };
    replace(scores_[b], LabelSum::kLogSum, memory_[copies * b]);
    if (!labels_.empty()) replace(decode_scores_[b], LabelSum::kMax, memory_[copies * b + 1]);
  });
}

void Distribution::factor(Interrupt& interrupt) {
  if (factored_.load(std::memory_order_acquire)) return;
  if (factoring_.load() == std::this_thread::get_id()) {
    throw std::runtime_error(
        "a signal handler asks a distribution that is at work on its first question");
  }
  const std::lock_guard lock(mutex_);
  if (factored_.load(std::memory_order_relaxed)) return;
  factoring_ = std::this_thread::get_id();
  if (factorizations_.empty()) factorizations_ = take_factorizations(size());
  try {
    for_each(size(), longest_, interrupt, [this](std::size_t b, Own& own) {
      Kept& kept = factorizations_[b];
      kept.longest = std::max(kept.longest, n(b));
      eliminate(scores_[b], root_, kept.factorization, own.workspace);
    });
  } catch (...) {
    factoring_ = std::thread::id();
    throw;
  }
  factoring_ = std::thread::id();
  factored_.store(true, std::memory_order_release);
}

}  // namespace taproot::python
