// SPDX-License-Identifier: Apache-2.0
//
// Arrays that cross the border between Python and C++.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace taproot::python {

/// What the caller allocated for us to fill, or filled for us to read: contiguous, checked by the
/// Python side for its shape.
template <typename T>
using Contiguous = nanobind::ndarray<T, nanobind::c_contig, nanobind::device::cpu>;

template <typename T>
std::span<T> span(const Contiguous<T>& array) {
  return {array.data(), array.size()};
}

/// An array of any strides, float32 or float64.
using Floats = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// Whether the numbers are float64; throws unless they are that or float32.
template <typename Array>
bool holds_doubles(const Array& array, const char* message) {
  const bool doubles = array.dtype() == nanobind::dtype<double>();
  if (!doubles && array.dtype() != nanobind::dtype<float>()) throw std::invalid_argument(message);
  return doubles;
}

template <typename T>
using NumpyArray = nanobind::ndarray<nanobind::numpy, T, nanobind::c_contig>;

/// The vector as a NumPy array, without a copy.
template <typename T>
NumpyArray<T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(kept,
                                [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NumpyArray<T>(kept->data(), shape, owner);
}

}  // namespace taproot::python
