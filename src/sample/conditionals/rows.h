// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of rows of K = L^-1 (see conditionals.h), for one tree (row_path.h) and for many
// (without_replacement/beam.h).
//
// With r the row of word i given the heads decided so far, P(head of i is h) = A[h][i] (r[i] -
// r[h]). Fixing k's head at j changes every other row by a multiple of k's row that makes its
// entries k and j equal.
#pragma once

#include <cmath>
#include <cstddef>

#include "core/host_device.h"

namespace taproot::detail {

/// A word that was decided: its row then, its head, and 1 / (row[word] - row[head]).
struct Decided {
  const double* row;
  std::size_t word;
  std::size_t head;
  double inverse_p;
};

/// Brings `count` rows, ld apart, up to date for the words decided, in one pass over those.
void reduce_rows(const Decided* decided, std::size_t words, std::size_t ld, std::size_t count,
                 double* rows);

/// p[h] = weights[h] (row[i] - row[h]). Where the heads decided lead from h back to i it is exactly
/// 0, whatever the row says; and what rounds below 0 is 0. leads_to[h] is the undecided word or the
/// sink that h leads to, as doubles to be compared in vectors.
void row_law(const double* weights, const double* row, const double* leads_to, int i,
             std::size_t ld, double* p);

/// Nodes that led to `word` now lead to `end`. In place, or from one array to another.
void merge_leads(const double* from, int word, double end, std::size_t ld, double* to);

/// A bound on the error of a probability in the row form. `visits` is Conditionals::visits(), or
/// what it has become given the heads decided. `amplification` is the product over the words
/// decided of pivot_amplification(). Measured on random, attracting and sparse graphs, for
/// prefixes drawn by the law as well as by lot: at most 0.4 of this
/// (tests/unit/sample/conditionals/conditionals_test.cc).
TAPROOT_HOST_DEVICE inline double row_error(double visits, double amplification) {
  return 64 * 0x1p-52 * visits * amplification;
}

/// How many digits the pivot row[word] - row[head] lost to cancellation, as a factor: the largest
/// term of the row over the pivot, where that is more than harmless.
TAPROOT_HOST_DEVICE inline double pivot_amplification(double largest, double pivot) {
  constexpr double kHarmless = 16;
  if (kHarmless * pivot > largest) return 1;
  return pivot > 0 ? largest / pivot : HUGE_VAL;
}

}  // namespace taproot::detail
