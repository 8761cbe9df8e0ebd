// SPDX-License-Identifier: Apache-2.0
//
// The sentences of arrays of numbers, as the library takes them.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "taproot/types.h"

namespace taproot::python {

/// work(numbers) with float64 or float32 numbers.
template <typename Work>
auto with_numbers(const void* data, bool is_double, Work&& work) {
  return is_double ? work(static_cast<const double*>(data)) : work(static_cast<const float*>(data));
}

/// A ScoreView or LabelView of such numbers, from number `at` on.
template <typename View, typename... Shape>
View view_of(const void* data, bool is_double, std::ptrdiff_t at, Shape... shape) {
  return with_numbers(data, is_double, [&](const auto* all) { return View(all + at, shape...); });
}

/// The matrices of a padded array [size][rows][row].
template <typename T>
auto matrices_in(T* data, std::size_t size, std::size_t rows, std::size_t row) {
  std::vector<std::conditional_t<std::is_const_v<T>, ConstEdgeMatrix, EdgeMatrix>> matrices;
  matrices.reserve(size);
  for (std::size_t b = 0; b < size; ++b) {
    matrices.push_back({data + b * rows * row, static_cast<std::ptrdiff_t>(row)});
  }
  return matrices;
}

}  // namespace taproot::python
