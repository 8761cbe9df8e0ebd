// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scaled_product.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Chooses the order of elimination. Fills order and position of `data`.
///
/// Any order gives the same results. Word k has the key sum over m of A[k][m] / sum over h of
/// A[h][m], its share in the heads of all words. Words are eliminated in ascending order of their
/// keys (ties: by index), because with leaf-like words first, sampling by un-elimination is cheap.
/// The word that is left to the end is the one of data.last with the largest key.
///
/// `weights` is [n+1][ld] in sentence order, row = head. `sums`, 2 ld doubles, holds the sums of
/// the columns over word heads, and is overwritten. Returns an upper bound of Z of the scaled
/// weights: the product over the columns of max(sum, 1); single-root, the sums are over word heads,
/// and the product is multiplied by the sum of the ROOT row.
ScaledProduct choose_order(FactorData& data, const double* weights, double* sums);

/// Fills data.matrix with the weights by position. `weights` is [n+2][ld], and row n+1 is 0.
void arrange_weights(FactorData& data, const double* weights);

}  // namespace taproot::detail
