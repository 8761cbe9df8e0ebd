// SPDX-License-Identifier: Apache-2.0
//
// Trees sampled without replacement: each from p restricted to the trees that have not been sampled
// yet. taproot/estimate.h estimates expectations from such a sample, in which no tree is wasted on
// a repeat.
//
// Every tree comes with a perturbed log probability, its Gumbel: log p(t) plus an independent
// Gumbel(0). The sample has the k largest of them, in order, and kappa is the (k+1)-th. Given
// kappa, tree t is in the sample with probability q(t) = 1 - exp(-exp(log p(t) - kappa)),
// independently of the others (Vieira 2017; Kool et al. 2019).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "taproot/factorization.h"
#include "taproot/types.h"

namespace taproot {

/// All have the same law.
enum class WithoutReplacementAlgorithm : std::uint8_t {
  /// Samples with replacement and skips repeats, while at least 1 / max(4, n/2) of the probability
  /// is left and no 64 max(4, n/2) repeats follow one another; then goes on with the trie. As far
  /// as repeats are skipped, these are the trees that sample() gives for the same seed.
  kAuto,
  /// One tree after the other from a trie of the trees so far, with the mass that is left at each
  /// node; exact to the last tree, however little is left.
  kTrie,
  /// Stochastic beam search (Kool et al. 2019): all k at once, word by word.
  kBeam,
  /// Subtracts the trees so far from the masses (Zmigrod et al. 2021), O(k n^3 + k^2 n): the
  /// baseline of the literature. Ends with the status numerical_loss when less than 1e-8 is left.
  kList,
};

/// "auto", "trie", "beam", "list".
TAPROOT_API std::string_view to_string(WithoutReplacementAlgorithm algorithm);

/// The inverse; throws std::invalid_argument, naming the algorithms that there are.
TAPROOT_API WithoutReplacementAlgorithm without_replacement_algorithm_named(std::string_view name);

/// Which trees are sampled: those of a sentence depend on (seed, sentence id) alone, and for all
/// algorithms but beam the first k are the same whatever k is.
struct WithoutReplacementOptions {
  WithoutReplacementAlgorithm algorithm = WithoutReplacementAlgorithm::kAuto;
  std::uint64_t seed = 0;
  /// Bytes that a sentence's trie may take; beyond that it keeps less and computes more. (The trees
  /// themselves stay: some 50 n bytes each.) The limit does not change which trees come.
  std::size_t memory_limit = std::size_t{1} << 30;
};

/// log p(t) = score - log Z, and the same perturbed.
struct WithoutReplacementTree {
  double log_prob;
  double gumbel;
};

/// k trees of one sentence, largest Gumbel first.
struct WithoutReplacementSample {
  int n = 0;
  std::vector<std::int32_t> heads;   ///< [size()][n]
  std::vector<std::int32_t> labels;  ///< Likewise, from a DependencyTrees with labels; else empty.
  std::vector<double> log_prob;
  std::vector<double> gumbel;
  std::vector<double> weight;   ///< Horvitz-Thompson, p/q; see taproot/estimate.h.
  double kappa = 0;             ///< -inf if these are all the trees that there are.
  bool exhausted = false;       ///< Whether these are all the trees that there are.
  Status status = Status::kOk;  ///< numerical_loss: fewer trees than asked for, by list.
  std::size_t memory = 0;       ///< Bytes that the trie or the beam took.

  std::size_t size() const { return log_prob.size(); }
  TreeView operator[](std::size_t i) const {
    return TreeView(heads).subspan(i * static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  }
};

/// Samples trees of one sentence, each different from all before: one after the other, or k at
/// once. Reads the factorization it was built from, which must outlive it unchanged. Not for two
/// threads at once. Moved from, it may only be assigned to or destroyed.
class TAPROOT_API WithoutReplacementSampler {
 public:
  WithoutReplacementSampler();
  ~WithoutReplacementSampler();
  WithoutReplacementSampler(WithoutReplacementSampler&&) noexcept;
  WithoutReplacementSampler& operator=(WithoutReplacementSampler&&) noexcept;

  /// Reuses memory. Throws SentenceError if the outcome of f is not ok.
  void build(const Factorization& f, const WithoutReplacementOptions& options, std::uint64_t id,
             Workspace& workspace);

  /// The next tree: its n heads and what goes with it. False if there is none, because all trees
  /// were sampled or because of what status() says. Throws for beam, which has no next tree.
  bool next(std::span<std::int32_t> heads, WithoutReplacementTree& tree, Workspace& workspace);

  /// kappa for the trees that next() has given so far. It stays valid for these trees when next()
  /// gives more. It is -inf if no tree is left, and for `list` also if the probability of
  /// the trees that are left is below 1e-8. Throws for beam.
  double kappa(Workspace& workspace);

  /// The first k trees, whatever was sampled before; all of them if there are no more than k. For
  /// all algorithms. After it, next() goes on. If an interrupted pool ends the work by an
  /// exception, the sampler has to be built again.
  void sample(std::size_t k, WithoutReplacementSample& out, Workspace& workspace);

  /// How many trees came from next(), or from sample() unless the algorithm is beam.
  std::size_t size() const;

  /// ok, or numerical_loss (list).
  Status status() const;

  /// Bytes that the trie takes.
  std::size_t memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// k trees of a sentence with id 0; all of them if there are no more than k. Throws SentenceError
/// if the outcome of f is not ok.
TAPROOT_API WithoutReplacementSample sample_without_replacement(
    const Factorization& f, std::size_t k, const WithoutReplacementOptions& options = {});

}  // namespace taproot
