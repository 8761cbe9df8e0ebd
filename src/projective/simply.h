// SPDX-License-Identifier: Apache-2.0
//
// The passes over a chart by their definition, over any scalar T with + and *, constructible from 0
// and 1. The library uses them for Wide and for the semirings of rare questions; the tests compare
// the vector code with them.
#pragma once

#include "core/host_device.h"
#include "projective/chart.h"

namespace taproot::detail {

/// Fills the inside tables from the two tables of weights.
template <typename T>
void inside_simply(const ChartView<T>& c) {
  const int size = c.size();
  for (int i = 0; i < size; ++i) c(kRight, 0, i) = c(kLeft, 0, i) = T(1);
  for (int d = 1; d < size; ++d) {
    for (int i = 0; i + d < size; ++i) {
      T split = T(0);
      for (int e = 0; e < d; ++e) split = split + c(kRight, e, i) * c(kLeft, d - 1 - e, i + e + 1);
      c(kSplit, d, i) = split;
      c(kRightEdge, d, i) = split * c(kRightWeight, d, i);
      c(kLeftEdge, d, i) = split * c(kLeftWeight, d, i);
      T right = T(0);
      T left = T(0);
      for (int e = 0; e < d; ++e) {
        right = right + c(kRightEdge, e + 1, i) * c(kRight, d - 1 - e, i + e + 1);
        left = left + c(kLeft, e, i) * c(kLeftEdge, d - e, i + e);
      }
      c(kRight, d, i) = right;
      c(kLeft, d, i) = left;
    }
  }
}

/// The outside pass: with `seed` the derivative of something with respect to Z (for log Z, 1 / Z),
/// fills `out` with its derivatives, and calls visit(d, i, right, left) with the derivatives with
/// respect to the kRightEdge and the kLeftEdge entry of every span with d > 0.
template <typename In, typename T, typename Visit>
void outside_simply(const ChartView<In>& c, const T& seed, const ChartView<T>& out, Visit&& visit) {
  const int size = c.size();
  const int last = size - 1;
  for (int d = last; d >= 1; --d) {
    for (int i = 0; i + d < size; ++i) {
      T right = T(0);
      T left = T(0);
      if (c.shape().single()) {
        if (i + d == last) right = seed * (c.roots()[i] * c(kLeft, i, 0));
        if (i == 0) left = seed * (c.roots()[d] * c(kRight, last - d, d));
      } else if (d == last) {
        right = seed;
      }
      T right_edge = T(0);
      T left_edge = T(0);
      for (int t = 1; i + d + t < size; ++t) {  // Spans with the same first position.
        right = right + out(kOutSplit, d + t, i) * c(kLeft, t - 1, i + d + 1);
        left = left + out(kOutLeft, d + t, i) * c(kLeftEdge, t, i + d);
        right_edge = right_edge + out(kOutRight, d + t, i) * c(kRight, t, i + d);
      }
      for (int e = 1; e <= i; ++e) {  // Spans with the same last position.
        left = left + out(kOutSplit, d + e, i - e) * c(kRight, e - 1, i - e);
        right = right + out(kOutRight, d + e, i - e) * c(kRightEdge, e, i - e);
        left_edge = left_edge + out(kOutLeft, d + e, i - e) * c(kLeft, e, i - e);
      }
      out(kOutRight, d, i) = right;
      out(kOutLeft, d, i) = left;
      right_edge = right_edge + right;
      left_edge = left_edge + left;
      out(kOutSplit, d, i) = right_edge * c(kRightWeight, d, i) + left_edge * c(kLeftWeight, d, i);
      visit(d, i, right_edge, left_edge);
    }
  }
}

/// A number and its derivative.
template <typename T>
struct Dual {
  T value;
  T slope;

  Dual() = default;
  TAPROOT_HOST_DEVICE Dual(T v, T s) : value(v), slope(s) {}
  TAPROOT_HOST_DEVICE explicit Dual(double v) : value(v), slope(0.0) {}
  TAPROOT_HOST_DEVICE friend Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  TAPROOT_HOST_DEVICE friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.value * b.slope + a.slope * b.value};
  }
};

/// Truth, with "or" for + and "and" for *.
struct Truth {
  std::uint8_t value;

  Truth() = default;
  TAPROOT_HOST_DEVICE explicit Truth(int v) : value(v != 0 ? 1 : 0) {}
  TAPROOT_HOST_DEVICE friend Truth operator+(Truth a, Truth b) { return Truth(a.value | b.value); }
  TAPROOT_HOST_DEVICE friend Truth operator*(Truth a, Truth b) { return Truth(a.value & b.value); }
};

}  // namespace taproot::detail
