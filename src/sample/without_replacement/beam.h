// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/buffer.h"
#include "core/random.h"
#include "core/scratch.h"
#include "sample/without_replacement/beam_candidate.h"

namespace taproot::detail {

/// Stochastic beam search (Kool et al. 2019). It keeps, choice by choice, the `width` prefixes with
/// the largest perturbed log-probabilities (Gumbels). The largest Gumbel among the children of a
/// prefix is the Gumbel of the prefix.
///
/// The children of a prefix are made lazily, from the largest Gumbel down: the next choice is
/// sampled from the law of the choices not taken yet, and its Gumbel is located at the log of their
/// mass and truncated at the one before. So a level takes about two random numbers per prefix, not
/// one per choice.
///
/// Laws knows the prefixes of every level and the law of their next choice: head_beam_laws.h for
/// all trees, chart_beam_laws.h for projective ones. Its Scalar is double or Wide.
template <typename Laws>
class Beam {
 public:
  using T = typename Laws::Scalar;

  struct Result {
    double gumbel;
    std::int32_t state;
  };

  /// Finds the trees with the `width` largest Gumbels, largest first. The Gumbel of the empty
  /// prefix is sampled, not fixed at 0.
  void run(const typename Laws::Tables& tables, std::size_t width, const StreamKey& key,
           Scratch& scratch);

  std::size_t size() const { return results_.size(); }
  double gumbel(std::size_t i) const { return results_[i].gumbel; }
  /// Writes the heads of the first `count` trees, by word; trees are n apart.
  void heads(std::size_t count, std::int32_t* out) const;

  std::size_t bytes() const;

 private:
  // Prefixes between two looks at the interrupt.
  static constexpr std::int32_t kStatesBetween = 64;

  struct State {
    double log_p;
    double gumbel;
  };
  // The children of a prefix that are candidates so far, and the one that would come next.
  struct Children {
    double next;         // The Gumbel of the next child, or -inf if there is none.
    double error;        // The error of the law, or 0 if it is exact.
    std::int32_t count;  // The number of children taken so far.
    std::int32_t last;   // The last candidate taken, or -1.
    bool uncertain;      // Whether `next` is only an upper bound, because the error counts.
  };

  T make_exact(std::int32_t state);
  Stream stream(std::int32_t state, std::int32_t child, int block) const;
  void look_ahead(std::int32_t state);
  void take_child(std::int32_t state);
  void select(std::size_t width);
  void put_in_order(std::size_t states);
  void make_level();
  T* law(std::int32_t state) {
    return MatrixView(laws_of_states_.data(), laws_.width()).row(state);
  }

  StreamKey key_{};
  Interrupt* interrupt_ = nullptr;
  Laws laws_;
  int level_ = 0;
  std::size_t most_states_ = 0;
  IndexedVector<State> states_;  // Of the current level.
  IndexedVector<State> next_states_;
  Buffer<T> laws_of_states_;  // [state][width]: the law of the next choice, 0 for choices taken.
  IndexedVector<Children> children_;
  std::vector<std::int32_t> active_;  // The states whose next child may still be selected.
  std::vector<double> largest_;       // The largest Gumbels known, of children taken and next ones.
  IndexedVector<BeamCandidate> candidates_;
  IndexedVector<BeamCandidate> ordered_;
  IndexedVector<std::int32_t> places_;
  std::vector<Result> results_;
};

}  // namespace taproot::detail
