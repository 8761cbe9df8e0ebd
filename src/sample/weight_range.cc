// SPDX-License-Identifier: Apache-2.0
#include "sample/weight_range.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"

namespace taproot::detail {
namespace {

// The base-2 logarithm of the ratio of the largest to the smallest of some scores' exponentials.
class ScoreRange {
 public:
  void add(double score) {
    if (score == -HUGE_VAL) return;
    high_ = std::max(high_, score);
    low_ = std::min(low_, score);
  }
  double bits() const { return high_ > low_ ? (high_ - low_) * 1.4427 : 0.0; }

 private:
  double high_ = -HUGE_VAL;
  double low_ = HUGE_VAL;
};

}  // namespace

bool fits_double(const ScoreTable& table) {
  const int n = table.n;
  const bool single = table.root == RootRule::kSingle;
  double bits = 0;
  for (int m = 1; m <= n; ++m) {
    ScoreRange range;
    for (int h = single ? 1 : 0; h <= n; ++h) range.add(table.row(h)[m]);
    bits += range.bits();
  }
  if (single) {
    // Given its root, a tree lacks the root's column, so the scales of the columns must be removed
    // before the scores of roots are compared.
    ScoreRange range;
    for (int m = 1; m <= n; ++m) range.add(scaled_score(table, 0, m));
    bits += range.bits();
  }
  return bits + (n + 1) * std::log2(n + 1) <= kFittingBits;
}

}  // namespace taproot::detail
