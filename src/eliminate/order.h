// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scaled_product.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Chooses the order of elimination and copies the weights into it. Fills order, position and
/// matrix of `data`.
///
/// Any order gives the same results. Word k has the key sum over m of A[k][m] / sum over h of
/// A[h][m], its share in the heads of all words. Words are eliminated in ascending order of their
/// keys (ties: by index), because with leaf-like words first, sampling by un-elimination is cheap.
/// The word that is left to the end is the one of data.last with the largest key.
///
/// `weights` is [n+2][ld] in sentence order, row = head; row n+1 is overwritten. `sums`, 2 ld
/// doubles, holds the sums of the columns over word heads, and is overwritten. Returns an upper
/// bound of Z of the scaled weights: the product over the columns of max(sum, 1); single-root, the
/// sums are over word heads, and the product is multiplied by the sum of the ROOT row.
ScaledProduct arrange(FactorData& data, double* weights, double* sums);

}  // namespace taproot::detail
