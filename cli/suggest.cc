// SPDX-License-Identifier: Apache-2.0
#include "suggest.h"

#include <algorithm>

namespace taproot::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // distance[i][j] is that of the first i letters of a and the first j of b.
  std::vector<std::vector<std::size_t>> distance(a.size() + 1,
                                                 std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& best = distance[i][j];
      if (i == 0 || j == 0) {
        best = i + j;
        continue;
      }
      best = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                       distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = std::min(best, distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

std::string closest(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t kFarthest = 2;
  constexpr std::size_t kLongest = 40;
  if (typed.empty() || typed.size() > kLongest) return "";
  std::string found;
  std::size_t least = kFarthest + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    if (distance < least && 2 * distance < name.size()) {
      least = distance;
      found = name;
    }
  }
  if (!found.empty()) return found;
  const auto begins = [&](const std::string& name) { return name.starts_with(typed); };
  if (std::ranges::count_if(names, begins) != 1) return "";
  return *std::ranges::find_if(names, begins);
}

}  // namespace taproot::cli
