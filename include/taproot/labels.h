// SPDX-License-Identifier: Apache-2.0
//
// Labeled trees. The score of edge h -> m with label l is S[h][m] + L[h][m][l]: a labeled tree's
// weight is the product over its edges, so for inference an edge counts with the sum over its
// labels, for decoding with the best of them, and given the edge a label is sampled by its share.
// Everything else works on the edge scores that come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot {

/// Label scores of one sentence, float32 or float64, [n+1][n+1][labels], with any strides (counted
/// in elements). -inf forbids a label. Column 0 and the diagonal are ignored. The memory must
/// outlive every call that is given the view.
class TAPROOT_API LabelView {
 public:
  /// Row-major. Throws std::invalid_argument when n < 0, labels < 1 or data is null.
  LabelView(const float* data, int n, int labels);
  LabelView(const double* data, int n, int labels);

  /// L[h][m][l] = data[h * head_stride + m * modifier_stride + l * label_stride].
  LabelView(const float* data, int n, int labels, std::ptrdiff_t head_stride,
            std::ptrdiff_t modifier_stride, std::ptrdiff_t label_stride);
  LabelView(const double* data, int n, int labels, std::ptrdiff_t head_stride,
            std::ptrdiff_t modifier_stride, std::ptrdiff_t label_stride);

  int n() const { return n_; }
  int labels() const { return labels_; }

  /// L[head][modifier][label] as stored. Not checked.
  double operator()(int head, int modifier, int label) const {
    const std::ptrdiff_t at =
        head * head_stride_ + modifier * modifier_stride_ + label * label_stride_;
    return is_double_ ? static_cast<const double*>(data_)[at]
                      : static_cast<double>(static_cast<const float*>(data_)[at]);
  }

 private:
  const void* data_;
  int n_;
  int labels_;
  bool is_double_;
  std::ptrdiff_t head_stride_;
  std::ptrdiff_t modifier_stride_;
  std::ptrdiff_t label_stride_;
};

/// What becomes of an edge's labels.
enum class LabelSum : std::uint8_t {
  kLogSum,  ///< S[h][m] + log sum_l exp(L[h][m][l]): for inference and sampling
  kMax,     ///< S[h][m] + max_l L[h][m][l]: for decoding
};

/// The edge scores of a labeled sentence, row-major [n+1][n+1], in `memory`, which the view reads
/// (`scores` may be a row-major view of `memory` itself). Sums are rounded to double: decoders are
/// exact in these scores.
/// A NaN or +inf among an edge's labels makes its score NaN, so that it is reported as bad_score.
/// Throws std::invalid_argument if the lengths differ. O(n^2 labels).
TAPROOT_API ScoreView add_labels(const ScoreView& scores, const LabelView& labels, LabelSum sum,
                                 std::vector<double>& memory);

/// The best label of each word's edge in a tree, the first of equal ones. Throws unless there are n
/// heads in 0..n, other than the word itself.
TAPROOT_API void best_labels(const LabelView& labels, TreeView heads, std::span<std::int32_t> out);

/// The best label of every edge, row-major [n+1][n+1], the first of equal ones; 0 in column 0 and
/// on the diagonal. Throws if the size is not this. O(n^2 labels).
TAPROOT_API void best_edge_labels(const LabelView& labels, std::span<std::int32_t> out);

/// A label for each word's edge, label l with probability exp(L[h][m][l]) / sum: given a tree
/// sampled from the log-sum scores, that makes a sample of a labeled tree. Depends on (seed,
/// sentence id, sample) alone. Throws std::invalid_argument if an edge of the tree has no label.
TAPROOT_API void sample_labels(const LabelView& labels, TreeView heads, std::uint64_t seed,
                               std::uint64_t id, std::uint32_t sample, std::span<std::int32_t> out);

/// Sum over the words of log P(label | edge): what the labels add to the log_prob of a tree under
/// the log-sum scores.
TAPROOT_API double labels_log_prob(const LabelView& labels, TreeView heads,
                                   std::span<const std::int32_t> of_words);

/// Sum over the words of L[head][word][label]: what the labels add to the score of a tree.
TAPROOT_API double labels_score(const LabelView& labels, TreeView heads,
                                std::span<const std::int32_t> of_words);

/// p(h -> m with label l), row-major [n+1][n+1][labels], from the marginals of the log-sum scores,
/// row-major [n+1][n+1]. Throws std::invalid_argument if the sizes are not these, or if an edge of
/// positive probability has no label.
TAPROOT_API void label_marginals(const LabelView& labels, std::span<const double> edge_marginals,
                                 std::span<double> out);

}  // namespace taproot
