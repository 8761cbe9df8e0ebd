// SPDX-License-Identifier: Apache-2.0
#include "lanes/groups.h"

#include <algorithm>
#include <array>
#include <utility>

namespace taproot::detail {
namespace {

// What a sentence costs by itself, in units of what it costs in a full group. Measured with
// AVX-512 for 32, 25 and 10 words: 1.05, 1.15 and 1.65 for log Z, 1.2, 1.4 and 2.1 for marginals;
// of projective trees, 1.3 and more.
constexpr double kAlone = 1.3;

// What a sentence of n words costs in a full group, but for a factor; a fit to measured times of
// 10, 25 and 32 words.
double cost(int n) {
  const double nodes = n + 1;
  return nodes * nodes * (nodes + 70) + 2000;
}

// Whether a group of these lengths, longest first, is faster than its sentences one by one.
bool is_worth_it(std::span<const ScoreView> sentences, std::span<const std::size_t> group) {
  double together = 0;
  for (const std::size_t b : group) together += cost(sentences[b].n());
  return kAlone * together >= static_cast<double>(kLaneGroup) * cost(sentences[group[0]].n());
}

}  // namespace

std::size_t LaneGroups::count() const {
  return (sorted_.size() - single_ + kLaneGroup - 1) / kLaneGroup;
}

std::span<const std::size_t> LaneGroups::group(std::size_t g) const {
  const auto grouped = std::span<const std::size_t>(sorted_).subspan(single_ + g * kLaneGroup);
  return grouped.first(std::min(kLaneGroup, grouped.size()));
}

LaneGroups::LaneGroups(std::span<const ScoreView> sentences, int most_words)
    : sorted_(sentences.size()) {
  const auto slot = [&](std::size_t b) {
    const int n = sentences[b].n();
    return static_cast<std::size_t>(n <= most_words ? n : 0);
  };
  // Sorted by counting, longest first, after slot 0, the sentences that are too long or empty.
  std::array<std::size_t, kMostLaneWords + 1> begin = {};
  for (std::size_t b = 0; b < sentences.size(); ++b) ++begin[slot(b)];
  std::size_t total = std::exchange(begin[0], 0);
  single_ = total;
  for (std::size_t n = begin.size(); n-- > 1;) total += std::exchange(begin[n], total);
  for (std::size_t b = 0; b < sentences.size(); ++b) sorted_[begin[slot(b)]++] = b;
  // A group that is not worth it moves in front of the groups before it, which are worth it.
  for (std::size_t at = single_; at < sorted_.size();) {
    const std::size_t size = std::min(kLaneGroup, sorted_.size() - at);
    const auto first = sorted_.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = first + static_cast<std::ptrdiff_t>(size);
    if (!is_worth_it(sentences, {first, last})) {
      std::rotate(sorted_.begin() + static_cast<std::ptrdiff_t>(single_), first, last);
      single_ += size;
    }
    at += size;
  }
}

}  // namespace taproot::detail
