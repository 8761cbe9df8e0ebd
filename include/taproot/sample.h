// SPDX-License-Identifier: Apache-2.0
//
// Trees drawn from p(t) = exp(score(t)) / Z, independently, with replacement.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "taproot/batch.h"
#include "taproot/factorization.h"
#include "taproot/types.h"

namespace taproot {

/// The samplers. All but wilson-rc draw from p exactly.
enum class Algorithm : std::uint8_t {
  /// Wilson's walk with a budget of 16 n steps, single-root from a root drawn first; a tree whose
  /// walk
  /// exceeds it is drawn by elimination instead, given the same root. The number of steps is
  /// independent of the tree that a walk ends in, so giving up does not bias.
  kAuto,
  /// Un-elimination: words come back one by one. At most n steps of at most n operations a tree,
  /// whatever the weights.
  kElimination,
  kWilson,          ///< Wilson's random walk (1996); multi-root only.
  kWilsonMarginal,  ///< A root from its marginals, then the walk; single-root only (Stanojevic
                    ///< 2022).
  kWilsonReject,    ///< Walks until a tree has one root; single-root only (Stanojevic 2022).
  kColbourn,        ///< Head by head from conditional marginals (Colbourn et al. 1996).
  /// BIASED: the root drawn by its edge's weight alone, then the walk (Zmigrod et al. 2021). Not a
  /// sampler of p; here to reproduce the proof that it is none. Never chosen by auto; single-root
  /// only.
  kWilsonRc,
};

/// "auto", "elimination", "wilson", "wilson-marginal", "wilson-reject", "colbourn", "wilson-rc".
TAPROOT_API std::string_view to_string(Algorithm algorithm);

/// The inverse; throws std::invalid_argument, naming those there are.
TAPROOT_API Algorithm algorithm_named(std::string_view name);

/// Which trees are drawn: tree s of sentence b depends on (seed, b, s) alone, whatever else is
/// drawn, in whatever order, on however many threads.
struct SampleOptions {
  Algorithm algorithm = Algorithm::kAuto;
  std::uint64_t seed = 0;
  /// Walks by name (wilson, wilson-marginal, wilson-reject, wilson-rc) give up a tree after so many
  /// steps, with the status step_limit; 0: never.
  std::uint64_t step_limit = 0;
};

/// What drawing took, added up over trees.
struct SampleStatistics {
  std::uint64_t trees = 0;  ///< drawn or given up
  std::uint64_t steps = 0;  ///< heads drawn by walks
  std::uint64_t tries = 0;  ///< walks begun
  std::uint64_t fallbacks =
      0;  ///< auto: trees by elimination; colbourn: trees in the contracted form

  SampleStatistics& operator+=(const SampleStatistics& other);
};

/// Where trees go: tree s of a call at data + s * stride, n heads each (see Tree).
struct TreeBuffer {
  std::int32_t* data;
  std::ptrdiff_t stride;
};

/// Draws trees of one sentence. Reads the factorization it was built from, which must outlive it
/// unchanged. Moved from, it may only be assigned to or destroyed. Drawing is const: several
/// threads may do so at once, each with a workspace of its own.
class TAPROOT_API Sampler {
 public:
  Sampler();
  ~Sampler();
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;

  /// Prepares tables, O(n^2) and for colbourn O(n^3), reusing memory. Throws std::invalid_argument
  /// if the outcome of f is not ok or the algorithm does not go with its root rule.
  void build(const Factorization& f, const SampleOptions& options, Workspace& workspace);

  /// The same from scores, with a factorization of its own; if the outcome is not ok, there is
  /// nothing to draw from.
  Outcome build(const ScoreView& scores, RootRule root, const SampleOptions& options,
                Workspace& workspace);

  /// Draws trees first, ..., first + count - 1 of sentence `sentence`. `statuses`, if not empty,
  /// has `count` entries and takes ok or step_limit; a tree given up is not written. Returns how
  /// many were.
  std::size_t sample(std::uint32_t sentence, std::uint32_t first, std::size_t count, TreeBuffer out,
                     Workspace& workspace, std::span<Status> statuses = {},
                     SampleStatistics* statistics = nullptr) const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

/// k trees of one sentence (as sentence 0). Throws if the outcome of f is not ok, or a tree met the
/// step limit.
TAPROOT_API std::vector<Tree> sample(const Factorization& f, std::size_t k,
                                     const SampleOptions& options = {});

/// k trees of every sentence, out[b] for sentence b, on the pool's threads: over sentences, or over
/// trees where sentences are few. Sentences are numbered from first_sentence on, so that a batch
/// may be split. `outcomes` as in taproot/batch.h, with step_limit where some tree of the sentence
/// met it (those are then filled with -1). Statistics, if not null, are added up.
TAPROOT_API void sample(Pool& pool, const Scores& scores, std::size_t k,
                        const SampleOptions& options, std::span<Outcome> outcomes,
                        std::span<const TreeBuffer> out, std::uint32_t first_sentence = 0,
                        SampleStatistics* statistics = nullptr);

}  // namespace taproot
