// SPDX-License-Identifier: Apache-2.0
#include "on_cuda.h"

#include <map>
#include <mutex>

namespace taproot::python::jax {

void check_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string("[taproot.jax] CUDA: ") + cudaGetErrorString(error));
}

void* CudaCall::scratch(std::size_t bytes) const {
  constexpr std::uintptr_t kAlignment = 256;  // XLA promises 16.
  const std::optional<void*> memory = allocator_.Allocate(bytes + kAlignment);
  if (!memory) {
    throw std::runtime_error("[taproot.jax] the device has no " + std::to_string(bytes) +
                             " bytes of memory left");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(*memory);
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

void CudaCall::fill(void* memory, int byte, std::size_t bytes) const {
  if (bytes > 0) check_cuda(cudaMemsetAsync(memory, byte, bytes, stream_));
}

void CudaCall::fill(const ffi::AnyBuffer& buffer, int byte) const {
  fill(buffer.untyped_data(), byte, buffer.size_bytes());
}

void CudaCall::lose() const {
  for (std::size_t i = 0; i < results(); ++i) fill(result(i), 0xff);
}

Cuda& cuda_of(Precision precision) {
  static std::mutex mutex;
  // Never destroyed: the driver may be gone when the process ends.
  static auto* const devices = new std::map<std::pair<int, Precision>, Cuda>;
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  const auto [at, added] = devices->try_emplace({device, precision}, precision);
  return at->second;
}

CudaScores scores_of(const Batch& batch) {
  CudaInference question;
  CudaScores& scores = question.scores;
  scores.data = batch.scores;
  scores.is_double = batch.is_double;
  scores.size = batch.size;
  scores.max_n = static_cast<int>(batch.row());
  scores.sentence_stride = static_cast<std::ptrdiff_t>(batch.cells());
  scores.head_stride = static_cast<std::ptrdiff_t>(batch.side);
  scores.lengths = batch.words;
  scores.root = batch.root;
  scores.family = batch.family;
  static_cast<void>(cuda_inference_bytes(question));  // Throws if they do not fit the device.
  return scores;
}

}  // namespace taproot::python::jax
