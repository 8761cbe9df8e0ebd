// SPDX-License-Identifier: Apache-2.0
//
// How a thread block lays out a sentence in its shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"

namespace taproot::cuda {

/// Columns in registers, threads and where the matrix is, for sentences of up to max_n words.
struct Shape {
  int chunk;  ///< Columns per lane: 1, 2, 4, 8 or, in clusters, 16.
  int threads;
  bool shared;  ///< The matrix is in shared memory; else in global memory.
  int cluster;  ///< Blocks per sentence: more than 1 where the memory of one is too small.
};

/// Where each part begins. The last three are for clusters.
struct Layout {
  std::size_t scale, sums, keys, reduce, pivot, dots, part, part_e, order, position, last, matrix;
  std::size_t row, slots, slots_e;
  std::size_t bytes;
  int ld;

  TAPROOT_HOST_DEVICE Layout(int n, int threads, int chunk, std::size_t scalar, bool shared,
                             int cluster = 1) {
    const std::size_t nodes = static_cast<std::size_t>(n) + 1;
    const std::size_t warps = static_cast<std::size_t>(threads) / 32;
    const std::size_t widest =
        nodes > static_cast<std::size_t>(threads) ? nodes : static_cast<std::size_t>(threads);
    ld = (n + 1) | 1;
    std::size_t at = 0;
    const auto take = [&at](std::size_t size) {
      const std::size_t here = at;
      at = (at + size + 15) / 16 * 16;
      return here;
    };
    scale = take(8 * nodes);
    sums = take(8 * nodes);
    keys = take(8 * nodes);
    reduce = take(8 * widest);
    pivot = take(scalar * nodes);
    dots = take(scalar * nodes);
    part = take(scalar * warps * 32 * static_cast<std::size_t>(chunk));
    part_e = take(scalar * warps);
    order = take(4 * nodes);
    position = take(4 * nodes);
    last = take(nodes);
    matrix = at;
    const auto blocks = static_cast<std::size_t>(cluster);
    const std::size_t rows = (nodes + blocks - 1) / blocks;
    if (shared) take(scalar * rows * static_cast<std::size_t>(ld));
    row = slots = slots_e = at;
    if (cluster > 1) {
      row = take(2 * scalar * nodes);
      slots = take(scalar * blocks * nodes);
      slots_e = take(scalar * blocks);
    }
    bytes = at;
  }
};

}  // namespace taproot::cuda
