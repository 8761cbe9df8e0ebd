// SPDX-License-Identifier: Apache-2.0
#include "lanes/groups.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lanes/lanes.h"

namespace taproot::detail {
namespace {

// What a sentence of n words costs by itself, in units of what it costs in a full group; measured.
constexpr double kAlone = 2;

// What a sentence costs, but for a factor: reading and exponentials, and elimination.
double cost(int n) {
  const double nodes = n + 1;
  return nodes * nodes * (nodes + 16);
}

// Whether a group of these lengths, longest first, is faster than its sentences one by one.
bool is_worth_it(std::span<const ScoreView> sentences, std::span<const std::size_t> group) {
  double together = 0;
  for (const std::size_t b : group) together += cost(sentences[b].n());
  return kAlone * together >= static_cast<double>(kLaneGroup) * cost(sentences[group[0]].n());
}

}  // namespace

std::size_t LaneGroups::count() const { return (grouped.size() + kLaneGroup - 1) / kLaneGroup; }

std::span<const std::size_t> LaneGroups::group(std::size_t g) const {
  const std::span<const std::size_t> all(grouped);
  return all.subspan(g * kLaneGroup, std::min(kLaneGroup, all.size() - g * kLaneGroup));
}

LaneGroups group_by_length(std::span<const ScoreView> sentences) {
  LaneGroups groups;
  const auto slot = [&](std::size_t b) {
    const int n = sentences[b].n();
    return static_cast<std::size_t>(n <= kMostLaneWords ? n : 0);
  };
  // Sorted by counting, longest first; slot 0, the sentences that are too long or empty, is last.
  std::array<std::size_t, kMostLaneWords + 1> begin = {};
  for (std::size_t b = 0; b < sentences.size(); ++b) ++begin[slot(b)];
  const std::size_t sortable = sentences.size() - begin[0];
  std::size_t total = 0;
  for (std::size_t n = begin.size(); n-- > 0;) total += std::exchange(begin[n], total);
  std::vector<std::size_t> sorted(sentences.size());
  for (std::size_t b = 0; b < sentences.size(); ++b) sorted[begin[slot(b)]++] = b;

  const std::span<const std::size_t> all(sorted);
  for (std::size_t at = 0; at < sortable; at += kLaneGroup) {
    const auto group = all.subspan(at, std::min(kLaneGroup, sortable - at));
    std::vector<std::size_t>& to = is_worth_it(sentences, group) ? groups.grouped : groups.single;
    to.insert(to.end(), group.begin(), group.end());
  }
  groups.single.insert(groups.single.end(), all.begin() + static_cast<std::ptrdiff_t>(sortable),
                       all.end());
  return groups;
}

}  // namespace taproot::detail
