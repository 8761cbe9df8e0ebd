// SPDX-License-Identifier: Apache-2.0
//
// What a Cuda is made of: the device, its workspace, and one function for each operation that lays
// out the workspace and launches.
#pragma once

#include <cstdint>

#include "cuda/core/memory.h"
#include "cuda/eliminate/layout.h"
#include "cuda/scores/batch.h"
#include "taproot/batch.h"
#include "taproot/cuda.h"

namespace taproot {

struct Cuda::Impl {
  explicit Impl(Precision precision);

  cuda::Shape shape(int max_n, std::size_t scalar) const;
  /// The same, with clusters of blocks where one has too little memory.
  cuda::Shape cluster_shape(int max_n, std::size_t scalar) const;
  /// Whether a block has room for a sentence of so many words at all.
  bool fits(int max_n) const;
  /// Sentences that fit the workspace at so many bytes each; at least one.
  int sentences_at_once(std::size_t bytes_each, std::size_t size) const;
  unsigned char* workspace(std::size_t bytes) { return memory.resize(bytes); }

  void log_partition(const cuda::Batch& batch, cuda::DeviceOutcome* outcomes, double* log_z,
                     void* stream);
  void marginals(const cuda::Batch& batch, cuda::DeviceOutcome* outcomes, const CudaEdges& out,
                 const std::int64_t* offsets, double* log_z, void* stream);
  void hessian_product(const cuda::Batch& batch, const CudaEdges& direction,
                       cuda::DeviceOutcome* outcomes, const CudaEdges& out, void* stream);
  void sample(const cuda::Batch& batch, int k, std::uint64_t seed, std::uint32_t first_sentence,
              cuda::DeviceOutcome* outcomes, const CudaTrees& out, int width, void* stream);
  void beam(const cuda::Batch& batch, int k, std::uint64_t seed, std::uint32_t first_sentence,
            cuda::DeviceOutcome* outcomes, const CudaWithoutReplacement& out, int width,
            void* stream);

  Precision precision;
  int device = 0;
  std::size_t most_shared = 0;  ///< Bytes a block may have.
  bool has_clusters = false;
  std::size_t workspace_limit = 0;  ///< Bytes: larger batches go piece by piece.
  cuda::DeviceArray<unsigned char> memory;
  cuda::DeviceArray<unsigned char> transfer;  ///< What the host sends and fetches.
  cuda::DeviceArray<std::uint64_t> counters;  ///< Fallbacks, exact laws.
  CudaStatistics statistics;
  std::uint64_t launched_before = 0;
  Pool cpu{1};
};

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
  static Cuda::Impl& impl(Cuda& c) { return *c.impl_; }
};

namespace cuda {

/// Sentences [begin, begin + count) of a batch.
Batch slice(const Batch& batch, int begin, int count);
Batch batch_of(const CudaScores& scores);

}  // namespace cuda
}  // namespace taproot
