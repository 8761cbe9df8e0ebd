// SPDX-License-Identifier: Apache-2.0
//
// Distributions over the trees of whole batches: factored once, asked many times, on threads or on
// a GPU. taproot/query.h, sample.h, without_replacement.h and decode.h say what each answer is;
// this header has the same questions for many sentences at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "taproot/constraints.h"
#include "taproot/decode.h"
#include "taproot/factorization.h"
#include "taproot/labels.h"
#include "taproot/sample.h"
#include "taproot/scores.h"
#include "taproot/types.h"
#include "taproot/without_replacement.h"

namespace taproot {

class Cuda;

/// Threads that share out the sentences of a batch, and with few sentences the trees of each. Each
/// thread keeps its scratch memory from call to call. Several callers may use a pool at once: a
/// caller that finds it busy works on its own thread. A child of fork() starts threads of its own.
/// Moved from, a pool may only be assigned to or destroyed.
class TAPROOT_API Pool {
 public:
  /// 0 means one thread per core. `interrupt`, if given, is called by the thread that asked the
  /// question, a few times per second while it is at work; what it throws ends the work on all
  /// threads and is rethrown to the caller. With a std::stop_token:
  ///     Pool pool(0, [token] { if (token.stop_requested()) throw Canceled(); });
  /// Throws std::invalid_argument when `threads` is negative.
  explicit Pool(int threads = 0, std::function<void()> interrupt = {});
  ~Pool();
  Pool(Pool&&) noexcept;
  Pool& operator=(Pool&&) noexcept;

  int threads() const;
  /// As in the constructor; counts from the next question on.
  void set_threads(int threads);

  /// Calls visit(index) for every index < count, in any order, from any thread. What visit throws
  /// ends the loop and is rethrown.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& visit);

  struct Impl;

 private:
  friend struct detail::Access;
  std::unique_ptr<Impl> impl_;
};

/// What a batch is made of besides its scores. `labels`, `constraints` and `ids` have one entry
/// per sentence, or none at all.
struct BatchOptions {
  RootRule root = RootRule::kSingle;
  /// Whether the distributions are over projective trees only. Every question is then about these.
  bool projective = false;
  /// Sampled and decoded trees then have labels, and everything else is about trees with their
  /// labels summed out. All sentences must have the same number of labels.
  std::vector<LabelView> labels = {};
  std::vector<Constraints> constraints = {};
  /// Samples are keyed by these, so that a corpus gives the same trees however it is split into
  /// batches. Without them a sentence's id is its position in the batch.
  std::vector<std::uint64_t> ids = {};
  /// Whether what one question finds is kept for the next: factors, marginals, and the tables of
  /// samplers that are asked twice. Without it only log Z is kept and memory stays small, which is
  /// right for a batch that is asked a single question. log_partition() and marginals() of a large
  /// batch, or of one with many short sentences, keep only log Z in any case, because writing
  /// factors to memory would take longer than making them again.
  bool keep = true;
};

/// Where the trees of one sentence go. Tree s has its n heads at heads + s * stride, its labels at
/// labels + s * stride, and its numbers at log_prob[s * value_stride] and score[s * value_stride].
/// Everything but the heads may be null.
struct TreeOutput {
  std::int32_t* heads = nullptr;
  std::ptrdiff_t stride = 0;
  std::int32_t* labels = nullptr;
  /// log p of the tree, and of the labeled tree where it is labeled: by decoders if there are label
  /// scores, by samplers if `labels` is not null.
  double* log_prob = nullptr;
  /// Written by decoders only: the sum of the tree's scores, label scores included.
  double* score = nullptr;
  std::ptrdiff_t value_stride = 1;
};

/// The distribution over trees of each sentence of a batch.
///
/// The pool or Cuda, the scores and the label scores are borrowed: they must outlive this object,
/// unchanged.
/// Sentences are factored at the first question that needs it, once, and later questions use what
/// was found (see BatchOptions::keep).
///
/// Every question writes to memory that the caller owns, one entry of `out` per sentence (throws
/// std::invalid_argument if not), and returns the outcome of each sentence. A sentence without an
/// answer gives NaN where numbers are asked for, and heads and labels of -1. Answers do not depend
/// on the number of threads. Several threads may ask one object at once.
///
/// On a Cuda, the scores are sent to the device with the first question, and factors, log Z and
/// marginals stay there. kbest, expected_attachment, expected_tries, expected_steps,
/// label_marginals, projective_mass and factorization, sample by other algorithms than auto,
/// sample_without_replacement by others than auto and beam (of projective trees: auto), and
/// divergences between projective trees and all trees throw std::invalid_argument. Sentences beyond
/// the range of double are sampled by the CPU, sentences that are too long for the device are
/// answered by the CPU, and both are counted (CudaStatistics).
///
/// Moved from, it may only be assigned to or destroyed.
class TAPROOT_API DependencyTrees {
 public:
  /// Throws std::invalid_argument where an option does not have one entry per sentence, a length
  /// differs, or constraints do not fit() their sentence.
  DependencyTrees(Pool& pool, std::vector<ScoreView> scores, BatchOptions options = {});
  DependencyTrees(Cuda& cuda, std::vector<ScoreView> scores, BatchOptions options = {});
  ~DependencyTrees();
  DependencyTrees(DependencyTrees&&) noexcept;
  DependencyTrees& operator=(DependencyTrees&&) noexcept;

