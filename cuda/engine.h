// SPDX-License-Identifier: Apache-2.0
//
// What a Cuda is made of: the device, its memory, and one function per kind of work that lays out
// the workspace, piece by piece where a batch is too large, and launches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "cuda/core/memory.h"
#include "cuda/core/transfer.h"
#include "cuda/eliminate/factors.h"
#include "cuda/eliminate/layout.h"
#include "cuda/query/inference.h"
#include "cuda/scores/batch.h"
#include "taproot/cuda.h"

namespace taproot {

namespace cuda {

/// What an object knows of its batch, in device memory.
struct Known {
  Summary summary;
  Factors factors;      ///< Kept; without weights there are none, and a piece makes its own.
  CudaEdges marginals;  ///< Kept; without data there are none.

  bool has_factors() const { return factors.weights != nullptr; }
};

/// What an inference is to find, for whom.
struct Wanted {
  bool reverse = false;
  double* log_partition = nullptr;
  double* entropy = nullptr;
  CudaEdges marginals = {};
};

}  // namespace cuda

struct Cuda::Impl {
  explicit Impl(Precision precision);
  ~Impl();

  cuda::Shape shape(int max_n, std::size_t scalar) const;
  /// The same with clusters of blocks where the memory of one is too small.
  cuda::Shape cluster_shape(int max_n, std::size_t scalar) const;
  /// Whether a block has room for the vectors of a sentence of so many words.
  bool fits(int max_n) const;

  /// Calls launch(piece, args) for pieces of the batch whose workspace fits the memory, with args =
  /// lay_out(arena, piece), whose workspace is from the arena. The pieces follow one another.
  template <typename LayOut, typename Launch>
  void in_pieces(const cuda::Batch& batch, void* stream, LayOut&& lay_out, Launch&& launch);

  /// Eliminates, and runs the reverse pass if wanted. Without kept factors it writes the summary
  /// alone.
  void eliminate(const cuda::Batch& batch, const cuda::Known& known, const cuda::Wanted& wanted,
                 void* stream);
  /// The reverse pass from kept factors.
  void reverse(const cuda::Batch& batch, const cuda::Known& known, const cuda::Wanted& wanted,
               void* stream);
  void hessian_product(const cuda::Batch& batch, const cuda::Known& known,
                       const ConstCudaEdges& direction, const CudaEdges& out, void* stream);
  void sample(const cuda::Batch& batch, const cuda::Known& known, int k, std::uint64_t seed,
              std::uint32_t first_tree, const CudaTreeBuffer& out, void* stream);
  void beam(const cuda::Batch& batch, int k, std::uint64_t seed, CudaOutcome* outcomes,
            const CudaWithoutReplacement& out, void* stream);

  Precision precision;
  int device = 0;
  std::size_t most_shared = 0;  ///< Bytes that a block may have.
  bool has_clusters = false;
  std::size_t workspace_limit = 0;  ///< Bytes; larger batches go piece by piece.
  cuda::DevicePool pool;
  cudaStream_t host_stream = nullptr;         ///< For batches in host memory.
  cuda::Staging staging;                      ///< The way of data from and to host memory.
  cuda::DeviceArray<std::uint64_t> counters;  ///< Fallbacks, exact laws.
  std::atomic<std::uint64_t> eliminations = 0;
  std::atomic<std::uint64_t> on_cpu = 0;
  std::uint64_t launched_before = 0;

 private:
  /// Elimination, reverse pass or both in the Cuda's precision; in float32 the sentences that its
  /// range does not fit are done again in double.
  void infer(cuda::InferenceArgs args, void* stream);
};

template <typename LayOut, typename Launch>
void Cuda::Impl::in_pieces(const cuda::Batch& batch, void* stream, LayOut&& lay_out,
                           Launch&& launch) {
  if (batch.size == 0) return;
  constexpr std::size_t kMost = 32768;  // A grid's second dimension has a limit.
  cuda::Arena one;
  lay_out(one, slice(batch, 0, 1));
  const std::size_t fitting = workspace_limit / std::max(one.used(), std::size_t{1});
  const std::size_t step = std::clamp(fitting, std::size_t{1}, kMost);
  for (std::size_t begin = 0; begin < batch.size; begin += step) {
    const cuda::Batch piece = slice(batch, begin, std::min(step, batch.size - begin));
    decltype(lay_out(one, piece)) args;
    const cuda::DeviceBlock workspace =
        cuda::take_block(pool, static_cast<cudaStream_t>(stream),
                         [&](cuda::Arena& arena) { args = lay_out(arena, piece); });
    launch(piece, args);
  }
}

/// Makes the Cuda's device the current one, and afterwards the one that was.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    TAPROOT_CUDA(cudaGetDevice(&before_));
    if (before_ != device) TAPROOT_CUDA(cudaSetDevice(device));
  }
  ~CurrentDevice() { cudaSetDevice(before_); }  // Nothing can be done about an error here.
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

struct CudaAccess {
  static const std::shared_ptr<Cuda::Impl>& impl(const Cuda& cuda) { return cuda.impl_; }
  /// Another Cuda with the same insides.
  static Cuda share(const Cuda& cuda) { return Cuda(cuda.impl_); }
};

}  // namespace taproot
