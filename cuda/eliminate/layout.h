// SPDX-License-Identifier: Apache-2.0
//
// How a thread block lays out a sentence in its shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"

namespace taproot::cuda {

/// How many words are eliminated, and brought back, together (groups.cuh).
inline constexpr int kGroup = 8;
/// In place of a number of columns per lane: groups of words instead of single words.
inline constexpr int kInGroups = 0;

/// How a block works on sentences of up to max_n words, and where the matrix is.
struct Shape {
  int chunk;  ///< Columns per lane, 1, 2, 4 or 8; or kInGroups.
  int threads;
  bool shared;  ///< The matrix is in shared memory; else in global memory.
};

/// Where each part begins. `panels` and what follows it are for groups of words.
struct Layout {
  std::size_t scale, sums, keys, reduce, pivot, dots, part, part_e, order, position, last, matrix;
  std::size_t panels, inverse, squares;
  std::size_t bytes;
  int ld;

  /// The rows of a matrix, whole groups of them, and the distance between them: an odd number of
  /// vectors of 16 bytes, so that those of a column of the matrix meet all banks.
  static TAPROOT_HOST_DEVICE int rows_in_groups(int n) { return n / kGroup * kGroup + kGroup; }
  static TAPROOT_HOST_DEVICE int ld_in_groups(int n, std::size_t scalar) {
    return rows_in_groups(n) + static_cast<int>(16 / scalar);
  }

  TAPROOT_HOST_DEVICE Layout(int n, int threads, int chunk, std::size_t scalar, bool shared) {
    const std::size_t nodes = static_cast<std::size_t>(n) + 1;
    const std::size_t warps = static_cast<std::size_t>(threads) / 32;
    const std::size_t widest =
        nodes > static_cast<std::size_t>(threads) ? nodes : static_cast<std::size_t>(threads);
    const bool groups = chunk == kInGroups;
    const auto rows = static_cast<std::size_t>(groups ? rows_in_groups(n) : n + 1);
    ld = groups ? ld_in_groups(n, scalar) : (n + 1) | 1;
    std::size_t at = 0;
    const auto take = [&at](std::size_t size) {
      const std::size_t here = at;
      at = (at + size + 15) / 16 * 16;
      return here;
    };
    scale = take(8 * nodes);
    sums = take(8 * nodes);
    pivot = take(scalar * rows);
    dots = take(scalar * nodes);
    order = take(4 * nodes);
    position = take(4 * nodes);
    last = take(nodes);
    // What is needed before and after the passes and what is needed in them share memory.
    const std::size_t begin = at;
    keys = take(8 * nodes);
    reduce = take(8 * widest);
    const std::size_t end = at;
    if (groups) at = begin;
    part = take(groups ? 0 : scalar * warps * 32 * static_cast<std::size_t>(chunk));
    part_e = take(groups ? 0 : scalar * warps);
    panels = take(groups ? 2 * scalar * kGroup * rows : 0);
    inverse = take(groups ? scalar * rows : 0);
    squares = take(groups ? scalar * (4 * kGroup * kGroup + 2 * kGroup) : 0);
    if (at < end) at = end;
    matrix = at;
    if (shared) take(scalar * rows * static_cast<std::size_t>(ld));
    bytes = at;
  }
};

}  // namespace taproot::cuda
