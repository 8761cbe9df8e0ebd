// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <vector>

#include "core/random.h"
#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/path_scratch.h"

namespace taproot::detail {

/// Stochastic beam search (Kool et al. 2019): word by word, the `width` prefixes with the largest
/// Gumbels, where the Gumbels of a prefix's children are such that the largest of them is its own.
///
/// A prefix's children are made lazily, from the largest down: which has the next largest Gumbel
/// has the law of the heads not taken yet, and that Gumbel is one at the log of their mass,
/// truncated at the last. So a level takes about two draws a prefix instead of one for each head.
/// The top of a level is found by selection.
///
/// By rows of K; several coming words' rows are reduced in one pass over a prefix's ancestors. A
/// prefix whose rows are too inaccurate for the mass left in it, its rarest heads included, has the
/// contracted law. T is double or, without rows, Wide.
template <typename T>
class Beam {
 public:
  struct Result {
    double gumbel;
    std::int32_t state;
  };

  /// The trees with the `width` largest Gumbels, largest first. The root's Gumbel is free, not 0.
  void run(const Conditionals& conditionals, std::size_t width, const StreamKey& key,
           Scratch& scratch);

  std::size_t size() const { return results_.size(); }
  double gumbel(std::size_t i) const { return results_[i].gumbel; }
  /// The heads of the first `count` trees, by word, n apart.
  void heads(std::size_t count, std::int32_t* out) const;

  std::size_t bytes() const;

 private:
  static constexpr bool kHasRows = std::is_same_v<T, double>;
  // Prefixes between two looks at the interrupt.
  static constexpr std::size_t kStatesBetween = 64;

  // A prefix: the heads of the words before the one that its level decides.
  struct State {
    double log_p;
    double gumbel;
    double inverse_p;  // The pivot of its last word's row.
    double visits;     // As in RowPath.
    double amplification;
    std::int32_t sink;
    std::int32_t anchor;  // Its ancestor at the first level of the block.
    bool rows;            // Whether rows hold.
  };
  struct Candidate {
    double gumbel;
    double log_p;  // Of its head, given the prefix.
    std::int32_t state;
    std::int32_t head;
    std::int32_t previous;  // Taken by the same prefix; -1: none.
  };
  // The way back to the root, apart from the rest of a state: it is walked often, and at random.
  struct Link {
    std::int32_t parent;
    std::int32_t head;  // Of the state's last word.
  };
  struct Level {
    std::vector<State> states;
    std::vector<Link> links;
    Buffer<double> rows;  // [state][ld]
    std::size_t row_count = 0;
  };
  // What a prefix's next child would have.
  struct Children {
    double next;         // Its Gumbel; -inf if there is none.
    double error;        // Of the law, if it came from rows; else 0.
    std::int32_t count;  // Taken so far.
    std::int32_t last;   // Candidate; -1: none.
    bool uncertain;      // The Gumbel is a bound: so little is left that the rows' error shows.
  };

  void start_block(std::size_t level);
  double find_law(std::size_t level, std::int32_t state, PathScratch& path, T* p);
  void find_exact_law(std::size_t level, std::int32_t state, PathScratch& path, T* p);
  T make_exact(std::size_t level, std::int32_t state, PathScratch& path);
  Stream stream(std::size_t level, std::int32_t state, std::int32_t child, int block) const;
  void look_ahead(std::size_t level, std::int32_t state);
  void take_child(std::size_t level, std::int32_t state, PathScratch& path);
  void select(std::size_t level, std::size_t width, PathScratch& path);
  void put_in_order(std::size_t states);
  void make_level(std::size_t level);
  T* law(std::int32_t state) {
    return laws_.data() + static_cast<std::size_t>(state) * conditionals_->ld();
  }
  const double* leads(std::int32_t state) const {
    return leads_.data() + static_cast<std::size_t>(state) * conditionals_->ld();
  }

  const Conditionals* conditionals_ = nullptr;
  StreamKey key_{};
  Interrupt* interrupt_ = nullptr;
  std::vector<Level> levels_;  // [i] decides word i; 0 the root.
  std::size_t block_ = 0;      // The block's first level.
  Buffer<double> partial_;     // [anchor][word of the block][ld]
  Buffer<double> leads_;       // [state][ld], where the heads decided lead.
  Buffer<double> next_leads_;
  Buffer<T> laws_;  // [state][ld], without the heads taken.
  std::vector<Children> children_;
  std::vector<std::int32_t> active_;
  std::vector<double> largest_;  // Gumbels of children taken, and of next ones.
  std::vector<Candidate> candidates_;
  std::vector<Candidate> ordered_;
  std::vector<std::int32_t> places_;
  std::vector<Result> results_;
};

}  // namespace taproot::detail
