// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "taproot/taproot.h"
#include "testing/linear_congruential.h"
#include "unit/batch/sentences.h"

namespace taproot {

inline constexpr int kLabels = 3;

/// Label scores for every sentence, some of them forbidden.
class Labels {
 public:
  explicit Labels(const Sentences& sentences) {
    LinearCongruential random(11);
    for (const ScoreView& view : sentences.views()) {
      const auto side = static_cast<std::size_t>(view.n()) + 1;
      data_.emplace_back(side * side * kLabels);
      for (double& s : data_.back()) s = random.below(7) == 0 ? -HUGE_VAL : 2 * random.uniform();
      // One label is left to every edge.
      for (std::size_t i = 0; i < data_.back().size(); i += kLabels) data_.back()[i] = 0.5;
      views_.emplace_back(data_.back().data(), view.n(), kLabels);
    }
  }
  const std::vector<LabelView>& views() const { return views_; }

 private:
  std::vector<std::vector<double>> data_;
  std::vector<LabelView> views_;
};

/// The scores of a batch with its labels summed out or maximized, and constraints applied.
class Applied {
 public:
  Applied(const Sentences& sentences, const std::vector<LabelView>& labels, LabelSum sum,
          const std::vector<Constraints>& constraints)
      : memory_(sentences.size()), views_(sentences.views()) {
    for (std::size_t b = 0; b < views_.size(); ++b) {
      if (!labels.empty()) views_[b] = add_labels(views_[b], labels[b], sum, memory_[b]);
      if (!constraints.empty()) views_[b] = constraints[b].apply(views_[b], memory_[b]);
    }
  }
  const std::vector<ScoreView>& views() const { return views_; }

 private:
  std::vector<std::vector<double>> memory_;
  std::vector<ScoreView> views_;
};

/// Every second sentence may not have its last word as a root, every third must have it below the
/// first word.
inline std::vector<Constraints> some_constraints(const Sentences& sentences) {
  std::vector<Constraints> constraints(sentences.size());
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    const int n = sentences.views()[b].n();
    if (n < 3) continue;
    if (b % 2 == 0) constraints[b].forbid(0, n);
    if (b % 3 == 0) constraints[b].force(1, n);
  }
  return constraints;
}

/// Every sentence with labels, and constraints for some of them.
class Labeled : public testing::Test {
 protected:
  Labeled() : labels_(sentences_), constraints_(some_constraints(sentences_)) {}

  Sentences sentences_;
  Labels labels_;
  std::vector<Constraints> constraints_;
};

}  // namespace taproot
