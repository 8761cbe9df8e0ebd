// SPDX-License-Identifier: Apache-2.0
//
// Trees drawn without replacement: each from p restricted to the trees not drawn yet. And estimates
// from such a sample, in which no tree is wasted on a repeat.
//
// Every tree comes with a perturbed log-probability: its Gumbel, log p(t) + an independent
// Gumbel(0), of which the sample has the k largest, in order. The (k+1)-th, kappa, is the
// kappa: given that, tree t is in the sample with probability q(t) = 1 - exp(-exp(log p(t) -
// kappa)), independently (Vieira 2017; Kool et al. 2019).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "taproot/batch.h"
#include "taproot/factorization.h"
#include "taproot/types.h"

namespace taproot {

/// All have the same law.
enum class WithoutReplacementAlgorithm : std::uint8_t {
  /// Draws with replacement and skips what it has seen, while more than 1 / max(4, n/2) of the
  /// probability is left; then goes on with the trie. The trees of sample() with the same seed,
  /// without repeats, as far as that goes.
  kAuto,
  /// One tree after the other from a trie of those drawn, with the mass left at each node; exact to
  /// the last tree, however little is left.
  kTrie,
  /// Stochastic beam search (Kool et al. 2019): all k at once, word by word.
  kBeam,
  /// Subtracts the trees drawn from the masses (Zmigrod et al. 2021), O(k n^3 + k^2 n): the
  /// baseline
  /// of the literature. Ends with the status numerical_loss when less than 1e-8 is left.
  kList,
};

/// "auto", "trie", "beam", "list".
TAPROOT_API std::string_view to_string(WithoutReplacementAlgorithm algorithm);

/// The inverse; throws std::invalid_argument, naming those there are.
TAPROOT_API WithoutReplacementAlgorithm without_replacement_algorithm_named(std::string_view name);

/// Which trees are drawn: those of sentence b depend on (seed, b) alone; and for all but beam the
/// first k are the same whatever k is.
struct WithoutReplacementOptions {
  WithoutReplacementAlgorithm algorithm = WithoutReplacementAlgorithm::kAuto;
  std::uint64_t seed = 0;
  /// Bytes that a sentence's trie may take; beyond, it keeps less and computes more. (The trees
  /// themselves stay: some 50 n bytes each.) Does not change what is drawn.
  std::size_t memory_limit = std::size_t{1} << 30;
};

/// log p(t) = score - log Z, and log p(t) perturbed.
struct WithoutReplacementTree {
  double log_prob;
  double gumbel;
};

/// k trees of one sentence, largest Gumbel first.
struct WithoutReplacementSample {
  int n = 0;
  std::vector<std::int32_t> heads;  ///< [size()][n]
  std::vector<double> log_prob;
  std::vector<double> gumbel;
  std::vector<double> weight;   ///< Horvitz-Thompson, p/q: sum of weight * f(t) estimates E[f].
  double kappa = 0;             ///< kappa
  bool exhausted = false;       ///< These are all the trees that there are.
  Status status = Status::kOk;  ///< numerical_loss: fewer than asked for, by list.
  std::size_t memory = 0;       ///< Bytes taken by the trie or the beam.

  std::size_t size() const { return log_prob.size(); }
  TreeView operator[](std::size_t i) const {
    return TreeView(heads).subspan(i * static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  }
};

/// Draws trees of one sentence, each different from all before: one after the other, or k at once.
/// Reads the factorization it was built from, which must outlive it unchanged. Moved from, it
/// may only be assigned to or destroyed. Not for two threads at once.
class TAPROOT_API WithoutReplacementSampler {
 public:
  WithoutReplacementSampler();
  ~WithoutReplacementSampler();
  WithoutReplacementSampler(WithoutReplacementSampler&&) noexcept;
  WithoutReplacementSampler& operator=(WithoutReplacementSampler&&) noexcept;

  /// Reuses memory. Throws std::invalid_argument if the outcome of f is not ok.
  void build(const Factorization& f, const WithoutReplacementOptions& options,
             std::uint32_t sentence, Workspace& workspace);

  /// The next tree: its n heads and what goes with it. False if there is none: all trees were
  /// drawn, or status() says what went wrong. Throws for beam, which has no next.
  bool next(std::span<std::int32_t> heads, WithoutReplacementTree& tree, Workspace& workspace);

  /// kappa for the trees drawn so far, whether or not more are drawn later; -inf if that was all
  /// (list: or if less than 1e-8 is left). Throws for beam.
  double kappa(Workspace& workspace);

  /// The first k trees, whatever was drawn before; all of them if there are no more than k. For all
  /// algorithms. After it, next() goes on. `go_on`, if given, is asked now and then; if it says
  /// false, sampling stops there, `out` has no trees, and the answer is false; next() then goes on
  /// after the trees drawn by then. If it throws, the sampler has to be built again.
  bool sample(std::size_t k, WithoutReplacementSample& out, Workspace& workspace,
              const std::function<bool()>& go_on = {});

  /// How many were drawn by next(), or by sample() if not beam.
  std::size_t size() const;

  /// ok, or numerical_loss (list).
  Status status() const;

  /// Bytes taken by the trie.
  std::size_t memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// k trees (as sentence 0); all of them if there are no more than k. Throws if the outcome of f is
/// not ok.
TAPROOT_API WithoutReplacementSample sample_without_replacement(
    const Factorization& f, std::size_t k, const WithoutReplacementOptions& options = {});

/// k trees of every sentence on the pool's threads. Sentences are numbered from first_sentence on.
/// `outcomes` as in taproot/batch.h; with numerical_loss (list) out[b] has the trees that there
/// are.
TAPROOT_API void sample_without_replacement(Pool& pool, const Scores& scores, std::size_t k,
                                            const WithoutReplacementOptions& options,
                                            std::span<Outcome> outcomes,
                                            std::span<WithoutReplacementSample> out,
                                            std::uint32_t first_sentence = 0);

/// q(t) = 1 - exp(-exp(log p(t) - kappa)); 1 for kappa = -inf.
TAPROOT_API double inclusion_probability(double log_prob, double kappa);

/// p(t) / q(t), accurate also where both are tiny. Unbiased; at k = 1 of infinite variance.
TAPROOT_API double horvitz_thompson_weight(double log_prob, double kappa);

/// Weights divided by their sum: biased, of lower variance. In place if out is weights.
TAPROOT_API void normalize_weights(std::span<const double> weights, std::span<double> out);

/// Sum of weight * value, an unbiased estimate of E[value]; with `normalized`, divided by the sum
/// of the weights.
TAPROOT_API double estimate(std::span<const double> weights, std::span<const double> values,
                            bool normalized = false);

}  // namespace taproot
