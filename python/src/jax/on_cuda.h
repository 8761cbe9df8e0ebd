// SPDX-License-Identifier: Apache-2.0
//
// What the handlers for CUDA devices share. They work on XLA's stream, with memory from XLA or, for
// questions of CudaDependencyTrees, from a Cuda that is kept for each device.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "call.h"
#include "taproot/cuda.h"

namespace taproot::python::jax {

/// Throws unless the CUDA runtime succeeded.
void check_cuda(cudaError_t error);

class CudaCall : public Call {
 public:
  CudaCall(ffi::RemainingArgs operands, ffi::RemainingRets results, ffi::Dictionary attributes,
           cudaStream_t stream, ffi::ScratchAllocator& allocator)
      : Call(operands, results, attributes), stream_(stream), allocator_(allocator) {}

  cudaStream_t stream() const { return stream_; }

  /// Device memory until the end of the call, in the order of the stream, aligned to 256 bytes.
  /// Never null.
  void* scratch(std::size_t bytes) const;
  template <typename T>
  T* scratch_of(std::size_t count) const {
    return static_cast<T*>(scratch(count * sizeof(T)));
  }

  /// Sets all bytes: 0 is the number 0, 0xff is NaN in floating point and -1 in integers.
  void fill(void* memory, int byte, std::size_t bytes) const;
  void fill(const ffi::AnyBuffer& buffer, int byte) const;
  /// NaN and -1 for all results: those of sentences without words.
  void lose() const;

  /// Numbers from device memory; waits for the stream.
  template <typename T>
  std::vector<T> to_host(const T* from, std::size_t count) const {
    std::vector<T> to(count);
    check_cuda(
        cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    check_cuda(cudaStreamSynchronize(stream_));
    return to;
  }
  /// The same the other way. CUDA copies from memory like this before it returns.
  template <typename T>
  void to_device(const std::vector<T>& from, T* to) const {
    check_cuda(
        cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }

 private:
  cudaStream_t stream_;
  ffi::ScratchAllocator& allocator_;
};

/// kAnswer as a handler on a CUDA device.
template <void (*kAnswer)(const CudaCall&, const Batch&)>
XLA_FFI_Error* on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto* const handler =
      ffi::Ffi::Bind()
          .Ctx<ffi::PlatformStream<cudaStream_t>>()
          .Ctx<ffi::ScratchAllocator>()
          .RemainingArgs()
          .RemainingRets()
          .Attrs()
          .To([](cudaStream_t stream, ffi::ScratchAllocator allocator, ffi::RemainingArgs operands,
                 ffi::RemainingRets results, ffi::Dictionary attributes) {
            return guarded([&] {
              const CudaCall call(operands, results, attributes, stream, allocator);
              kAnswer(call, batch_of(call));
            });
          })
          .release();
  return handler->Call(frame);
}

/// The one of the current device, which is the stream's while XLA calls.
Cuda& cuda_of(Precision precision);

inline Precision precision_of(const Batch& batch) {
  return batch.is_double ? Precision::kFloat64 : Precision::kFloat32;
}

/// Throws if the sentences may be longer than the device has room for.
CudaScores scores_of(const Batch& batch);

/// A matrix per sentence of the batch.
template <typename Edges>
Edges edges_of(const Batch& batch, const ffi::AnyBuffer& buffer) {
  Edges edges;
  edges.data = buffer.untyped_data();
  edges.is_double = holds_doubles(buffer);
  edges.sentence_stride = static_cast<std::ptrdiff_t>(batch.cells());
  edges.head_stride = static_cast<std::ptrdiff_t>(batch.side);
  return edges;
}

/// Where answers in float64 go: a result, or memory from which finish() rounds to a result in
/// float32. At first all bytes are `byte`, because sentences without an answer are left alone.
class DeviceNumbers {
 public:
  DeviceNumbers(const CudaCall& call, const ffi::AnyBuffer& result, int byte)
      : call_(call), result_(result), is_double_(holds_doubles(result)) {
    const std::size_t bytes = result.element_count() * sizeof(double);
    data_ = static_cast<double*>(is_double_ ? result.untyped_data() : call.scratch(bytes));
    call.fill(data_, byte, bytes);
  }

  double* data() const { return data_; }
  void finish() const {
    if (is_double_) return;
    cuda_round(data_, result_.element_count(), result_.typed_data<float>(), call_.stream());
  }

 private:
  const CudaCall& call_;
  ffi::AnyBuffer result_;
  bool is_double_;
  double* data_;
};

}  // namespace taproot::python::jax
