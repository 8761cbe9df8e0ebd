// SPDX-License-Identifier: Apache-2.0
//
// Factor a sentence once, then ask it as many questions as you like (taproot/query.h).
#pragma once

#include <memory>

#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot {

namespace detail {
struct FactorData;
struct Scratch;
struct Access;
}  // namespace detail

/// Scratch memory that grows to the largest sentence it has served and is then reused: with one
/// workspace per thread, nothing is allocated in the steady state. It serves any sentence and any
/// query, but only one thread at a time. Moved from, it may only be assigned to or destroyed.
class TAPROOT_API Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

 private:
  friend struct detail::Access;
  std::unique_ptr<detail::Scratch> scratch_;
};

/// A sentence that is ready for questions, by elimination or by a chart: Z, and all that queries
/// and samplers need. It keeps its own copy of the scores, so the caller's may go. Moved from, it
/// may only be assigned to or destroyed. Reading it from several threads at once is safe. Memory:
/// 16 (n+1)^2 bytes, 24 up to n = 1000; 16 more when is_wide(). For projective trees 64 (n+1)^2
/// bytes, 72 up to n = 1000; 112 more when is_wide().
class TAPROOT_API Factorization {
 public:
  Factorization();
  ~Factorization();
  Factorization(Factorization&&) noexcept;
  Factorization& operator=(Factorization&&) noexcept;

  const Outcome& outcome() const;
  int n() const;
  RootRule root_rule() const;

  TreeFamily family() const;

  /// Whether double's exponent range was too small for this sentence, so that it was factored
  /// on a scalar with a 64-bit exponent (same promises, 15 to 40 times slower).
  bool is_wide() const;

 private:
  friend struct detail::Access;
  std::unique_ptr<detail::FactorData> data_;
};

/// Eliminates the words of a sentence.
///
/// Z = sum over trees of exp(sum of S[head][modifier] over the tree's edges), by eliminating one
/// word k after the other: with A = exp(S) and P the pivot, the sum of column k over the heads
/// left,
///     Z *= P,    A[h][m] += A[h][k] A[k][m] / P   for the words left,
/// only additions, products and quotients of non-negative numbers. So every quantity has full
/// relative accuracy, whatever the conditioning; see docs/math.md.
///
/// `out` is overwritten and its memory reused; the result is `out.outcome()`, also returned.
/// Cost: n^3/3 multiply-adds and n^2 exponentials.
TAPROOT_API Outcome eliminate(const ScoreView& scores, RootRule root, Factorization& out,
                              Workspace& workspace);

/// The same into a fresh factorization.
TAPROOT_API Factorization eliminate(const ScoreView& scores, RootRule root = RootRule::kSingle);

/// Makes a sentence ready for questions about the trees of a family. TreeFamily::kAll is
/// eliminate(). For TreeFamily::kProjective it fills the chart of Eisner (1996): sums over trees of
/// spans of words, of products of non-negative numbers only, with the same accuracy as elimination.
/// The outcome is no_tree where the allowed edges have no projective tree. Cost: n^3/2
/// multiply-adds and n^2 exponentials.
TAPROOT_API Outcome factorize(const ScoreView& scores, RootRule root, TreeFamily family,
                              Factorization& out, Workspace& workspace);

/// The same into a fresh factorization.
TAPROOT_API Factorization factorize(const ScoreView& scores, RootRule root, TreeFamily family);

}  // namespace taproot
