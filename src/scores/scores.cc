// SPDX-License-Identifier: Apache-2.0
#include "taproot/scores.h"

#include <string>

#include "core/check.h"

namespace taproot {
namespace {

void check_view(const void* data, int n) {
  detail::require(n >= 0, "ScoreView", "the number of words is negative");
  detail::require(data != nullptr || n == 0, "ScoreView", "data is null");
}

void check_size(std::size_t size, int n) {
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  detail::require(size == side * side || (size == 0 && n == 0), "ScoreView",
                  "data must have (n+1)^2 elements");
}

std::size_t side(std::int32_t length) { return static_cast<std::size_t>(length) + 1; }

}  // namespace

ScoreView::ScoreView(const float* data, int n) : ScoreView(data, n, std::ptrdiff_t{n} + 1, 1) {}

ScoreView::ScoreView(const double* data, int n) : ScoreView(data, n, std::ptrdiff_t{n} + 1, 1) {}

ScoreView::ScoreView(const float* data, int n, std::ptrdiff_t head_stride,
                     std::ptrdiff_t modifier_stride)
    : data_(data),
      n_(n),
      is_double_(false),
      head_stride_(head_stride),
      modifier_stride_(modifier_stride) {
  check_view(data, n);
}

ScoreView::ScoreView(const double* data, int n, std::ptrdiff_t head_stride,
                     std::ptrdiff_t modifier_stride)
    : data_(data),
      n_(n),
      is_double_(true),
      head_stride_(head_stride),
      modifier_stride_(modifier_stride) {
  check_view(data, n);
}

ScoreView::ScoreView(std::span<const float> data, int n) : ScoreView(data.data(), n) {
  check_size(data.size(), n);
}

ScoreView::ScoreView(std::span<const double> data, int n) : ScoreView(data.data(), n) {
  check_size(data.size(), n);
}

namespace {

template <typename Real>
std::vector<ScoreView> padded_views(std::span<const Real> data, std::size_t batch, int max_n,
                                    std::span<const std::int32_t> lengths) {
  constexpr const char* kFunction = "padded";
  detail::require(max_n >= 0, kFunction, "the number of words is negative");
  const std::size_t size = side(max_n) * side(max_n);
  detail::require(data.size() / size == batch && data.size() % size == 0, kFunction,
                  "data must have batch * (max_n+1)^2 elements");
  detail::require(lengths.empty() || lengths.size() == batch, kFunction,
                  "lengths must be empty or have one entry per sentence");
  std::vector<ScoreView> sentences;
  sentences.reserve(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    const std::int32_t n = lengths.empty() ? max_n : lengths[b];
    if (n < 0 || n > max_n) {
      detail::misuse(kFunction, "lengths[" + std::to_string(b) + "] = " + std::to_string(n) +
                                    " is outside 0.." + std::to_string(max_n));
    }
    sentences.emplace_back(data.data() + b * size, n, std::ptrdiff_t{max_n} + 1, 1);
  }
  return sentences;
}

template <typename Real>
std::vector<ScoreView> concatenated_views(std::span<const Real> data,
                                          std::span<const std::int32_t> lengths) {
  constexpr const char* kFunction = "concatenated";
  std::vector<ScoreView> sentences;
  sentences.reserve(lengths.size());
  std::size_t begin = 0;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const std::int32_t n = lengths[b];
    if (n < 0) detail::misuse(kFunction, "lengths[" + std::to_string(b) + "] is negative");
    if (side(n) * side(n) > data.size() - begin) {
      detail::misuse(kFunction, "data ends within sentence " + std::to_string(b));
    }
    sentences.emplace_back(data.data() + begin, n);
    begin += side(n) * side(n);
  }
  detail::require(begin == data.size(), kFunction, "data goes on after the last sentence");
  return sentences;
}

}  // namespace

std::vector<ScoreView> padded(std::span<const float> data, std::size_t batch, int max_n,
                              std::span<const std::int32_t> lengths) {
  return padded_views(data, batch, max_n, lengths);
}
std::vector<ScoreView> padded(std::span<const double> data, std::size_t batch, int max_n,
                              std::span<const std::int32_t> lengths) {
  return padded_views(data, batch, max_n, lengths);
}
std::vector<ScoreView> concatenated(std::span<const float> data,
                                    std::span<const std::int32_t> lengths) {
  return concatenated_views(data, lengths);
}
std::vector<ScoreView> concatenated(std::span<const double> data,
                                    std::span<const std::int32_t> lengths) {
  return concatenated_views(data, lengths);
}

}  // namespace taproot
