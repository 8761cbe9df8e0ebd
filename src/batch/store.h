// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "taproot/factorization.h"

namespace taproot::detail {

/// A factorization, and the longest sentences that its memory has served: for factors, and for the
/// chart of projective trees.
struct KeptFactorization {
  Factorization factorization;
  int longest = 0;
  int longest_chart = 0;
};

/// `count` factorizations, if possible those of batches that are gone: fresh memory costs more than
/// the arithmetic in it.
std::vector<KeptFactorization> take_factorizations(std::size_t count);

/// Keeps them for other batches, up to 128 MB in all.
void give_back(std::vector<KeptFactorization>&& factorizations);

}  // namespace taproot::detail
