// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <vector>

#include "core/random.h"
#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/path_scratch.h"

namespace taproot::detail {

/// Stochastic beam search (Kool et al. 2019). It keeps, word by word, the `width` prefixes with the
/// largest perturbed log-probabilities (Gumbels). The largest Gumbel among the children of a prefix
/// is the Gumbel of the prefix.
///
/// The children of a prefix are made lazily, from the largest Gumbel down: the next head is sampled
/// from the law of the heads not taken yet, and its Gumbel is located at the log of their mass and
/// truncated at the one before. So a level takes about two random numbers per prefix, not one per
/// head.
///
/// Laws come from rows of K, and the rows of several coming words are updated in one pass over the
/// ancestors of a prefix. A prefix whose rows are too inaccurate for the mass left in it uses
/// contraction. T is double or Wide; over Wide there are no rows.
template <typename T>
class Beam {
 public:
  struct Result {
    double gumbel;
    std::int32_t state;
  };

  /// Finds the trees with the `width` largest Gumbels, largest first. The Gumbel of the empty
  /// prefix is sampled, not fixed at 0.
  void run(const Conditionals& conditionals, std::size_t width, const StreamKey& key,
           Scratch& scratch);

  std::size_t size() const { return results_.size(); }
  double gumbel(std::size_t i) const { return results_[i].gumbel; }
  /// Writes the heads of the first `count` trees, by word; trees are n apart.
  void heads(std::size_t count, std::int32_t* out) const;

  std::size_t bytes() const;

 private:
  static constexpr bool kHasRows = std::is_same_v<T, double>;
  // Prefixes between two looks at the interrupt.
  static constexpr std::int32_t kStatesBetween = 64;

  // A prefix: the heads of all words before the one that its level decides.
  struct State {
    double log_p;
    double gumbel;
    double inverse_p;      // Of its last word; see Decided in rows.h.
    double visits;         // For row_error().
    double amplification;  // For row_error().
    std::int32_t sink;
    std::int32_t anchor;  // Its ancestor at the first level of the block of words.
    bool rows;            // Whether rows are accurate enough for it.
  };
  struct Candidate {
    double gumbel;
    double log_p;  // Of its head, given the prefix.
    std::int32_t state;
    std::int32_t head;
    std::int32_t previous;  // The candidate that the same prefix took before, or -1.
  };
  // The step back to a state's parent. It is kept apart from the rest of the state, because these
  // steps are followed often and in random order.
  struct Link {
    std::int32_t parent;
    std::int32_t head;  // Of the state's last word.
  };
  struct Level {
    IndexedVector<State> states;
    IndexedVector<Link> links;
    Buffer<double> rows;  // [state][ld]
    std::size_t row_count = 0;
  };
  // The children of a prefix that are candidates so far, and the one that would come next.
  struct Children {
    double next;         // The Gumbel of the next child, or -inf if there is none.
    double error;        // The error of the law if it came from rows, and 0 if not.
    std::int32_t count;  // The number of children taken so far.
    std::int32_t last;   // The last candidate taken, or -1.
    bool uncertain;      // Whether `next` is only an upper bound, because the error of rows counts.
  };

  void start_block(int level);
  Decided* decided_since(int first, int level, std::int32_t state, Decided* end) const;
  double find_law(int level, std::int32_t state, PathScratch& path, T* p);
  void find_exact_law(int level, std::int32_t state, PathScratch& path, T* p);
  T make_exact(int level, std::int32_t state, PathScratch& path);
  Stream stream(int level, std::int32_t state, std::int32_t child, int block) const;
  void look_ahead(int level, std::int32_t state);
  void take_child(int level, std::int32_t state, PathScratch& path);
  void select(int level, std::size_t width, PathScratch& path);
  void put_in_order(std::size_t states);
  void make_level(int level);
  // The number of words in the current block.
  std::size_t block_words() const;
  T* law(std::int32_t state) { return MatrixView(laws_.data(), conditionals_->ld()).row(state); }
  const double* leads(std::int32_t state) const {
    return MatrixView(leads_.data(), conditionals_->ld()).row(state);
  }

  const Conditionals* conditionals_ = nullptr;
  StreamKey key_{};
  Interrupt* interrupt_ = nullptr;
  IndexedVector<Level> levels_;  // levels_[i] decides word i, and levels_[0] the root.
  int block_ = 0;                // The first level of the current block of words.
  Buffer<double> partial_;       // [anchor][word of the block][ld]: rows updated up to the block.
  Buffer<double> leads_;         // [state][ld]: where the decided heads lead, as in rows.h.
  Buffer<double> next_leads_;    // The same for the next level.
  Buffer<T> laws_;               // [state][ld]: the law of the next head, 0 for heads taken.
  IndexedVector<Children> children_;
  std::vector<std::int32_t> active_;  // The states whose next child may still be selected.
  std::vector<double> largest_;       // The largest Gumbels known, of children taken and next ones.
  IndexedVector<Candidate> candidates_;
  IndexedVector<Candidate> ordered_;
  IndexedVector<std::int32_t> places_;
  std::vector<Result> results_;
};

}  // namespace taproot::detail
