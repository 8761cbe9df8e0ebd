// SPDX-License-Identifier: Apache-2.0
//
// What the bindings do, without a word of Python in it but for Ctrl-C.
//
// Outputs are arrays over the padded batch, row-major: [B], [B][N] or [B][N+1][N+1]; of trees
// [k][B][N]. Every entry is written: NaN for a sentence without an answer, 0 for padding; heads and
// labels are -1 for both. To be called without the GIL.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "store.h"
#include "taproot/taproot.h"

namespace taproot::python {

/// The sentences behind a DependencyTrees: their scores, and from the first question on their
/// factorizations, which every further question reads.
class Distribution {
 public:
  /// `labels` and `constraints` are one a sentence, or none. The views' memory must outlive it.
  Distribution(std::vector<ScoreView> scores, std::vector<LabelView> labels,
               std::span<const Constraints> constraints, RootRule root, int padded_n);

  ~Distribution() { give_back(std::move(factorizations_)); }
  Distribution(const Distribution&) = delete;
  Distribution& operator=(const Distribution&) = delete;

  std::size_t size() const { return scores_.size(); }
  RootRule root() const { return root_; }
  int n(std::size_t b) const { return scores_[b].n(); }
  int padded_n() const { return padded_n_; }
  int longest() const { return longest_; }

  bool labeled() const { return !labels_.empty(); }
  const LabelView& labels(std::size_t b) const { return labels_[b]; }

  /// For decoding: labels count with the best of them.
  const ScoreView& decode_scores(std::size_t b) const {
    return decode_scores_.empty() ? scores_[b] : decode_scores_[b];
  }

  /// Factors every sentence, once: before any of the following.
  void factor(Interrupt& interrupt);
  const Factorization& operator[](std::size_t b) const { return factorizations_[b].factorization; }
  const Outcome& outcome(std::size_t b) const { return (*this)[b].outcome(); }

 private:
  RootRule root_;
  int padded_n_;
  int longest_ = 0;
  std::vector<ScoreView> scores_;         // For inference: labels summed out.
  std::vector<ScoreView> decode_scores_;  // Empty where those are the same.
  std::vector<LabelView> labels_;
  std::vector<std::vector<double>> memory_;  // Of views that are not the caller's.
  std::vector<Kept> factorizations_;         // None before factor().
  std::atomic<bool> factored_ = false;
  std::atomic<std::thread::id> factoring_ = std::thread::id();
  std::mutex mutex_;
};

using Scalar = double (*)(const Factorization&, Workspace&);
void scalar(Distribution& d, Scalar query, double* out);

/// The two must be of one shape and root rule. `out` is NaN where either has no answer.
using PairScalar = double (*)(const Factorization&, const Factorization&, Workspace&);
void pair_scalar(Distribution& p, Distribution& q, PairScalar query, double* out);

/// An array [B][N+1][N+1] of edge values -> the same, or [B].
void marginals(Distribution& d, double* out);
/// A direction that is not finite where it matters gives NaN for its sentence if `or_nan`, and else
/// throws.
void hessian_product(Distribution& d, const double* direction, bool or_nan, double* out);
void expectation(Distribution& d, const double* values, double* out);

void root_marginals(Distribution& d, double* out);
/// [B][N+1][N+1][labels].
void label_marginals(Distribution& d, double* out);

/// Heads [k][B][N], `labels` likewise or null; out [k][B]. Throws std::invalid_argument where a
/// head or a label does not exist.
void log_prob(Distribution& d, std::size_t k, const std::int32_t* heads, const std::int32_t* labels,
              double* out);

/// Trees and, if not null, their labels. One outcome a sentence comes back.
struct Trees {
  std::int32_t* heads;
  std::int32_t* labels;
};
/// The numbers of the first tree and the first sentence.
struct First {
  std::uint32_t tree;
  std::uint32_t sentence;
};
std::vector<Outcome> sample(Distribution& d, std::size_t k, const SampleOptions& options,
                            First first, Trees out);
std::vector<Outcome> mbr(Distribution& d, Trees out);
std::vector<Outcome> argmax(Distribution& d, Trees out);

/// Trees of every sentence, as many as there are or are asked for: best or sampled, in order. The
/// arrays are [k][B][N] and [k][B], k the largest number any sentence has.
struct TreeTable {
  std::vector<Outcome> outcomes;
  std::vector<std::int32_t> counts;
  std::size_t k = 0;
  std::vector<std::int32_t> heads;
  std::vector<std::int32_t> labels;  ///< Empty if not labeled.
  std::vector<double> score;         ///< kbest: the tree's score; a sample: its log_prob.
  std::vector<double> gumbel;        ///< Samples only, as what follows.
  std::vector<double> weight;
  std::vector<double> kappa;            ///< [B]
  std::vector<std::uint8_t> exhausted;  ///< [B]
};
TreeTable kbest(Distribution& d, std::size_t k);
TreeTable sample_without_replacement(Distribution& d, std::size_t k,
                                     const WithoutReplacementOptions& options,
                                     std::uint32_t first_sentence);

}  // namespace taproot::python
