// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of rows of K = L^-1 (see conditionals.h), for one tree (row_path.h) and for many
// (without_replacement/beam.h).
//
// A[h][i] is the weight of the edge from h to i. With r the row of word i given the heads decided
// so far, P(head of i is h) = A[h][i] (r[i] - r[h]). Deciding that k's head is j adds to every
// other row a multiple of k's row, such that the entries k and j of the other row become equal.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

/// A decided word: its row when it was decided, its head, and inverse_p = 1 / (row[word] -
/// row[head]).
struct Decided {
  const double* row;
  std::int32_t word;
  std::int32_t head;
  double inverse_p;
};

/// Updates `count` rows, which are ld apart, for all decided words, in one pass over these.
void reduce_rows(const Decided* decided, std::size_t words, std::size_t ld, std::size_t count,
                 double* rows);

/// p[h] = weights[h] (row[i] - row[h]), or 0 if that is negative by rounding. It is exactly 0 where
/// the decided heads lead from h back to i. leads_to[h] is the undecided word or the sink that h
/// leads to; these are doubles, so that vector code can compare them.
void row_law(const double* weights, const double* row, const double* leads_to, int i,
             std::size_t ld, double* p);

/// Copies `from` to `to`, where nodes that led to `word` now lead to `end`. May work in place.
void merge_leads(const double* from, int word, double end, std::size_t ld, double* to);

/// A bound, found by experiment, on the absolute error of a probability from rows. `visits` is how
/// often a walk visits a word, for the word with the most expected visits given the heads decided
/// so far; at first this is Conditionals::visits(). `amplification` is the product of
/// pivot_amplification() over the decided words. Measured errors reach 0.4 of the bound
/// (docs/numerics.md, tests/unit/sample/conditionals/conditionals_test.cc).
TAPROOT_HOST_DEVICE inline double row_error(double visits, double amplification) {
  return 64 * 0x1p-52 * visits * amplification;
}

/// The factor by which cancellation in the pivot row[word] - row[head] amplifies errors: the
/// largest term of the row over the pivot, or 1 if the ratio is harmless.
TAPROOT_HOST_DEVICE inline double pivot_amplification(double largest, double pivot) {
  constexpr double kHarmless = 16;
  if (kHarmless * pivot > largest) return 1;
  return pivot > 0 ? largest / pivot : HUGE_VAL;
}

}  // namespace taproot::detail
