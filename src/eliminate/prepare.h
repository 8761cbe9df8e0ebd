// SPDX-License-Identifier: Apache-2.0
//
// What comes before the elimination of a sentence: its scores are checked, its weights computed,
// and its words put into an order.
#pragma once

#include "core/scaled_product.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

struct Prepared {
  /// The scaled weights, [n+2][ld] in sentence order, row = head; row n+1 is 0. They are in the
  /// FactorData if it keeps weights, and otherwise in EliminateScratch.
  const double* weights = nullptr;
  ScaledProduct bound;  ///< An upper bound of Z of the scaled weights; see choose_order().
  double flushed = 0;   ///< From fill_weights().
};

/// Fills table, last, weights, order and position of `data`. Sets data.outcome, which it returns;
/// nothing but the table and the outcome is of use if it is not ok. O(n^2).
Outcome prepare(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch,
                Prepared& prepared);

}  // namespace taproot::detail
