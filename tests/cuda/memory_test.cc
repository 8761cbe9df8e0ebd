// SPDX-License-Identifier: Apache-2.0
//
// The caller's device memory and stream: float32 and float64, padding, strides, lengths.
#include <cuda_runtime_api.h>

#include <cmath>

#include "cuda/core/cuda_check.h"
#include "cuda/core/memory.h"
#include "cuda/on_device.h"
#include "testing/families.h"

namespace taproot {
namespace {

using cuda::DeviceArray;
using oracle::Problem;

class Stream {
 public:
  Stream() { TAPROOT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
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

// A padded batch, modifiers first (a transposed view), NaN in the padding.
template <typename T>
struct Padded {
  static constexpr int kMost = 40;
  static constexpr std::size_t kSide = kMost + 3;  // Rows longer than they need be.
  std::vector<Problem> problems;
  std::vector<std::int32_t> lengths;
  DeviceArray<T> data;
  DeviceArray<std::int32_t> device_lengths;
  DeviceArray<CudaOutcome> outcomes;

  Padded() {
    for (const int n : {40, 1, 17, 33}) problems.push_back(oracle::gaussian(n, 2, 7));
    problems.push_back(oracle::sparse(12, 0.05, 1));  // No tree.
    std::vector<T> cells(problems.size() * kSide * kSide, static_cast<T>(NAN));
    for (std::size_t b = 0; b < problems.size(); ++b) {
      Problem& p = problems[b];
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
    send(data, cells);
    send(device_lengths, lengths);
    outcomes.resize(problems.size());
  }

  CudaScores scores(RootRule root) const {
    CudaScores s;
    s.data = data.data();
    s.is_double = sizeof(T) == sizeof(double);
    s.size = problems.size();
    s.max_n = kMost;
    s.sentence_stride = kSide * kSide;
    s.head_stride = 1;
    s.modifier_stride = kSide;
    s.lengths = device_lengths.data();
    s.root = root;
    return s;
  }
};

template <typename T>
void expect_marginals(RootRule root) {
  Padded<T> batch;
  Cuda cuda;
  Stream stream;
  const std::size_t cells = batch.problems.size() * Padded<T>::kSide * Padded<T>::kSide;
  DeviceArray<T> out;
  DeviceArray<double> log_z;
  send(out, std::vector<T>(cells, static_cast<T>(-7)));
  send(log_z, std::vector<double>(batch.problems.size(), -7));
  CudaEdges edges;
  edges.data = out.data();
  edges.is_double = sizeof(T) == sizeof(double);
  edges.sentence_stride = Padded<T>::kSide * Padded<T>::kSide;
  edges.head_stride = Padded<T>::kSide;
  cuda.marginals(batch.scores(root), batch.outcomes.data(), edges, log_z.data(), stream.get());
  stream.wait();
  const auto outcomes = fetch(batch.outcomes, batch.problems.size());
  const auto found = fetch(out, cells);
  const auto found_z = fetch(log_z, batch.problems.size());
  for (std::size_t b = 0; b < batch.problems.size(); ++b) {
    const Problem& p = batch.problems[b];
    const Factorization f = eliminate({p.scores.data(), p.n}, root);
    ASSERT_EQ(outcomes[b].status, static_cast<int>(f.outcome().status)) << b;
    if (!f.outcome().ok()) {
      EXPECT_EQ(found_z[b], -7);
      continue;
    }
    EXPECT_NEAR(found_z[b], log_partition(f), 1e-12 * std::max(1.0, std::abs(found_z[b])));
    const auto exact = marginals(f);
    const auto side = static_cast<std::size_t>(p.n) + 1;
    for (std::size_t h = 0; h < Padded<T>::kSide; ++h) {
      for (std::size_t m = 0; m < Padded<T>::kSide; ++m) {
        const auto x =
            static_cast<double>(found[(b * Padded<T>::kSide + h) * Padded<T>::kSide + m]);
        if (h < side && m < side) {
          EXPECT_NEAR(x, exact[h * side + m], sizeof(T) == 4 ? 1e-7 : 1e-13);
        } else {
          EXPECT_EQ(x, -7) << "the padding was written";
        }
      }
    }
  }
}

// The Hessian times a vector, of a padded batch along a transposed direction, is the CPU's.
template <typename T>
void expect_hessian(RootRule root) {
  constexpr std::size_t kSide = Padded<T>::kSide;
  Padded<T> batch;
  Cuda cuda;
  Stream stream;
  const std::size_t cells = batch.problems.size() * kSide * kSide;
  std::vector<T> direction(cells);  // [b][m][h]
  for (std::size_t i = 0; i < cells; ++i) {
    direction[i] = static_cast<T>(100 * std::sin(static_cast<double>(i)));
  }
  DeviceArray<T> along;
  DeviceArray<double> out;
  send(along, direction);
  send(out, std::vector<double>(cells, -7));
  const CudaEdges from{along.data(), sizeof(T) == sizeof(double), kSide * kSide, 1, kSide};
  const CudaEdges to{out.data(), true, kSide * kSide, kSide, 1};
  cuda.hessian_product(batch.scores(root), from, batch.outcomes.data(), to, stream.get());
  stream.wait();
  const auto outcomes = fetch(batch.outcomes, batch.problems.size());
  const auto found = fetch(out, cells);
  for (std::size_t b = 0; b < batch.problems.size(); ++b) {
    const Problem& p = batch.problems[b];
    const Factorization f = eliminate({p.scores.data(), p.n}, root);
    ASSERT_EQ(outcomes[b].status, static_cast<int>(f.outcome().status)) << b;
    if (!f.outcome().ok()) continue;
    const auto side = static_cast<std::size_t>(p.n) + 1;
    std::vector<double> values(side * side);
    for (std::size_t h = 0; h < side; ++h) {
      for (std::size_t m = 0; m < side; ++m) {
        values[h * side + m] = static_cast<double>(direction[(b * kSide + m) * kSide + h]);
      }
    }
    const auto exact = hessian_product(f, values);
    for (std::size_t h = 0; h < kSide; ++h) {
      for (std::size_t m = 0; m < kSide; ++m) {
        const double x = found[(b * kSide + h) * kSide + m];
        if (h < side && m < side) {
          EXPECT_NEAR(x, exact[h * side + m], 100 * 0x1p-52 * static_cast<double>(side))
              << "sentence " << b << ' ' << h << ' ' << m;
        } else {
          EXPECT_EQ(x, -7) << "the padding was written";
        }
      }
    }
  }
}

class CudaMemory : public OnDevice {};

TEST_F(CudaMemory, HessianProduct) {
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    expect_hessian<double>(root);
    expect_hessian<float>(root);
  }
}

// Of all families, and of matrices that shared memory cannot hold: against the CPU, and where the
// direction is not finite NaN, for that sentence alone.
TEST_F(CudaMemory, HessianProductOfFamilies) {
  std::vector<Problem> problems;
  std::uint64_t seed = 60;
  for (const int n : lengths({1, 2, 9, 40, 90, 200}, 40)) {
    problems.push_back(oracle::gaussian(n, 2, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 12, ++seed));
    problems.push_back(oracle::sparse(n, 0.6, ++seed));
    problems.push_back(oracle::heavy_tailed(n, ++seed));
    problems.push_back(oracle::gaussian(n, 1, ++seed));
  }
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    double worst = 0;
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Problem& p = problems[i];
      const auto side = static_cast<std::size_t>(p.n) + 1;
      std::vector<double> direction = p.scores;  // As for the entropy's gradient.
      const bool broken = i % 5 == 4 && p.n > 1;
      if (broken) direction[side + 2] = HUGE_VAL;
      DeviceArray<double> scores;
      DeviceArray<double> along;
      DeviceArray<double> out;
      DeviceArray<CudaOutcome> outcome;
      send(scores, p.scores);
      send(along, direction);
      out.resize(side * side);
      Cuda cuda;
      CudaScores in;
      in.data = scores.data();
      in.size = 1;
      in.max_n = p.n;
      in.head_stride = p.n + 1;
      in.root = root;
      const CudaEdges from{along.data(), true, 0, p.n + 1, 1};
      const CudaEdges to{out.data(), true, 0, p.n + 1, 1};
      cuda.hessian_product(in, from, outcome.resize(1), to, nullptr);
      const Factorization f = eliminate({p.scores.data(), p.n}, root);
      const CudaOutcome status = fetch(outcome, 1)[0];
      const auto found = fetch(out, side * side);
      if (!f.outcome().ok() || status.status == kCudaOutOfRange) continue;
      ASSERT_EQ(status.status, 0);
      if (broken) {
        for (const double x : found) EXPECT_TRUE(std::isnan(x));
        continue;
      }
      double largest = 0;
      for (double& v : direction) {
        if (v == -HUGE_VAL) v = 0;
        largest = std::max(largest, std::abs(v));
      }
      const auto exact = hessian_product(f, direction);
      for (std::size_t c = 0; c < exact.size(); ++c) {
        worst = std::max(
            worst, std::abs(found[c] - exact[c]) / (largest * 0x1p-52 * static_cast<double>(side)));
      }
      expect_ran(cuda);
    }
    EXPECT_LE(worst, 4);
    std::printf("within %.2g of (n+1) 2^-52 max|v|\n", worst);
  }
}

TEST_F(CudaMemory, Marginals) {
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    expect_marginals<double>(root);
    expect_marginals<float>(root);
  }
}

// Trees of a padded float32 batch are those of the CPU, -1 beyond a sentence.
TEST_F(CudaMemory, Trees) {
  constexpr std::size_t kTrees = 20;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    Padded<float> batch;
    Cuda cuda;
    Stream stream;
    const std::size_t size = batch.problems.size();
    const std::size_t width = Padded<float>::kMost;
    DeviceArray<std::int32_t> heads;
    DeviceArray<std::int32_t> beams;
    DeviceArray<std::int32_t> count;
    DeviceArray<double> numbers;
    heads.resize(size * kTrees * width);
    count.resize(size);
    numbers.resize(2 * size * kTrees + size);
    const CudaTrees trees{heads.data(), kTrees * width, width};
    cuda.sample(batch.scores(root), kTrees, 3, batch.outcomes.data(), trees, stream.get(), 5);
    CudaWithoutReplacement distinct;
    distinct.trees = {beams.resize(size * kTrees * width), kTrees * width, width};
    distinct.log_prob = numbers.data();
    distinct.gumbel = numbers.data() + size * kTrees;
    distinct.kappa = numbers.data() + 2 * size * kTrees;
    distinct.count = count.data();
    cuda.sample_without_replacement(batch.scores(root), kTrees, 3, batch.outcomes.data(), distinct,
                                    stream.get(), 5);
    stream.wait();
    const auto found = fetch(heads, size * kTrees * width);
    const auto found_beams = fetch(beams, size * kTrees * width);
    const auto counts = fetch(count, size);
    for (std::size_t b = 0; b < size; ++b) {
      const Problem& p = batch.problems[b];
      const auto n = static_cast<std::size_t>(p.n);
      const Factorization f = eliminate({p.scores.data(), p.n}, root);
      Sampler sampler;
      WithoutReplacementSampler distinct_sampler;
      WithoutReplacementSample sample;
      Workspace workspace;
      std::vector<std::int32_t> exact(kTrees * n, -1);
      if (f.outcome().ok()) {
        sampler.build(f, {Algorithm::kAuto, 3, 0}, workspace);
        sampler.sample(static_cast<std::uint32_t>(5 + b), 0, kTrees, {exact.data(), p.n},
                       workspace);
        WithoutReplacementOptions options;
        options.algorithm = WithoutReplacementAlgorithm::kBeam;
        options.seed = 3;
        distinct_sampler.build(f, options, static_cast<std::uint32_t>(5 + b), workspace);
        distinct_sampler.sample(kTrees, sample, workspace);
        EXPECT_EQ(static_cast<std::size_t>(counts[b]), sample.size());
      }
      for (std::size_t t = 0; t < kTrees; ++t) {
        for (std::size_t m = 0; m < width; ++m) {
          const std::size_t at = (b * kTrees + t) * width + m;
          EXPECT_EQ(found[at], m < n ? exact[t * n + m] : -1);
          EXPECT_EQ(found_beams[at], m < n && t < sample.size() ? sample[t][m] : -1);
        }
      }
    }
  }
}

TEST_F(CudaMemory, Misuse) {
  Cuda cuda;
  CudaScores scores;
  scores.size = 1;
  EXPECT_THROW(cuda.log_partition(scores, nullptr, nullptr, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace taproot
