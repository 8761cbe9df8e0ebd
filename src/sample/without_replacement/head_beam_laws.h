// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/path_scratch.h"
#include "sample/without_replacement/beam_candidate.h"

namespace taproot::detail {

/// The prefixes of a beam over all trees: level i decides the head of word i in the order of
/// Conditionals, and level 0 the root.
///
/// Laws come from rows of K, and the rows of several coming words are updated in one pass over the
/// ancestors of a prefix. A prefix whose rows are too inaccurate for the mass left in it uses
/// contraction. T is double or Wide; over Wide there are no rows.
template <typename T>
class HeadBeamLaws {
 public:
  using Scalar = T;
  using Tables = Conditionals;

  /// Begins with the empty prefix, and returns the first level.
  int start(const Conditionals& conditionals, Scratch& scratch);
  /// The number of a level that does not exist.
  int level_beyond() const { return conditionals_->n() + 1; }
  /// Prepares the laws of a level's prefixes. False if there is no such level: the prefixes are
  /// trees.
  bool begin_level(int level, std::size_t states);
  std::size_t width() const { return conditionals_->ld(); }

  /// Fills p with the law of a prefix's next choice, and returns its error: 0 if it is exact.
  double find_law(int level, std::int32_t state, T* p);
  void find_exact_law(int level, std::int32_t state, T* p);
  /// Makes the prefixes of the next level.
  void make_level(int level, std::span<const BeamCandidate> candidates);

  /// Writes the trees of prefixes of the last level: the head of word m in tree i goes to
  /// out[i * n + m - 1]. Overwrites `states`.
  void write_heads(std::span<std::int32_t> states, std::int32_t* out) const;
  std::size_t bytes() const;

 private:
  static constexpr bool kHasRows = std::is_same_v<T, double>;

  // A prefix: the heads of all words before the one that its level decides.
  struct State {
    double inverse_p;      // Of its last word; see Decided in rows.h.
    double visits;         // For row_error().
    double amplification;  // For row_error().
    std::int32_t sink;
    std::int32_t anchor;  // Its ancestor at the first level of the block of words.
    bool rows;            // Whether rows are accurate enough for it.
  };
  struct Level {
    IndexedVector<State> states;
    // Kept apart from the states, because links are followed often and in random order.
    IndexedVector<BeamLink> links;
    Buffer<double> rows;  // [state][ld]
    std::size_t row_count = 0;
  };

  void start_block(int level);
  Decided* decided_since(int first, int level, std::int32_t state, Decided* end) const;
  // The number of words in the current block.
  std::size_t block_words() const;
  const double* leads(std::int32_t state) const {
    return MatrixView(leads_.data(), conditionals_->ld()).row(state);
  }

  const Conditionals* conditionals_ = nullptr;
  PathScratch* path_ = nullptr;
  Interrupt* interrupt_ = nullptr;
  IndexedVector<Level> levels_;  // levels_[i] decides word i, and levels_[0] the root.
  int block_ = 0;                // The first level of the current block of words.
  Buffer<double> partial_;       // [anchor][word of the block][ld]: rows updated up to the block.
  Buffer<double> leads_;         // [state][ld]: where the decided heads lead, as in rows.h.
  Buffer<double> next_leads_;    // The same for the next level.
};

}  // namespace taproot::detail
