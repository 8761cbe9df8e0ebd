// SPDX-License-Identifier: Apache-2.0
//
// What an elimination leaves in device memory for the questions that come after it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "cuda/core/arena.h"
#include "cuda/scores/batch.h"

namespace taproot::cuda {

/// What a sentence's factors are made of.
inline constexpr std::int32_t kInFloat = 0;
inline constexpr std::int32_t kInDouble = 1;
inline constexpr std::int32_t kInWide = 2;  ///< Not kept: whatever needs them makes them again.

/// The small part, of the order of n per sentence: every object keeps it.
struct Summary {
  CudaOutcome* outcomes = nullptr;         ///< [size]
  std::int32_t* scalar = nullptr;          ///< [size]: kInFloat, kInDouble or kInWide.
  double* log_partition = nullptr;         ///< [size]
  double* scaled_log_partition = nullptr;  ///< [size]: log Z of the scaled weights.
  double* entropy = nullptr;               ///< [size], from the reverse pass; null: not wanted.
  /// [size] each: Z of the scaled weights, of sentences over Wide, as mantissa * 2^exponent.
  double* mantissa = nullptr;
  double* exponent = nullptr;
  double* scale = nullptr;  ///< [size][max_n+1]: exponents of the columns; at 0 the ROOT row's.
  /// [size][max_n+1]: p(0 -> m) at m - 1. It comes with the factors, or from the reverse pass if
  /// there are none or the rule is multi-root.
  double* root_law = nullptr;
};

/// The large part, of the order of n^2 per sentence.
struct Factors {
  const std::int64_t* offsets = nullptr;  ///< Where matrices begin; null: at b * (max_n+1)^2.
  std::int64_t matrices = 1;              ///< How many matrices the weights have room for.
  /// Scaled, by word: [head][modifier], rows of n + 1. Of projective trees: two matrices, with the
  /// inside tables of the chart and, behind them, ROOT's weights (cuda/projective/infer.cu).
  double* weights = nullptr;
  /// By position as in src/eliminate/factor_data.h: [modifier][head], rows of n + 1. Null: not
  /// wanted, and then there are no pivots and no order either.
  double* factors = nullptr;
  double* pivots = nullptr;       ///< [size][max_n+1]
  std::int32_t* order = nullptr;  ///< [size][max_n+1]: the node at each position.

  TAPROOT_HOST_DEVICE std::int64_t at(int b, std::int64_t nodes) const {
    return matrices * (offsets == nullptr ? b * nodes * nodes : offsets[b]);
  }
};

inline Summary take_summary(Arena& arena, const Batch& batch) {
  const std::size_t vectors = batch.size * static_cast<std::size_t>(batch.nodes());
  Summary s;
  s.outcomes = arena.take<CudaOutcome>(batch.size);
  s.scalar = arena.take<std::int32_t>(batch.size);
  for (double** values :
       {&s.log_partition, &s.scaled_log_partition, &s.entropy, &s.mantissa, &s.exponent}) {
    *values = arena.take<double>(batch.size);
  }
  for (double** values : {&s.scale, &s.root_law}) *values = arena.take<double>(vectors);
  return s;
}

/// Without offsets the matrices are as large as that of the longest sentence.
inline Factors take_factors(Arena& arena, const Batch& batch, bool with_offsets,
                            bool with_factors) {
  const auto nodes = static_cast<std::size_t>(batch.nodes());
  const std::size_t cells = with_offsets ? batch.cells : batch.size * nodes * nodes;
  Factors f;
  f.offsets = with_offsets ? batch.offsets : nullptr;
  if (batch.family == TreeFamily::kProjective) {
    f.matrices = 2;
    if (with_factors) f.weights = arena.take<double>(2 * cells);
    return f;
  }
  f.weights = arena.take<double>(cells);
  if (!with_factors) return f;
  f.factors = arena.take<double>(cells);
  f.pivots = arena.take<double>(batch.size * nodes);
  f.order = arena.take<std::int32_t>(batch.size * nodes);
  return f;
}

/// Those of a piece of the batch.
inline Summary slice(const Summary& summary, const Batch& piece) {
  const std::size_t vectors = piece.first * static_cast<std::size_t>(piece.nodes());
  Summary s = summary;
  s.outcomes += piece.first;
  s.scalar += piece.first;
  s.log_partition += piece.first;
  s.scaled_log_partition += piece.first;
  if (s.entropy != nullptr) s.entropy += piece.first;
  s.mantissa += piece.first;
  s.exponent += piece.first;
  s.scale += vectors;
  s.root_law += vectors;
  return s;
}
inline Factors slice(const Factors& factors, const Batch& piece) {
  const auto nodes = static_cast<std::size_t>(piece.nodes());
  Factors f = factors;
  const std::size_t cells = f.offsets != nullptr ? 0 : piece.first * nodes * nodes;
  if (f.offsets != nullptr) f.offsets += piece.first;
  f.weights += static_cast<std::size_t>(f.matrices) * cells;
  if (f.factors == nullptr) return f;
  f.factors += cells;
  f.pivots += piece.first * nodes;
  f.order += piece.first * nodes;
  return f;
}

}  // namespace taproot::cuda
