// SPDX-License-Identifier: Apache-2.0
//
// What a device knows of a word whose stack (src/sample/walk/stacks.h) it pops, in 32 bits: the top
// head, how many heads were drawn, and a color. A path from word s gives its words the color s. The
// root has color 0, so that smaller colors than the path's own mark what is in the tree, and a word
// that was not visited since its top changed has kFresh, the largest. A top that has still to be
// drawn is the number `stop`, one more than that of the last word.
#pragma once

#include <cstdint>

#include "core/format.h"

namespace taproot::cuda {

/// Of sentences of up to 253 words. It also holds the head below the top, so that half of the pops
/// find a head that the whole warp has drawn in advance.
struct ShortCell {
  static constexpr int kMostWords = 253;
  static constexpr int kDrawnAhead = 2;
  static constexpr std::uint32_t kTop = 0xff;
  static constexpr int kDrawnShift = 16;
  static constexpr int kColorShift = 24;
  static constexpr std::uint32_t kFresh = std::uint32_t{0xff} << kColorShift;

  /// Without a color.
  static __device__ std::uint32_t make(std::uint32_t top, std::uint32_t below, int drawn) {
    return top + (below << 8) + (static_cast<std::uint32_t>(drawn) << kDrawnShift);
  }
  static __device__ int drawn(std::uint32_t cell) {
    return static_cast<int>(cell >> kDrawnShift & 0xff);
  }
  /// How many heads were on top so far.
  static __device__ int used(std::uint32_t cell, std::uint32_t stop) {
    return drawn(cell) - ((cell >> 8 & 0xff) == stop ? 0 : 1);
  }
  /// The bytes (below, stop, drawn, kFresh), where `below` is below(stop).
  static __device__ std::uint32_t popped(std::uint32_t cell, std::uint32_t below) {
    return __byte_perm(cell, below, 0x5241);
  }
  static __device__ std::uint32_t below(std::uint32_t stop) { return stop | 0xff00; }
};

/// Of longer sentences. Every pop takes a new draw.
struct LongCell {
  static constexpr int kMostWords = 8189;
  static constexpr int kDrawnAhead = 1;
  static constexpr std::uint32_t kTop = 0x1fff;
  static constexpr int kDrawnShift = 13;
  static constexpr int kColorShift = 19;
  static constexpr std::uint32_t kFresh = std::uint32_t{0x1fff} << kColorShift;

  static __device__ std::uint32_t make(std::uint32_t top, std::uint32_t /*below*/, int drawn) {
    return top + (static_cast<std::uint32_t>(drawn) << kDrawnShift);
  }
  static __device__ int drawn(std::uint32_t cell) {
    return static_cast<int>(cell >> kDrawnShift & 0x3f);
  }
  static __device__ int used(std::uint32_t cell, std::uint32_t /*stop*/) { return drawn(cell); }
  static __device__ std::uint32_t popped(std::uint32_t cell, std::uint32_t below) {
    return (cell & std::uint32_t{0x3f} << kDrawnShift) | below;
  }
  static __device__ std::uint32_t below(std::uint32_t stop) { return stop | kFresh; }
};
static_assert(detail::kHeadsPerWord <= 0x3f);

/// Words of memory of the tables of a sentence, so that cells may follow.
inline constexpr int table_words(int max_n) { return ((max_n + 1) * (max_n + 1) + 3) / 4 * 4; }

/// Words of memory between the cells of one tree and the next, with room for `stop`. Four cells are
/// written at a time, and an odd number of fours lets the trees of a warp meet all banks.
inline constexpr int cell_stride(int max_n) {
  const int fours = (max_n + 1) / 4 + 1;
  return 4 * (fours + 1 - fours % 2);
}

}  // namespace taproot::cuda
