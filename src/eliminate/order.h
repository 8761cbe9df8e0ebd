// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scaled_product.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Chooses the order of elimination and brings the weights into it.
///
/// The word left to the end is one of data.last. The others go in ascending order of the share they
/// have in the heads of all words, sum over m of A[k][m] / sum over h of A[h][m] (ties: by index):
/// leaf-like words first, which is what makes sampling by un-elimination cheap. Any order is right.
///
/// `weights` is [n+2][ld] in sentence order, row = head; its row n+1 is overwritten. Fills order,
/// position and matrix, and returns an upper bound of Z (scaled): the product of the columns'
/// sums, or 1 where one is smaller; single-root, over word heads, times the sum of the ROOT row.
/// `sums` (2 ld doubles, overwritten) holds the sums of the weights' columns over word heads.
ScaledProduct arrange(FactorData& data, double* weights, double* sums);

}  // namespace taproot::detail
