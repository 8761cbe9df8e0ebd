// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

#include "core/host_device.h"

namespace taproot::detail {

/// An exact sum of doubles, kept as partial sums whose bits do not overlap (Shewchuk 1997). Terms
/// must be finite, and no partial sum may overflow.
class ExactSum {
 public:
  TAPROOT_HOST_DEVICE void add(double x) {
    if (size_ == kMost) compress();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double y = parts_[i];
      const double sum = x + y;
      const double of_y = sum - x;
      const double rest = (x - (sum - of_y)) + (y - of_y);
      if (rest != 0) parts_[kept++] = rest;
      x = sum;
    }
    if (x != 0) parts_[kept++] = x;
    size_ = kept;
  }
  TAPROOT_HOST_DEVICE void add(const ExactSum& other) {
    for (std::size_t i = 0; i < other.size_; ++i) add(other.parts_[i]);
  }
  TAPROOT_HOST_DEVICE void subtract(const ExactSum& other) {
    for (std::size_t i = 0; i < other.size_; ++i) add(-other.parts_[i]);
  }

  /// The sign of the sum: -1, 0 or 1.
  TAPROOT_HOST_DEVICE int sign() const {
    if (size_ == 0) return 0;
    return parts_[size_ - 1] > 0 ? 1 : -1;
  }

  /// The double nearest to the sum; ties go to even.
  TAPROOT_HOST_DEVICE double value() const {
    if (size_ == 0) return 0;
    std::size_t i = size_ - 1;
    double sum = parts_[i];
    double rest = 0;
    while (i > 0 && rest == 0) {
      const double x = sum;
      const double y = parts_[--i];
      sum = x + y;
      rest = y - (sum - x);
    }
    // The rest looks like a tie (half a unit in the last place), but if the next part has the same
    // sign then the true sum lies beyond the tie and must be rounded away from zero.
    if (i > 0 && rest != 0 && (rest > 0) == (parts_[i - 1] > 0)) {
      const double twice = 2 * rest;
      if (sum + twice - sum == twice) sum += twice;
    }
    return sum;
  }

 private:
  // Parts may be as short as one bit each until compress() makes them 53 bits long. The exponents
  // of doubles span 2100 bits, so 40 such parts represent any sum.
  static constexpr std::size_t kMost = 48;

  TAPROOT_HOST_DEVICE void compress() {
    double packed[kMost];
    std::size_t first = kMost;  // Filled from the back, because the largest part comes first.
    double top = parts_[size_ - 1];
    for (std::size_t i = size_ - 1; i-- > 0;) {
      const double sum = top + parts_[i];
      const double rest = parts_[i] - (sum - top);
      if (rest != 0) {
        packed[--first] = sum;
        top = rest;
      } else {
        top = sum;
      }
    }
    packed[--first] = top;
    size_ = 0;
    for (std::size_t i = first; i < kMost; ++i) parts_[size_++] = packed[i];
  }

  double parts_[kMost];
  std::size_t size_ = 0;
};

}  // namespace taproot::detail
