// SPDX-License-Identifier: Apache-2.0
//
// Reading rows of a caller's scores. Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_SCORES_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SCORES_ROWS_INL_H_
#undef TAPROOT_SCORES_ROWS_INL_H_
#else
#define TAPROOT_SCORES_ROWS_INL_H_
#endif

#include <cstddef>

#include "core/simd-inl.h"
#include "taproot/scores.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

template <typename T>
HWY_INLINE void copy_row(const T* from, std::ptrdiff_t stride, size_t count,
                         double* HWY_RESTRICT to) {
  if (stride == 1) {  // With this known, the compiler uses vectors.
    for (size_t m = 0; m < count; ++m) to[m] = double{from[m]};
  } else {
    for (size_t m = 0; m < count; ++m)
      to[m] = double{from[static_cast<std::ptrdiff_t>(m) * stride]};
  }
}

// Copies row `head` of the view to dst[0..n], converted to double.
HWY_INLINE void copy_row(const ScoreView& view, size_t head, double* HWY_RESTRICT dst) {
  const auto count = static_cast<size_t>(view.n()) + 1;
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(head) * view.head_stride();
  if (const double* data = view.double_data()) {
    copy_row(data + offset, view.modifier_stride(), count, dst);
  } else {
    copy_row(view.float_data() + offset, view.modifier_stride(), count, dst);
  }
}

// Loads the first `count` < kLanes doubles at p, and zeros into the other lanes. It does not read
// beyond them, because the caller's array may end there.
HWY_INLINE V load_partial(const double* p, size_t count) {
  const D d;
#if HWY_MAX_BYTES >= 32
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#else  // On these targets a masked load would read the whole vector.
  HWY_ALIGN double lanes[kLanes] = {};
  for (size_t i = 0; i < count; ++i) lanes[i] = p[i];
  return hn::LoadU(d, lanes);
#endif
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SCORES_ROWS_INL_H_
