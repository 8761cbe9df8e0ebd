// SPDX-License-Identifier: Apache-2.0
#include "sample/weights_by_modifier.h"

#include <algorithm>
#include <cmath>

#include "scores/weights.h"

namespace taproot::detail {
namespace {

// The ROOT row of a single-root sentence has a scale of its own, which a walk that draws ROOT among
// the other heads must put back. If that is too much for a double, the others are lowered instead.
constexpr double kMostRaised = 900;

}  // namespace

const double* weights_by_modifier(const FactorData& data, bool with_root, Scratch& scratch) {
  const ScoreTable& table = data.table;
  const auto side = static_cast<std::size_t>(table.n) + 1;
  const std::size_t ld = table.ld;
  double* out = scratch.square.resize((side + 1) * ld);
  double* row = scratch.rows.resize(ld);
  const bool lower_words = with_root && table.root_scale > kMostRaised;
  for (std::size_t h = 0; h < side; ++h) {
    const double* weights = row;
    if (data.has_weights()) {
      weights = data.weights.data() + h * ld;
    } else {
      fill_weights(table, static_cast<int>(h), static_cast<int>(h) + 1, row);
    }
    // Exponents beyond int are far beyond what ldexp turns into 0.
    const double shift =
        h == 0 ? (lower_words ? 0.0 : table.root_scale) : (lower_words ? -table.root_scale : 0.0);
    const int exponent = static_cast<int>(std::clamp(shift, -4000.0, 4000.0));
    for (std::size_t m = 1; m < side; ++m) {
      double weight = h == 0 && !with_root ? 0.0 : weights[m];
      if (exponent != 0) weight = std::ldexp(weight, exponent);
      out[m * ld + h] = weight;
    }
  }
  return out;
}

}  // namespace taproot::detail
