// SPDX-License-Identifier: Apache-2.0
//
// Trees sampled from p(t) = exp(score(t)) / Z, independently, with replacement.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "taproot/factorization.h"
#include "taproot/types.h"

namespace taproot {

/// The samplers. All but wilson-rc sample from p exactly.
enum class Algorithm : std::uint8_t {
  /// Wilson's algorithm on a budget (of all steps, and of the heads of one word), single-root from
  /// a root that is sampled first. A tree that exceeds the budget is sampled by un-elimination
  /// instead, given the same root. How many heads the words take is independent of the tree, so
  /// giving up does not bias.
  kAuto,
  /// Un-elimination: words come back one by one. At most n steps of at most n operations per tree,
  /// whatever the weights.
  kElimination,
  kWilson,  ///< Wilson's random walk (1996); multi-root only.
  /// A root from its marginals, then the walk; single-root only (Stanojevic 2022).
  kWilsonMarginal,
  kWilsonReject,  ///< Walks until a tree has one root; single-root only (Stanojevic 2022).
  kColbourn,      ///< Head by head from conditional marginals (Colbourn et al. 1996).
  /// BIASED: the root by the weight of its edge alone, then the walk (Zmigrod et al. 2021). This
  /// does not sample from p; it is here to reproduce the proof of that by Stanojevic (2022). auto
  /// never chooses it; single-root only.
  kWilsonRc,
};

/// "auto", "elimination", "wilson", "wilson-marginal", "wilson-reject", "colbourn", "wilson-rc".
TAPROOT_API std::string_view to_string(Algorithm algorithm);

/// The inverse; throws std::invalid_argument, naming those there are.
TAPROOT_API Algorithm algorithm_named(std::string_view name);

/// Which trees are sampled: tree s of a sentence depends on (seed, sentence id, s) alone, whatever
/// else is sampled, in whatever order, on however many threads, on whatever processor or on a GPU.
/// Walks choose the d-th head of a word by a number that depends on (seed, sentence id, s, word, d)
/// and, in wilson-reject, on the try, so that cycles may be popped in any order (docs/math.md).
struct SampleOptions {
  Algorithm algorithm = Algorithm::kAuto;
  std::uint64_t seed = 0;
  /// The walks that are asked for by name (wilson, wilson-marginal, wilson-reject, wilson-rc) give
  /// up a tree after this many steps, with the status step_limit. 0 means no limit of yours. In any
  /// case a walk ends after 2^40 steps, which take more than an hour.
  std::uint64_t step_limit = 0;
  /// The number of the first tree: a call for trees 0..99 gives the same trees as one for 0..49
  /// and one that begins at 50.
  std::uint32_t first_tree = 0;
};

/// What sampling took, added up over trees.
struct TAPROOT_API SampleStatistics {
  std::uint64_t trees = 0;  ///< Sampled or given up.
  /// Heads that the words took. A tree that is given up counts as its whole budget (auto) or
  /// limit, so the number does not depend on the order of popping either.
  std::uint64_t steps = 0;
  std::uint64_t tries = 0;  ///< Walks begun.
  /// auto: trees by un-elimination; colbourn: trees in the contracted form.
  std::uint64_t fallbacks = 0;

  SampleStatistics& operator+=(const SampleStatistics& other);
};

/// Samples trees of one sentence. Reads the factorization it was built from, which must outlive it
/// unchanged. Sampling is const: several threads may do so at once, each with a workspace of its
/// own. Moved from, a sampler may only be assigned to or destroyed.
class TAPROOT_API Sampler {
 public:
  Sampler();
  ~Sampler();
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;

  /// Prepares tables, O(n^2) and for colbourn O(n^3), reusing memory. Throws SentenceError if the
  /// outcome of f is not ok, and std::invalid_argument if the algorithm does not go with its root
  /// rule.
  void build(const Factorization& f, Algorithm algorithm, Workspace& workspace);

  /// Samples trees options.first_tree, ..., first_tree + count - 1 of the sentence with this id.
  /// options.algorithm must be the one that the sampler was built for. `statuses`, if not empty,
  /// has `count` entries and takes ok or step_limit; a tree that was given up is not written.
  /// Returns how many trees were written.
  std::size_t sample(std::uint64_t id, const SampleOptions& options, std::size_t count,
                     TreeBuffer out, std::span<Status> statuses, SampleStatistics* statistics,
                     Workspace& workspace) const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

/// k trees of one sentence, with id 0. Throws SentenceError if the outcome of f is not ok, or if a
/// tree met the step limit.
TAPROOT_API std::vector<Tree> sample(const Factorization& f, std::size_t k,
                                     const SampleOptions& options = {});

}  // namespace taproot
