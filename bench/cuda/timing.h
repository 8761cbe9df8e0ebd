// SPDX-License-Identifier: Apache-2.0
//
// Batches, clocks and rows of the table that cuda_bench prints.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "taproot/taproot.h"
#include "testing/device_array.h"

namespace taproot::bench {

// Datasheet rates of an H200: bytes per second, and multiply-adds of float64 and float32.
inline constexpr double kBytes = 4.8e12;
inline constexpr double kDoubleFma = 33.5e12 / 2;
inline constexpr double kFloatFma = 67e12 / 2;

inline int failures = 0;

inline std::vector<double> uniform_weights(int n, std::size_t batch) {
  const auto side = static_cast<std::size_t>(n) + 1;
  std::vector<double> scores(batch * side * side);
  std::uint64_t state = 12345;
  for (double& s : scores) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    s = std::log((static_cast<double>(state >> 11) + 0.5) * 0x1p-53);
  }
  return scores;
}

// A batch of equal lengths on the host and on the device.
struct Data {
  int n;
  std::size_t batch;
  std::vector<double> host;
  DeviceArray<double> device;

  Data(int words, std::size_t sentences)
      : n(words), batch(sentences), host(uniform_weights(words, sentences)) {
    TAPROOT_CUDA(cudaMemcpy(device.resize(host.size()), host.data(), host.size() * sizeof(double),
                            cudaMemcpyHostToDevice));
  }
  std::size_t side() const { return static_cast<std::size_t>(n) + 1; }
  CudaScores scores() const {
    CudaScores s;
    s.data = device.data();
    s.size = batch;
    s.max_n = n;
    s.sentence_stride = static_cast<std::ptrdiff_t>(side() * side());
    s.head_stride = n + 1;
    return s;
  }
  std::vector<ScoreView> on_host() const {
    std::vector<ScoreView> views;
    for (std::size_t b = 0; b < batch; ++b) {
      views.emplace_back(host.data() + b * side() * side(), n);
    }
    return views;
  }
};

inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

// Median milliseconds of run(), by events.
inline double time_device(const std::function<void()>& run, int repeats = 21) {
  const int warm = repeats > 1 ? 3 : 0;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  TAPROOT_CUDA(cudaEventCreate(&begin));
  TAPROOT_CUDA(cudaEventCreate(&end));
  std::vector<double> times;
  for (int i = 0; i < repeats + warm; ++i) {
    TAPROOT_CUDA(cudaEventRecord(begin, nullptr));
    run();
    TAPROOT_CUDA(cudaEventRecord(end, nullptr));
    TAPROOT_CUDA(cudaEventSynchronize(end));
    float ms = 0;
    TAPROOT_CUDA(cudaEventElapsedTime(&ms, begin, end));
    if (i >= warm) times.push_back(static_cast<double>(ms));
  }
  TAPROOT_CUDA(cudaEventDestroy(begin));
  TAPROOT_CUDA(cudaEventDestroy(end));
  return median(times);
}

inline double time_host(const std::function<void()>& run, int repeats) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    times.push_back(taken.count());
  }
  return median(times);
}

template <typename T>
std::vector<T> fetch(const T* from, std::size_t size) {
  std::vector<T> to(size);
  TAPROOT_CUDA(cudaMemcpy(to.data(), from, size * sizeof(T), cudaMemcpyDeviceToHost));
  return to;
}

inline void row(const std::string& what, double ms, double target, double bytes, double fma,
                double fma_rate, const std::string& note) {
  const double byte_floor = bytes / kBytes * 1e3;
  const double fma_floor = fma / fma_rate * 1e3;
  std::printf("%-38s %9.4f %9s %10.4f %10.4f  %s\n", what.c_str(), ms,
              target > 0 ? std::to_string(target).substr(0, 6).c_str() : "-", byte_floor, fma_floor,
              note.c_str());
  std::fflush(stdout);
}

inline void expect(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::printf("WRONG: %s\n", what.c_str());
}

}  // namespace taproot::bench
