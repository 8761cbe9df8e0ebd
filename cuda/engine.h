// SPDX-License-Identifier: Apache-2.0
//
// What a Cuda is made of: the device, its memory, and one function per kind of work that lays out
// the workspace, piece by piece where a batch is too large, and launches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "cuda/core/memory.h"
#include "cuda/core/transfer.h"
#include "cuda/eliminate/factors.h"
#include "cuda/eliminate/limits.h"
#include "cuda/query/infer.h"
#include "cuda/sample/sample.h"
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

/// An elimination, unless its factors are there already, and trees from it.
struct SampleQuestion {
  InferenceArgs infer;
  SampleArgs sample;
};

/// What an inference is to find, for whom.
struct Wanted {
  bool eliminate = true;  ///< Else the factors are kept already.
  bool reverse = false;
  CudaNumbers log_partition = {};
  CudaNumbers entropy = {};
  CudaEdges marginals = {};
  std::size_t first = 0;  ///< The sentence that this memory begins with.
};

}  // namespace cuda

struct Cuda::Impl {
  explicit Impl(Precision precision);
  ~Impl();

  /// Calls launch(piece, args) for pieces of the batch whose workspace fits the memory, with args =
  /// lay_out(arena, piece), whose workspace is from the arena. The pieces follow one another.
  template <typename LayOut, typename Launch>
  void in_pieces(const cuda::Batch& batch, void* stream, LayOut&& lay_out, Launch&& launch);

  /// Eliminates and runs the reverse pass, whichever is wanted. Without kept factors it writes the
  /// summary alone.
  void infer(const cuda::Batch& batch, const cuda::Known& known, const cuda::Wanted& wanted,
             void* stream);
  void hessian_product(const cuda::Batch& batch, const cuda::Known& known,
                       const ConstCudaEdges& direction, const CudaEdges& out, void* stream);
  void sample(const cuda::Batch& batch, const cuda::Known& known, int k, std::uint64_t seed,
              std::uint32_t first_tree, CudaOutcome* outcomes, const CudaHeadBuffer& out,
              void* stream);
  /// Without replacement, by skipping repeats.
  void skip(const cuda::Batch& batch, const cuda::Known& known, int k, std::uint64_t seed,
            CudaOutcome* outcomes, const CudaWithoutReplacement& out, void* stream);
  void beam(const cuda::Batch& batch, int k, std::uint64_t seed, CudaOutcome* outcomes,
            const CudaWithoutReplacement& out, void* stream);

  Precision precision;
  int device = 0;
  cuda::Limits limits;
  std::size_t workspace_limit = 0;  ///< Bytes; larger batches go piece by piece.
  cuda::DevicePool pool;
  cudaStream_t host_stream = nullptr;  ///< For batches in host memory.
  cuda::Staging staging;               ///< The way of data from and to host memory.
  std::unique_ptr<std::uint64_t, cuda::CudaFree> counters;  ///< Fallbacks, exact laws; on device.
  std::atomic<std::uint64_t> eliminations = 0;
  std::atomic<std::uint64_t> on_cpu = 0;
  std::uint64_t launched_before = 0;

 private:
  /// The memory for k trees of each sentence of a piece, but not that of the trees. `outcomes`, of
  /// the whole batch, may be null.
  cuda::SampleQuestion take_sample(cuda::Arena& arena, const cuda::Batch& piece,
                                   const cuda::Known& known, int k, std::uint64_t seed,
                                   CudaOutcome* outcomes);
  void launch(const cuda::SampleQuestion& question, const cuda::Known& known, void* stream);
  /// In the Cuda's precision.
  void launch(const cuda::InferenceArgs& args, void* stream);
};

template <typename LayOut, typename Launch>
void Cuda::Impl::in_pieces(const cuda::Batch& batch, void* stream, LayOut&& lay_out,
                           Launch&& launch) {
  if (batch.size == 0) return;
  constexpr std::size_t kMost = 32768;  // A grid's second dimension has a limit.
  const auto fits_memory = [&](std::size_t count) {
    cuda::Arena arena;
    lay_out(arena, slice(batch, 0, count));
    return arena.used() <= workspace_limit;
  };
  std::size_t step = std::min(batch.size, kMost);
  if (!fits_memory(step)) {
    std::size_t too_many = step;
    step = 1;
    while (step + 1 < too_many) {
      const std::size_t middle = (step + too_many) / 2;
      (fits_memory(middle) ? step : too_many) = middle;
    }
  }
  for (std::size_t begin = 0; begin < batch.size; begin += step) {
    const cuda::Batch piece = slice(batch, begin, std::min(step, batch.size - begin));
    decltype(lay_out(std::declval<cuda::Arena&>(), piece)) args;
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
