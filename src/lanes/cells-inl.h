// SPDX-License-Identifier: Apache-2.0
//
// Matrices of several sentences with their numbers side by side. Included once per target; see
// core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_CELLS_INL_H_
#undef TAPROOT_LANES_CELLS_INL_H_
#else
#define TAPROOT_LANES_CELLS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "core/simd-inl.h"
#include "lanes/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

inline constexpr size_t kMostNodes = static_cast<size_t>(kMostLaneWords) + 1;

// A square of cells. A cell is a vector with the numbers of all sentences at one place.
struct Cells {
  double* data;
  size_t ld;  // In cells. Odd, so that the cells of a column do not share a set of the cache.

  // Enough for whole blocks.
  static size_t leading_dimension(size_t n) { return (n + kBlock) / kBlock * kBlock + 1; }
  static size_t size(size_t n) { return (n + 1) * leading_dimension(n) * kLanes; }

  double* at(size_t m, size_t h) const { return data + (m * ld + h) * kLanes; }
  V get(size_t m, size_t h) const { return hn::Load(D(), at(m, h)); }
  void set(size_t m, size_t h, V value) const { hn::Store(value, D(), at(m, h)); }
};

// The same with at most four sentences in a cell, and the cells of the other four behind all of
// these: half of them fits into the first cache, where they are read at random.
struct PartCells {
  double* data;
  size_t ld;    // In cells.
  size_t size;  // Of a part, in doubles.

  static constexpr size_t kWidth = kLanes < 4 ? kLanes : 4;

  double* at(size_t h, size_t m) const { return data + (h * ld + m) * kWidth; }
  double* of_lane(size_t h, size_t m, size_t lane) const {
    return at(h, m) + lane / kWidth * size + lane % kWidth;
  }
#if HWY_MAX_BYTES >= 64
  using DPart = hn::Half<D>;
  V get(size_t h, size_t m) const {
    const DPart part;
    return hn::Combine(D(), hn::Load(part, at(h, m) + size), hn::Load(part, at(h, m)));
  }
  void set(size_t h, size_t m, V value) const {
    const DPart part;
    hn::Store(hn::LowerHalf(part, value), part, at(h, m));
    hn::Store(hn::UpperHalf(part, value), part, at(h, m) + size);
  }
#else
  using DPart = D;
  V get(size_t h, size_t m) const { return hn::Load(D(), at(h, m)); }
  void set(size_t h, size_t m, V value) const { hn::Store(value, D(), at(h, m)); }
#endif
};

// One vector for each node, rounded up to whole blocks.
struct NodeVectors {
  HWY_ALIGN double data[(kMostNodes + kBlock - 1) / kBlock * kBlock * kLanes];

  double* at(size_t node) { return data + node * kLanes; }
  const double* at(size_t node) const { return data + node * kLanes; }
  V get(size_t node) const { return hn::Load(D(), at(node)); }
  void set(size_t node, V value) { hn::Store(value, D(), at(node)); }
};

// Lane j of v[i] becomes lane i of v[j].
HWY_INLINE void transpose_lanes(V* v) {
#if HWY_MAX_BYTES >= 64
  const D d;
  V pairs[8];  // Elements exchanged within blocks of 128 bits, then blocks, then halves.
  for (size_t i = 0; i < 8; i += 2) {
    pairs[i] = hn::InterleaveLower(d, v[i], v[i + 1]);
    pairs[i + 1] = hn::InterleaveUpper(d, v[i], v[i + 1]);
  }
  V fours[8];
  for (size_t i = 0; i < 8; i += 4) {
    for (size_t odd = 0; odd < 2; ++odd) {
      const V a = pairs[i + odd];
      const V b = pairs[i + 2 + odd];
      fours[i + odd] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
      fours[i + 2 + odd] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
    }
  }
  for (size_t i = 0; i < 4; ++i) {
    v[i] = hn::ConcatLowerLower(d, fours[i + 4], fours[i]);
    v[i + 4] = hn::ConcatUpperUpper(d, fours[i + 4], fours[i]);
  }
#elif HWY_MAX_BYTES >= 32
  const D d;
  const V ab_even = hn::InterleaveLower(d, v[0], v[1]);
  const V ab_odd = hn::InterleaveUpper(d, v[0], v[1]);
  const V ce_even = hn::InterleaveLower(d, v[2], v[3]);
  const V ce_odd = hn::InterleaveUpper(d, v[2], v[3]);
  v[0] = hn::ConcatLowerLower(d, ce_even, ab_even);
  v[1] = hn::ConcatLowerLower(d, ce_odd, ab_odd);
  v[2] = hn::ConcatUpperUpper(d, ce_even, ab_even);
  v[3] = hn::ConcatUpperUpper(d, ce_odd, ab_odd);
#elif HWY_MAX_BYTES >= 16
  const D d;
  const V even = hn::InterleaveLower(d, v[0], v[1]);
  v[1] = hn::InterleaveUpper(d, v[0], v[1]);
  v[0] = even;
#else
  static_cast<void>(v);  // A single lane.
#endif
}

// Stores the first `count` lanes, and nothing beyond.
HWY_INLINE void store_partial(V v, size_t count, double* p) {
#if HWY_MAX_BYTES >= 32
  hn::BlendedStore(v, hn::FirstN(D(), count), D(), p);
#else  // On these targets that would write the whole vector.
  HWY_ALIGN double lanes[kLanes];
  hn::Store(v, D(), lanes);
  std::copy_n(lanes, count, p);
#endif
}

// Writes the cells of the sentences whose out is not null, with the numbers of their nodes.
template <typename AnyCells>
HWY_INLINE void write_cells(const size_t* nodes, const EdgeMatrix* out, size_t n,
                            const AnyCells& cells) {
  for (size_t h = 0; h <= n; ++h) {
    for (size_t m = 0; m <= n; m += kLanes) {
      V square[kLanes];
      for (size_t s = 0; s < kLanes; ++s) square[s] = cells.get(h, m + s);
      transpose_lanes(square);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        if (out[lane].data == nullptr || h >= nodes[lane] || m >= nodes[lane]) continue;
        double* to = out[lane].data + static_cast<std::ptrdiff_t>(h) * out[lane].head_stride + m;
        if (m + kLanes <= nodes[lane]) {
          hn::StoreU(square[lane], D(), to);
        } else {
          store_partial(square[lane], nodes[lane] - m, to);
        }
      }
    }
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_CELLS_INL_H_
