// SPDX-License-Identifier: Apache-2.0
//
// What a factored distribution over trees can be asked. p(t) = exp(score(t)) / Z throughout.
//
// Every function that takes a Factorization throws SentenceError when its outcome is not ok, and
// std::invalid_argument when a shape is wrong. The forms without a Workspace allocate one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taproot/factorization.h"
#include "taproot/types.h"

namespace taproot {

/// log Z. O(1).
TAPROOT_API double log_partition(const Factorization& f);

/// p(h -> m) for every edge: the probability that a tree has it; also the gradient of log Z.
/// Column 0 and the diagonal are 0, every other column sums to 1. Absolute error: a few n 2^-53,
/// and where rounding leaves 0..1 the nearest of its ends. Cost: 2 n^3/3 multiply-adds.
TAPROOT_API void marginals(const Factorization& f, EdgeMatrix out, Workspace& workspace);
TAPROOT_API std::vector<double> marginals(const Factorization& f);

/// Writes the indices of the `values` (such as marginals) that are at least `least` to the
/// beginning of `cells`, in increasing order, and returns how many there are. `cells` has room for
/// as many as there are values. NaN is not at least anything.
TAPROOT_API std::size_t cells_at_least(std::span<const double> values, double least,
                                       std::span<std::uint32_t> cells);

/// H v with H = d^2 log Z / dS^2 = Cov_p(edge, edge') and v = `direction`: the derivative of
/// marginals() when the scores move along v. H is symmetric, so this is also the backward pass of
/// marginals(): the gradient of sum(v * marginals), v held fixed. `direction` is row-major
/// [n+1][n+1]; column 0, the diagonal and edges of score -inf are ignored, whatever they hold;
/// NaN and infinities are ignored at edges that no tree has, and throw elsewhere. It may be the
/// memory that `out` writes to. Column 0, the diagonal and forbidden edges are 0, every other
/// column sums to 0 up to rounding. Absolute error: a few n 2^-53 times the largest value of v less
/// the mean of its column; what all heads of a word have in common, and single-root all ROOT edges,
/// costs no digits. Cost: 8 n^3/3 multiply-adds, marginals() included.
TAPROOT_API void hessian_product(const Factorization& f, std::span<const double> direction,
                                 EdgeMatrix out, Workspace& workspace);
TAPROOT_API std::vector<double> hessian_product(const Factorization& f,
                                                std::span<const double> direction);

/// p(0 -> m) for m = 1..n into out[m-1]. Single-root: they sum to 1, cost n^2/2 multiply-adds and
/// have full *relative* accuracy down to 2^-256, since nothing is subtracted; multi-root: as
/// marginals().
TAPROOT_API void root_marginals(const Factorization& f, std::span<double> out,
                                Workspace& workspace);
TAPROOT_API std::vector<double> root_marginals(const Factorization& f);

/// log p(tree), never above 0; -inf if `heads` is not a tree of the family under the root rule or
/// uses a forbidden edge. Throws if heads.size() != n or a head is outside 0..n. O(n).
TAPROOT_API double log_prob(const Factorization& f, TreeView heads);

/// -sum_t p(t) log p(t), in nats. Cost: marginals().
TAPROOT_API double entropy(const Factorization& f, Workspace& workspace);
TAPROOT_API double entropy(const Factorization& f);

/// E[sum of values[h][m] over the tree's edges]; `values` is row-major [n+1][n+1]. An edge of
/// probability zero counts 0, whatever its value. Error: that of the marginals times the largest
/// value. Cost: marginals().
TAPROOT_API double expectation(const Factorization& f, std::span<const double> values,
                               Workspace& workspace);
TAPROOT_API double expectation(const Factorization& f, std::span<const double> values);

/// -sum_t p(t) log q(t), for two score sets over one sentence under one root rule, and of any two
/// families. +inf exactly when p allows some tree that q does not: one with an edge that q forbids
/// or, if q is over projective trees, one that is not projective. Error: that of p's marginals
/// times the spread of q's scores within a column. Cost: marginals() of p.
TAPROOT_API double cross_entropy(const Factorization& p, const Factorization& q,
                                 Workspace& workspace);
TAPROOT_API double cross_entropy(const Factorization& p, const Factorization& q);

/// sum_t p(t) log(p(t)/q(t)) >= 0; +inf as cross_entropy(). A sum that rounds below zero gives 0.
TAPROOT_API double kl_divergence(const Factorization& p, const Factorization& q,
                                 Workspace& workspace);
TAPROOT_API double kl_divergence(const Factorization& p, const Factorization& q);

/// The share of the projective trees in Z of all trees, for the same scores and root rule: how
/// projective a sentence is. `f` may have either family. 0 where no tree is projective. Cost:
/// factorize() for the other family.
TAPROOT_API double projective_mass(const Factorization& f, Workspace& workspace);
TAPROOT_API double projective_mass(const Factorization& f);

/// Z_multi / Z_single >= 1 of the same scores: how many multi-root trees one samples on average
/// until one of them has a single root. `f` may have either rule. +inf where no tree has a single
/// root, and beyond double's range. Cost: one elimination under the other rule.
TAPROOT_API double expected_tries(const Factorization& f, Workspace& workspace);
TAPROOT_API double expected_tries(const Factorization& f);

/// Expected number of steps of Wilson's random walk, each of which samples one head: multi-root as
/// it stands, single-root given a root sampled from root_marginals(). +inf beyond double's range.
/// Throws std::invalid_argument for projective trees. Cost: marginals().
TAPROOT_API double expected_steps(const Factorization& f, Workspace& workspace);
TAPROOT_API double expected_steps(const Factorization& f);

}  // namespace taproot
