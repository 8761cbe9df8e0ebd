// SPDX-License-Identifier: Apache-2.0
//
// The queries over whole batches, sentence by sentence on a pool of threads.
//
// `outcomes` and scalar outputs have one entry per sentence (throws std::invalid_argument if not).
// A sentence whose outcome is not ok leaves its output as it was. Answers do not depend on the
// number of threads. Sentences share nothing, so neither does one bad one spoil another.
#pragma once

#include <memory>
#include <span>
#include <type_traits>

#include "taproot/factorization.h"
#include "taproot/query.h"
#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot {

/// Threads, each with a factorization and a workspace that are reused from call to call.
/// With one thread everything runs on the caller's. Not for two callers at once, and not from
/// within a visit. Moved from, it may only be assigned to or destroyed.
class TAPROOT_API Pool {
 public:
  /// 0 means one thread per core. Throws std::invalid_argument when negative.
  explicit Pool(int threads = 0);
  ~Pool();
  Pool(Pool&&) noexcept;
  Pool& operator=(Pool&&) noexcept;

  int threads() const;

  struct Impl;

 private:
  friend struct detail::Access;
  std::unique_ptr<Impl> impl_;
};

namespace detail {
using IndexFunction = void (*)(void* context, std::size_t index, Workspace&);
TAPROOT_API void for_each_index(Pool& pool, std::size_t count, IndexFunction visit, void* context);
using VisitFunction = void (*)(void* context, std::size_t sentence, const Factorization&,
                               Workspace&);
TAPROOT_API void for_each_factorization(Pool& pool, const Scores& scores,
                                        std::span<Outcome> outcomes, VisitFunction visit,
                                        void* context);
}  // namespace detail

/// Calls visit(index, workspace) for every index < count, from any thread, in any order; for
/// factorizations that the caller keeps. What visit throws is rethrown, and the rest may be left
/// out.
template <typename Visit>
void for_each_index(Pool& pool, std::size_t count, Visit&& visit) {
  detail::for_each_index(
      pool, count,
      [](void* context, std::size_t index, Workspace& workspace) {
        (*static_cast<std::remove_reference_t<Visit>*>(context))(index, workspace);
      },
      const_cast<void*>(static_cast<const void*>(&visit)));
}

/// Eliminates every sentence and calls visit(sentence, factorization, workspace) for those that are
/// ok, from any thread, in any order. What visit throws is rethrown, and the rest may be left out.
template <typename Visit>
void for_each_factorization(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                            Visit&& visit) {
  detail::for_each_factorization(
      pool, scores, outcomes,
      [](void* context, std::size_t sentence, const Factorization& f, Workspace& workspace) {
        (*static_cast<std::remove_reference_t<Visit>*>(context))(sentence, f, workspace);
      },
      const_cast<void*>(static_cast<const void*>(&visit)));
}

TAPROOT_API void log_partition(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                               std::span<double> out);
TAPROOT_API void entropy(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                         std::span<double> out);
TAPROOT_API void expected_steps(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                                std::span<double> out);
TAPROOT_API void expected_tries(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                                std::span<double> out);

/// values[b] is the row-major [n+1][n+1] matrix of sentence b.
TAPROOT_API void expectation(Pool& pool, const Scores& scores,
                             std::span<const std::span<const double>> values,
                             std::span<Outcome> outcomes, std::span<double> out);

/// Between sentence b of p and sentence b of q; the outcome is that of the first of the two that
/// has no answer. Throws if the batches differ in size, root rule or a sentence's length.
TAPROOT_API void cross_entropy(Pool& pool, const Scores& p, const Scores& q,
                               std::span<Outcome> outcomes, std::span<double> out);
TAPROOT_API void kl_divergence(Pool& pool, const Scores& p, const Scores& q,
                               std::span<Outcome> outcomes, std::span<double> out);

/// One destination a sentence; they must not overlap.
TAPROOT_API void marginals(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                           std::span<const EdgeMatrix> out);

/// out[b] takes n_b values (or more, left alone).
TAPROOT_API void root_marginals(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                                std::span<const std::span<double>> out);

/// log p(heads[b]) of one tree a sentence.
TAPROOT_API void log_prob(Pool& pool, const Scores& scores, std::span<const TreeView> heads,
                          std::span<Outcome> outcomes, std::span<double> out);

}  // namespace taproot
