// SPDX-License-Identifier: Apache-2.0
//
// Thread blocks for charts, and where the charts are.
#pragma once

#include <algorithm>
#include <cstddef>

#include "cuda/core/arena.h"
#include "cuda/eliminate/limits.h"
#include "cuda/projective/chart.cuh"
#include "cuda/scores/batch.h"

namespace taproot::cuda::projective {

/// Whether all squares of a chart are in shared memory, the inside tables alone, or none. Those
/// that are not are in a slot of global memory, one per block.
enum class Place : std::uint8_t { kShared, kInsideShared, kGlobal };

/// The entries of a part of a chart of sentences of up to n words: `squares` squares, and room for
/// a matrix over the edges.
TAPROOT_HOST_DEVICE inline std::int64_t chart_cells(int n, bool single, int squares) {
  const std::int64_t size = chart_size(n, single);
  const std::int64_t nodes = std::int64_t{n} + 1;
  return squares * size * size > nodes * nodes ? squares * size * size : nodes * nodes;
}

/// The vectors of a sentence that are in shared memory; see Vectors.
TAPROOT_HOST_DEVICE inline std::size_t vector_bytes(int n, int threads) {
  const int nodes = n + 1;
  return sizeof(double) * static_cast<std::size_t>(3 * nodes + (threads > nodes ? threads : nodes));
}

struct ChartBlock {
  int threads = 0;
  Place place = Place::kGlobal;
  std::size_t bytes = 0;        ///< Of shared memory.
  std::size_t blocks = 0;       ///< Of a launch for the batch.
  std::int64_t slot_bytes = 0;  ///< Of global memory per block.

  /// For a chart of entries of `scalar` bytes.
  ChartBlock(const Batch& batch, const Limits& limits, std::size_t scalar) {
    const int n = batch.max_n;
    const auto cells = [&](int squares) {
      return static_cast<std::size_t>(chart_cells(n, batch.single(), squares)) * scalar;
    };
    threads = std::clamp(chart_size(n, batch.single()) / kWarp * kWarp + kWarp, 64, 512);
    const std::size_t vectors = vector_bytes(n, threads);
    const std::size_t outer = cells(kChartSquares - kInsideSquares);
    if (vectors + cells(kInsideSquares) + outer <= limits.most_shared) {
      place = Place::kShared;
      bytes = vectors + cells(kInsideSquares) + outer;
    } else if (vectors + cells(kInsideSquares) <= limits.most_shared) {
      place = Place::kInsideShared;
      bytes = vectors + cells(kInsideSquares);
      slot_bytes = static_cast<std::int64_t>(outer);
    } else {
      bytes = vectors;
      slot_bytes = static_cast<std::int64_t>(cells(kInsideSquares) + outer);
    }
    // More blocks than a device runs at once would need slots of their own.
    const auto at_once = static_cast<std::size_t>(2 * limits.multiprocessors);
    blocks = slot_bytes == 0 ? batch.size : std::min(batch.size, at_once);
  }

  /// Memory for all slots.
  unsigned char* take(Arena& arena) const {
    return arena.take<unsigned char>(blocks * static_cast<std::size_t>(slot_bytes));
  }
};

/// Charts beyond the range of double are in slots of global memory (take_wide_slots()), with room
/// for a chart of Wide, one of Wide with derivatives, or the inside tables and weights of one of
/// entries of a divergence.
inline constexpr int kWideThreads = 128;
inline constexpr int kWideSquares = 8;
static_assert(kWideSquares * sizeof(detail::Wide) >=
              kChartSquares * sizeof(detail::Dual<detail::Wide>));
static_assert(kWideSquares * sizeof(detail::Wide) >=
              (kInsideSquares + 1) *
                  sizeof(detail::DivergenceEntry<detail::Divergence::kCrossEntropy>));

/// The two halves of a block's chart: the inside tables, and the others.
template <typename T, Place kPlace>
struct ChartMemory {
  T* inside;
  T* outside;

  __device__ ChartMemory(unsigned char* shared, unsigned char* slot, int n, bool single) {
    T* near = reinterpret_cast<T*>(shared);
    T* far = reinterpret_cast<T*>(slot);
    const std::int64_t cells = chart_cells(n, single, kInsideSquares);
    if constexpr (kPlace == Place::kShared) {
      inside = near;
      outside = near + cells;
    } else if constexpr (kPlace == Place::kInsideShared) {
      inside = near;
      outside = far;
    } else {
      inside = far;
      outside = far + cells;
    }
  }
};

/// run.operator()<kPlace>() for a place: kernels are compiled for each.
template <typename Run>
void for_place(Place place, Run&& run) {
  switch (place) {
    case Place::kShared:
      return run.template operator()<Place::kShared>();
    case Place::kInsideShared:
      return run.template operator()<Place::kInsideShared>();
    case Place::kGlobal:
      return run.template operator()<Place::kGlobal>();
  }
}

}  // namespace taproot::cuda::projective
