// SPDX-License-Identifier: Apache-2.0
//
// The best trees: those with the largest score, or with the largest expected number of right heads.
//
// All decoders are exact: no constant is added to scores, and no difference of scores is compared
// after it was rounded. Masks of -1e9 and -inf do not blur the scores beside them. Scores are
// bounded by kMaxScore as in every query: NaN, +inf and finite scores beyond it are bad_score.
// Trees of equal score come in a fixed order, the same on every machine: by the sum over their
// edges of a fixed pseudo-random number for each (head, modifier).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "taproot/factorization.h"
#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot {

/// The tree of the family with the largest score under the root rule, into heads [n]. If the
/// outcome is not ok, nothing is written. `score`, if not null, takes the sum of its scores,
/// rounded once. O(n^2), and O(n^3) for projective trees; more where many scores tie. Throws
/// std::invalid_argument unless heads has n entries.
TAPROOT_API Outcome argmax(const ScoreView& scores, RootRule root, TreeFamily family,
                           std::span<std::int32_t> heads, double* score, Workspace& workspace);

/// The same among all trees.
TAPROOT_API Outcome argmax(const ScoreView& scores, RootRule root, std::span<std::int32_t> heads,
                           double* score, Workspace& workspace);

/// A tree, and the sum of its scores rounded once.
struct ScoredTree {
  Tree heads;
  double score = 0;
};

/// The same by itself. Throws SentenceError if the outcome is not ok.
TAPROOT_API ScoredTree argmax(const ScoreView& scores, RootRule root = RootRule::kSingle,
                              TreeFamily family = TreeFamily::kAll);

/// Trees in the order of their scores, largest first.
struct BestTrees {
  int n = 0;
  std::vector<std::int32_t> heads;   ///< [size()][n]
  std::vector<std::int32_t> labels;  ///< Likewise, from a DependencyTrees with labels; else empty.
  std::vector<double> score;         ///< The sum of a tree's scores, rounded once.
  std::vector<double> log_prob;      ///< From DependencyTrees::kbest() if asked for; else empty.

  std::size_t size() const { return score.size(); }
  TreeView operator[](std::size_t i) const {
    return TreeView(heads).subspan(i * static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  }
};

/// Gives one tree after the other in the order of their scores, as long as there are any. O(n^2)
/// per tree, more where many scores tie; 40 (n+1)^2 bytes, and some 500 + 4 n bytes per tree.
/// Projective trees: O(n^3) for the first, then what has to be found anew, at most 2n cells of a
/// chart per tree; 80 (n+1)^2 bytes, and some 80 bytes per cell and tree. Moved from, it may only
/// be assigned to or destroyed.
class TAPROOT_API KBestIterator {
 public:
  KBestIterator();
  ~KBestIterator();
  KBestIterator(KBestIterator&&) noexcept;
  KBestIterator& operator=(KBestIterator&&) noexcept;

  /// Copies the scores. If the outcome is not ok, there is no next().
  Outcome build(const ScoreView& scores, RootRule root, TreeFamily family = TreeFamily::kAll);

  /// The next tree into heads [n]; its score is not larger than the one before. False if there is
  /// none.
  bool next(std::span<std::int32_t> heads, double& score);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The k best trees, or all if there are fewer. Throws SentenceError if the outcome is not ok.
TAPROOT_API BestTrees kbest(const ScoreView& scores, std::size_t k,
                            RootRule root = RootRule::kSingle,
                            TreeFamily family = TreeFamily::kAll);

/// Minimum Bayes risk: the tree that maximizes the expected number of right heads, sum of
/// p(head -> m) over its edges, among the trees of the sentence's family, rule and allowed edges.
/// O(n^3) for the marginals. Throws if the outcome of f is not ok.
TAPROOT_API void mbr(const Factorization& f, std::span<std::int32_t> heads, Workspace& workspace);
TAPROOT_API Tree mbr(const Factorization& f);

/// The expected share of words that have the head that `heads` gives them, when trees are sampled
/// from p: the mean of p(head -> m). A word whose head is negative is not counted; NaN if no word
/// is. Throws unless there are n heads, none above n. Cost: marginals().
TAPROOT_API double expected_attachment(const Factorization& f, TreeView heads,
                                       Workspace& workspace);
TAPROOT_API double expected_attachment(const Factorization& f, TreeView heads);

/// How trees compare with the gold ones.
struct TAPROOT_API Attachment {
  std::size_t words = 0;
  std::size_t heads = 0;   ///< right heads: UAS = heads / words
  std::size_t labels = 0;  ///< right heads with the right label: LAS = labels / words
  std::size_t trees = 0;
  std::size_t exact = 0;  ///< trees with all heads right

  Attachment& operator+=(const Attachment& other);
  double uas() const {
    return words == 0 ? 0 : static_cast<double>(heads) / static_cast<double>(words);
  }
  double las() const {
    return words == 0 ? 0 : static_cast<double>(labels) / static_cast<double>(words);
  }
};

/// One tree against its gold tree. Labels, where given, are numbers, one for each word of both. A
/// word whose gold head is negative is not counted, and a tree without any counted word adds
/// nothing to `trees`. Throws if the sizes differ.
TAPROOT_API Attachment evaluate(TreeView heads, TreeView gold,
                                std::span<const std::int32_t> labels = {},
                                std::span<const std::int32_t> gold_labels = {});

}  // namespace taproot
