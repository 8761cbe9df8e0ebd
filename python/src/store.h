// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "taproot/factorization.h"

namespace taproot::python {

/// A factorization, and the longest sentence that its memory has served.
struct Kept {
  Factorization factorization;
  int longest = 0;
};

/// `count` factorizations, those of distributions that are gone first: fresh memory costs more than
/// the arithmetic in it.
std::vector<Kept> take_factorizations(std::size_t count);

/// Keeps them for others, up to 128 MB in all.
void give_back(std::vector<Kept>&& factorizations);

}  // namespace taproot::python