  std::size_t size() const;
  RootRule root_rule() const;
  TreeFamily family() const;
  int n(std::size_t sentence) const;
  std::uint64_t id(std::size_t sentence) const;
  /// How many labels there are; 0 without label scores.
  int label_count() const;

  /// What became of each sentence. Factors them unless another question has found that already.
  std::vector<Outcome> outcomes();

  /// For experts: one sentence's factorization. Throws std::invalid_argument on a Cuda, without
  /// BatchOptions::keep, and if there is no such sentence.
  const Factorization& factorization(std::size_t sentence);
  /// The scores that decoders see: with labels the best of each edge, constraints applied.
  const ScoreView& decode_scores(std::size_t sentence) const;
  /// The label scores; throws std::invalid_argument without any.
  const LabelView& labels(std::size_t sentence) const;

  // Numbers: out[b] is the answer for sentence b.

  std::vector<Outcome> log_partition(std::span<double> out);
  std::vector<Outcome> entropy(std::span<double> out);
  std::vector<Outcome> expected_tries(std::span<double> out);
  /// Throws std::invalid_argument for projective trees, which Wilson's walk does not sample.
  std::vector<Outcome> expected_steps(std::span<double> out);
  std::vector<Outcome> projective_mass(std::span<double> out);
  std::vector<Outcome> expectation(std::span<const ConstEdgeMatrix> values, std::span<double> out);
  /// Between sentence b here and sentence b of `q`. The outcome is that of the sentence here or, if
  /// it is ok, that of q's sentence. Throws if the batches differ in size, root rule or a
  /// sentence's length, or if they are not both on pools or both on one Cuda; the families may
  /// differ.
  std::vector<Outcome> cross_entropy(DependencyTrees& q, std::span<double> out);
  std::vector<Outcome> kl_divergence(DependencyTrees& q, std::span<double> out);

  // Matrices and vectors: out[b] is where sentence b's answer goes.

  std::vector<Outcome> marginals(std::span<const EdgeMatrix> out);
  /// A direction that is not finite where it matters gives NaN for its sentence.
  std::vector<Outcome> hessian_product(std::span<const ConstEdgeMatrix> direction,
                                       std::span<const EdgeMatrix> out);
  /// n numbers per sentence.
  std::vector<Outcome> root_marginals(std::span<double* const> out);
  /// p(h -> m with label l) at out[b].data[h * head_stride + m * labels + l].
  std::vector<Outcome> label_marginals(std::span<const EdgeMatrix> out);

  // Trees.

  /// log p of k trees per sentence, heads[b] (and labels[b], or no labels) to out[b][s *
  /// out_stride]. A tree whose first head is -1 is not there, and gives NaN: rows like that fill
  /// up samples without replacement and the k best. Throws std::invalid_argument where another
  /// head or a label does not exist.
  std::vector<Outcome> log_prob(std::size_t k, std::span<const TreeBuffer> heads,
                                std::span<const TreeBuffer> labels, std::span<double* const> out,
                                std::ptrdiff_t out_stride = 1);

  /// k trees per sentence. step_limit where some tree of the sentence met it: those trees are -1.
  /// Statistics, if not null, are added up; on a Cuda they stay as they were.
  std::vector<Outcome> sample(std::size_t k, const SampleOptions& options,
                              std::span<const TreeOutput> out,
                              SampleStatistics* statistics = nullptr);
  /// k different trees per sentence, or all. numerical_loss (list): out[b] has what there is.
  std::vector<Outcome> sample_without_replacement(std::size_t k,
                                                  const WithoutReplacementOptions& options,
                                                  std::span<WithoutReplacementSample> out);

  /// The best tree of each sentence.
  std::vector<Outcome> argmax(std::span<const TreeOutput> out);
  /// The tree with the largest expected number of right heads.
  std::vector<Outcome> mbr(std::span<const TreeOutput> out);
  /// The expected share of words that have the head that heads[b] gives them; see decode.h.
  std::vector<Outcome> expected_attachment(std::span<const TreeBuffer> heads,
                                           std::span<double> out);
  /// The k best trees of each sentence, or all; with their log_prob if `log_prob`.
  std::vector<Outcome> kbest(std::size_t k, bool log_prob, std::span<BestTrees> out);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taproot
