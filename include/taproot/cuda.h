// SPDX-License-Identifier: Apache-2.0
//
// The library on a GPU. A Cuda takes the place of a Pool: the same functions, whole batches at
// once, resident on the device. docs/cuda.md says what agrees with the CPU bit for bit.
//
// Where there is no CUDA, in the build or on the machine, making a Cuda throws std::runtime_error;
// nothing runs on the CPU instead. What cannot be done within double's range on the device (see
// docs/numerics.md) is done on the CPU, sentence by sentence, and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "taproot/query.h"
#include "taproot/sample.h"
#include "taproot/scores.h"
#include "taproot/types.h"
#include "taproot/without_replacement.h"

namespace taproot {

/// Whether this build has CUDA and this machine a device for it.
TAPROOT_API bool cuda_available();
/// What it is called, or why there is none.
TAPROOT_API std::string cuda_description();

/// Of the arithmetic on the device. float32 keeps relative accuracy where nothing is subtracted
/// (log_partition, sample, sample_without_replacement); what its range does not fit is done in
/// float64. Its beams take a fraction of the memory, and are slower: docs/cuda.md.
enum class Precision : std::uint8_t { kFloat64, kFloat32 };

/// What a Cuda has done so far.
struct CudaStatistics {
  std::uint64_t launches = 0;   ///< Kernels.
  std::uint64_t on_cpu = 0;     ///< Sentences that double's range did not fit.
  std::uint64_t fallbacks = 0;  ///< Trees by elimination, their walk given up.
  std::uint64_t exact = 0;      ///< Laws of beams that were found by contraction in float64.
};

/// Scores in device memory: a padded array of any strides, counted in elements.
struct CudaScores {
  const void* data = nullptr;
  bool is_double = true;  ///< else float
  std::size_t size = 0;
  int max_n = 0;
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t head_stride = 0;
  std::ptrdiff_t modifier_stride = 1;
  const std::int32_t* lengths = nullptr;  ///< In device memory, 0..max_n; null: all are max_n.
  RootRule root = RootRule::kSingle;
};

/// A matrix for every sentence in device memory, float64 or float32. Cells beyond a sentence's
/// length are left alone.
struct CudaEdges {
  void* data = nullptr;
  bool is_double = true;
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t head_stride = 0;
  std::ptrdiff_t modifier_stride = 1;
};

/// Trees in device memory: tree s of sentence b at heads + b sentence_stride + s tree_stride, max_n
/// heads, -1 beyond the sentence's length and where there is no tree.
struct CudaTrees {
  std::int32_t* heads = nullptr;
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t tree_stride = 0;
};

/// A sentence's outcome in device memory: a Status as a number, or kCudaOutOfRange: the sentence
/// has an answer, but not in double; ask the CPU. For bad_score its cell.
struct CudaOutcome {
  std::int32_t status;
  std::int32_t head;
  std::int32_t modifier;
};
inline constexpr std::int32_t kCudaOutOfRange = 100;

/// Where a beam's results go, all in device memory: [size][k] and [size].
struct CudaWithoutReplacement {
  CudaTrees trees;
  double* log_prob = nullptr;
  double* gumbel = nullptr;
  double* kappa = nullptr;        ///< kappa; -inf: these are all the trees there are
  std::int32_t* count = nullptr;  ///< Trees of each sentence.
};

/// A GPU with memory that is reused from call to call; it is the device that is current when it is
/// made. Not for two callers at once. Moved from, it may only be assigned to or destroyed.
///
/// CUDA errors throw std::runtime_error.
class TAPROOT_API Cuda {
 public:
  explicit Cuda(Precision precision = Precision::kFloat64);
  ~Cuda();
  Cuda(Cuda&&) noexcept;
  Cuda& operator=(Cuda&&) noexcept;

  Precision precision() const;
  /// Waits for the device.
  CudaStatistics statistics() const;

  // On the caller's memory and stream (a cudaStream_t; null is the default stream): asynchronous,
  // but for growing the workspace, which all calls share: those on different streams must not run
  // at the same time. Outcomes have one entry a sentence. Answers of sentences that
  // are not ok are left as they were.

  void log_partition(const CudaScores& scores, CudaOutcome* outcomes, double* out, void* stream);
  /// `log_z` may be null.
  void marginals(const CudaScores& scores, CudaOutcome* outcomes, const CudaEdges& out,
                 double* log_z, void* stream);
  /// As hessian_product() of taproot/query.h: the derivative of the marginals along `direction`,
  /// which is only read, and whose values at edges that are forbidden are ignored. NaN if one of
  /// the others is not finite, also where no tree has that edge. Always float64.
  void hessian_product(const CudaScores& scores, const CudaEdges& direction, CudaOutcome* outcomes,
                       const CudaEdges& out, void* stream);
  /// k trees a sentence by Algorithm::kAuto; those of sentence b and sample s are the CPU's.
  void sample(const CudaScores& scores, std::size_t k, std::uint64_t seed, CudaOutcome* outcomes,
              const CudaTrees& out, void* stream, std::uint32_t first_sentence = 0);
  /// k trees a sentence by WithoutReplacementAlgorithm::kBeam. At most 1023 words; kCudaOutOfRange
  /// beyond.
  void sample_without_replacement(const CudaScores& scores, std::size_t k, std::uint64_t seed,
                                  CudaOutcome* outcomes, const CudaWithoutReplacement& out,
                                  void* stream, std::uint32_t first_sentence = 0);

  struct Impl;

 private:
  friend struct CudaAccess;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taproot
