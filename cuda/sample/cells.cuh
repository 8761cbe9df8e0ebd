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

/// Of sentences of up to 253 words. Three heads are drawn at first, so that three of four pops find
/// a head that the whole warp has drawn in advance. The bytes of a cell are the top, the two heads
/// below it, and the color; a pop moves the heads down and puts `stop` above them. A head that is
/// drawn later has the bytes (head, stop, a mark of how many were drawn).
struct ShortCell {
  static constexpr int kMostWords = 253;
  static constexpr int kDrawnAhead = 3;
  static constexpr std::uint32_t kTop = 0xff;
  static constexpr int kColorShift = 24;
  static constexpr std::uint32_t kFresh = std::uint32_t{0xff} << kColorShift;

  /// The first heads of a word, without a color.
  static __device__ std::uint32_t first(const std::uint32_t (&heads)[kDrawnAhead]) {
    return heads[0] + (heads[1] << 8) + (heads[2] << 16);
  }
  /// A head after the first ones, of which `drawn` were drawn with this one, without a color.
  static __device__ std::uint32_t later(std::uint32_t head, std::uint32_t stop, int drawn) {
    return head + (stop << 8) + ((static_cast<std::uint32_t>(drawn) + mark(stop)) << 16);
  }
  /// How many heads were drawn, where the top is `stop`.
  static __device__ int drawn(std::uint32_t cell, std::uint32_t stop) {
    const std::uint32_t second = cell >> 8 & 0xff;
    return second == stop ? kDrawnAhead : static_cast<int>(second - mark(stop));
  }
  /// How many heads were on top so far, where the top is a head.
  static __device__ int used(std::uint32_t cell, std::uint32_t stop) {
    const std::uint32_t second = cell >> 8 & 0xff;
    const std::uint32_t third = cell >> 16 & 0xff;
    if (third == stop) return second == stop ? 3 : 2;
    return second == stop ? static_cast<int>(third - mark(stop)) : 1;
  }
  /// The bytes (second, third, stop, kFresh), where `below` is below(stop).
  static __device__ std::uint32_t popped(std::uint32_t cell, std::uint32_t below) {
    return __byte_perm(cell, below, 0x5421);
  }
  static __device__ std::uint32_t below(std::uint32_t stop) { return stop | 0xff00; }

 private:
  /// What is added to a number of heads, so that it is never `stop`.
  static __device__ std::uint32_t mark(std::uint32_t stop) { return stop <= 128 ? 128 : 0; }
};
static_assert(detail::kHeadsPerWord < 128);

/// Of longer sentences. Every pop takes a new draw.
struct LongCell {
  static constexpr int kMostWords = 8189;
  static constexpr int kDrawnAhead = 1;
  static constexpr std::uint32_t kTop = 0x1fff;
  static constexpr int kDrawnShift = 13;
  static constexpr int kColorShift = 19;
  static constexpr std::uint32_t kFresh = std::uint32_t{0x1fff} << kColorShift;

  static __device__ std::uint32_t first(const std::uint32_t (&heads)[kDrawnAhead]) {
    return later(heads[0], 0, 1);
  }
  static __device__ std::uint32_t later(std::uint32_t head, std::uint32_t /*stop*/, int drawn) {
    return head + (static_cast<std::uint32_t>(drawn) << kDrawnShift);
  }
  static __device__ int drawn(std::uint32_t cell, std::uint32_t /*stop*/) {
    return static_cast<int>(cell >> kDrawnShift & 0x3f);
  }
  static __device__ int used(std::uint32_t cell, std::uint32_t stop) { return drawn(cell, stop); }
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
