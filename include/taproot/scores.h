// SPDX-License-Identifier: Apache-2.0
//
// Views of the scores that a parser gives. The library never owns, copies or changes them.
//
// S[h][m] is the natural-log weight of the edge from head h to modifier m. Node 0 is ROOT and words
// are 1..n, so a sentence is a matrix [n+1][n+1], row = head, column = modifier. -inf forbids an
// edge. Column 0 and the diagonal are ignored, whatever they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "taproot/types.h"

namespace taproot {

/// The scores of one sentence, float32 or float64, with any strides (counted in elements; they may
/// be negative or zero). The memory must outlive every call that is given the view.
class TAPROOT_API ScoreView {
 public:
  /// Row-major and contiguous: [n+1][n+1]. Throws std::invalid_argument when n < 0, or when data is
  /// null and n > 0.
  ScoreView(const float* data, int n);
  ScoreView(const double* data, int n);

  /// The same with a check that there are (n+1)^2 elements (for n = 0 also none at all).
  ScoreView(std::span<const float> data, int n);
  ScoreView(std::span<const double> data, int n);

  /// S[h][m] = data[h * head_stride + m * modifier_stride].
  ScoreView(const float* data, int n, std::ptrdiff_t head_stride, std::ptrdiff_t modifier_stride);
  ScoreView(const double* data, int n, std::ptrdiff_t head_stride, std::ptrdiff_t modifier_stride);

  int n() const { return n_; }
  std::ptrdiff_t head_stride() const { return head_stride_; }
  std::ptrdiff_t modifier_stride() const { return modifier_stride_; }

  /// The data as float32 or float64; null if it is the other one.
  const float* float_data() const {
    return is_double_ ? nullptr : static_cast<const float*>(data_);
  }
  const double* double_data() const {
    return is_double_ ? static_cast<const double*>(data_) : nullptr;
  }

  /// S[head][modifier] as stored. Not checked: 0 <= head, modifier <= n.
  double operator()(int head, int modifier) const {
    const std::ptrdiff_t at = head * head_stride_ + modifier * modifier_stride_;
    return is_double_ ? double_data()[at] : static_cast<double>(float_data()[at]);
  }

 private:
  const void* data_;
  int n_;
  bool is_double_;
  std::ptrdiff_t head_stride_;
  std::ptrdiff_t modifier_stride_;
};

/// The sentences of a padded array [batch][max_n+1][max_n+1]: sentence b uses the top left corner
/// of size lengths[b]+1, and what lies outside is never read. `lengths` may be empty: then all
/// sentences have max_n words. Throws std::invalid_argument where lengths and shape contradict
/// each other.
TAPROOT_API std::vector<ScoreView> padded(std::span<const float> data, std::size_t batch, int max_n,
                                          std::span<const std::int32_t> lengths = {});
TAPROOT_API std::vector<ScoreView> padded(std::span<const double> data, std::size_t batch,
                                          int max_n, std::span<const std::int32_t> lengths = {});

/// The sentences of an array that holds one matrix [lengths[b]+1][lengths[b]+1] after the other.
/// Throws std::invalid_argument unless their sizes add up to data.size().
TAPROOT_API std::vector<ScoreView> concatenated(std::span<const float> data,
                                                std::span<const std::int32_t> lengths);
TAPROOT_API std::vector<ScoreView> concatenated(std::span<const double> data,
                                                std::span<const std::int32_t> lengths);

}  // namespace taproot
