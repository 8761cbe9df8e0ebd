// SPDX-License-Identifier: Apache-2.0
// Named families of problems, each a pure function of its arguments. Together they hold what breaks
// inference over trees: cycles that trap the walk, wide ranges, masks, offsets, missing edges.
// Column 0 and the diagonal are -inf. Unless said otherwise both root rules have a tree.
#pragma once

#include <cstdint>

#include "testing/oracle.h"

namespace taproot::oracle {

// All scores 0: (n+1)^(n-1) multi-root trees, n^(n-1) single-root ones.
Problem uniform(int n);

// N(0, sigma^2).
Problem gaussian(int n, double sigma, std::uint64_t seed);

// Standard Cauchy, cut off at +-1e6.
Problem heavy_tailed(int n, std::uint64_t seed);

// Words 2i-1 and 2i attract each other with N(0, 0.1^2); all else, ROOT included, -gap + N(0, 1).
// An odd last word has no partner.
Problem attractor_pairs(int n, double gap, std::uint64_t seed);

// Words in blocks of `ring_size` (the last may be shorter); each is the head of the next one in its
// block, the last of the first, with N(0, 0.1^2). All else -gap + N(0, 1).
Problem rings(int n, int ring_size, double gap, std::uint64_t seed);

// Rings of 3 at -gap; the edges from each ring to the next, cyclically, at -2 gap; all else, ROOT
// included, at -3 gap; plus N(0, 1) everywhere.
Problem nested_rings(int n, double gap, std::uint64_t seed);

// N(0, 1) on a random single-root tree and on one more head for about half of the words; every
// other edge is forbidden.
Problem near_empty_columns(int n, std::uint64_t seed);

// Weights log-uniform over `orders` orders of magnitude.
Problem wide_range(int n, double orders, std::uint64_t seed);

// N(0, 1), each edge kept with probability `density`, else forbidden. May have no tree.
Problem sparse(int n, double density, std::uint64_t seed);

// N(0, 1) with about a third of the edges at exactly `mask` (-1e4, -1e9, ...), never those of some
// random single-root tree.
Problem masked(int n, double mask, std::uint64_t seed);

// N(0, 1) plus one offset for each column, uniform in [-size, size].
Problem column_offsets(int n, double size, std::uint64_t seed);

// Each score rounded to float32.
Problem rounded_to_float(const Problem& problem);

}  // namespace taproot::oracle
