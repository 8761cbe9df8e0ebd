// SPDX-License-Identifier: Apache-2.0
//
// Device memory and streams, for tests that are a caller with memory of its own.
#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "taproot/cuda.h"
#include "testing/device_array.h"
#include "testing/families.h"

namespace taproot {

class CudaStream {
 public:
  CudaStream() { TAPROOT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~CudaStream() { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  void* get() const { return stream_; }
  void wait() const { TAPROOT_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

template <typename T>
void send(DeviceArray<T>& to, const std::vector<T>& from) {
  TAPROOT_CUDA(cudaMemcpy(to.resize(from.size()), from.data(), from.size() * sizeof(T),
                          cudaMemcpyHostToDevice));
}
template <typename T>
std::vector<T> fetch(const DeviceArray<T>& from, std::size_t size) {
  std::vector<T> to(size);
  TAPROOT_CUDA(cudaMemcpy(to.data(), from.data(), size * sizeof(T), cudaMemcpyDeviceToHost));
  return to;
}

/// A padded batch, modifiers first (a transposed view), with NaN in the padding; the last sentence
/// has no tree.
template <typename T>
struct Padded {
  static constexpr int kMost = 40;
  static constexpr std::size_t kSide = kMost + 3;  // Rows longer than they need be.
  std::vector<oracle::Problem> problems;
  std::vector<std::int32_t> lengths;
  DeviceArray<T> data;
  DeviceArray<std::int32_t> device_lengths;
  DeviceArray<std::uint64_t> ids;

  Padded() {
    for (const int n : {40, 1, 17, 33}) problems.push_back(oracle::gaussian(n, 2, 7));
    problems.push_back(oracle::sparse(12, 0.05, 1));
    std::vector<T> cells(size() * kSide * kSide, static_cast<T>(NAN));
    for (std::size_t b = 0; b < size(); ++b) {
      oracle::Problem& p = problems[b];
      lengths.push_back(p.n);
      for (int h = 0; h <= p.n; ++h) {
        for (int m = 0; m <= p.n; ++m) {
          double& s = p.scores[static_cast<std::size_t>(h * (p.n + 1) + m)];
          s = static_cast<double>(static_cast<T>(s));
          cells[(b * kSide + static_cast<std::size_t>(m)) * kSide + static_cast<std::size_t>(h)] =
              static_cast<T>(s);
        }
      }
    }
    std::vector<std::uint64_t> numbers;
    for (std::size_t b = 0; b < size(); ++b) numbers.push_back(id(b));
    send(data, cells);
    send(device_lengths, lengths);
    send(ids, numbers);
  }

  std::size_t size() const { return problems.size(); }
  static std::uint64_t id(std::size_t b) { return (std::uint64_t{5} << 32) + b; }
  CudaScores scores(RootRule root) const {
    CudaScores s;
    s.data = data.data();
    s.is_double = sizeof(T) == sizeof(double);
    s.size = size();
    s.max_n = kMost;
    s.sentence_stride = kSide * kSide;
    s.head_stride = 1;
    s.modifier_stride = kSide;
    s.lengths = device_lengths.data();
    s.ids = ids.data();
    s.root = root;
    return s;
  }
};

}  // namespace taproot
