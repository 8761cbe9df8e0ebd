// SPDX-License-Identifier: Apache-2.0
//
// The caller's device memory and stream: float32 and float64, padding, strides, lengths.
#include <cmath>
#include <numeric>

#include "cuda/device_memory.h"
#include "cuda/on_device.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;

std::vector<CudaOutcome> outcomes_of(CudaDependencyTrees& trees, void* stream) {
  DeviceArray<CudaOutcome> outcomes;
  const std::size_t size = trees.scores().size;
  trees.outcomes(outcomes.resize(size), stream);
  TAPROOT_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  return fetch(outcomes, size);
}

template <typename T>
void expect_marginals(RootRule root) {
  const Padded<T> batch;
  Cuda cuda;
  const CudaStream stream;
  const std::size_t cells = batch.size() * Padded<T>::kSide * Padded<T>::kSide;
  DeviceArray<T> out;
  DeviceArray<double> log_z;
  send(out, std::vector<T>(cells, static_cast<T>(-7)));
  send(log_z, std::vector<double>(batch.size(), -7));
  CudaEdges edges;
  edges.data = out.data();
  edges.is_double = sizeof(T) == sizeof(double);
  edges.sentence_stride = Padded<T>::kSide * Padded<T>::kSide;
  edges.head_stride = Padded<T>::kSide;
  CudaDependencyTrees trees(cuda, batch.scores(root));
  trees.marginals(edges, stream.get());
  trees.log_partition(log_z.data(), stream.get());
  const auto outcomes = outcomes_of(trees, stream.get());
  const auto found = fetch(out, cells);
  const auto found_z = fetch(log_z, batch.size());
  for (std::size_t b = 0; b < batch.size(); ++b) {
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
  const Padded<T> batch;
  Cuda cuda;
  const CudaStream stream;
  const std::size_t cells = batch.size() * kSide * kSide;
  std::vector<T> direction(cells);  // [b][m][h]
  for (std::size_t i = 0; i < cells; ++i) {
    direction[i] = static_cast<T>(100 * std::sin(static_cast<double>(i)));
  }
  DeviceArray<T> along;
  DeviceArray<double> out;
  send(along, direction);
  send(out, std::vector<double>(cells, -7));
  const ConstCudaEdges from{along.data(), sizeof(T) == sizeof(double), kSide * kSide, 1, kSide,
                            nullptr};
  const CudaEdges to{out.data(), true, kSide * kSide, kSide, 1, nullptr};
  CudaDependencyTrees trees(cuda, batch.scores(root));
  trees.hessian_product(from, to, stream.get());
  const auto outcomes = outcomes_of(trees, stream.get());
  const auto found = fetch(out, cells);
  for (std::size_t b = 0; b < batch.size(); ++b) {
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
      send(scores, p.scores);
      send(along, direction);
      out.resize(side * side);
      Cuda cuda(i % 2 == 0 ? Precision::kFloat64 : Precision::kFloat32);
      CudaScores in;
      in.data = scores.data();
      in.size = 1;
      in.max_n = p.n;
      in.head_stride = p.n + 1;
      in.root = root;
      const ConstCudaEdges from{along.data(), true, 0, p.n + 1, 1, nullptr};
      const CudaEdges to{out.data(), true, 0, p.n + 1, 1, nullptr};
      CudaDependencyTrees trees(cuda, in);
      trees.hessian_product(from, to, nullptr);
      const Factorization f = eliminate({p.scores.data(), p.n}, root);
      const CudaOutcome status = outcomes_of(trees, nullptr)[0];
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

// Trees of a padded float32 batch are those of the CPU, -1 beyond a sentence; and log p of both.
TEST_F(CudaMemory, Trees) {
  constexpr std::size_t kTrees = 20;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    const Padded<float> batch;
    Cuda cuda;
    const CudaStream stream;
    const std::size_t size = batch.size();
    const std::size_t width = Padded<float>::kMost;
    DeviceArray<std::int32_t> heads;
    DeviceArray<std::int32_t> beams;
    DeviceArray<std::int32_t> count;
    DeviceArray<double> numbers;
    DeviceArray<double> log_prob;
    DeviceArray<CudaOutcome> outcomes;
    heads.resize(size * kTrees * width);
    count.resize(size);
    numbers.resize(3 * size * kTrees + size);
    log_prob.resize(size * kTrees);
    CudaDependencyTrees trees(cuda, batch.scores(root));
    const CudaTreeBuffer sampled{heads.data(), kTrees * width, width};
    trees.sample(kTrees, 3, 0, nullptr, sampled, stream.get());
    trees.log_prob(kTrees, sampled, {log_prob.data(), 1, static_cast<std::ptrdiff_t>(size)},
                   stream.get());
    CudaWithoutReplacement distinct;
    distinct.trees = {beams.resize(size * kTrees * width), kTrees * width, width};
    distinct.log_prob = numbers.data();
    distinct.gumbel = numbers.data() + size * kTrees;
    distinct.weight = numbers.data() + 2 * size * kTrees;
    distinct.kappa = numbers.data() + 3 * size * kTrees;
    distinct.count = count.data();
    trees.sample_without_replacement(kTrees, WithoutReplacementAlgorithm::kBeam, 3,
                                     outcomes.resize(size), distinct, stream.get());
    stream.wait();
    const auto found = fetch(heads, size * kTrees * width);
    const auto found_beams = fetch(beams, size * kTrees * width);
    const auto found_numbers = fetch(numbers, 3 * size * kTrees + size);
    const auto found_log_prob = fetch(log_prob, size * kTrees);
    const auto counts = fetch(count, size);
    for (std::size_t b = 0; b < size; ++b) {
      SCOPED_TRACE(b);
      const Problem& p = batch.problems[b];
      const auto n = static_cast<std::size_t>(p.n);
      const Factorization f = eliminate({p.scores.data(), p.n}, root);
      Workspace workspace;
      std::vector<std::int32_t> exact(kTrees * n, -1);
      WithoutReplacementSample sample;
      if (f.outcome().ok()) {
        Sampler sampler;
        SampleOptions options;
        options.seed = 3;
        sampler.build(f, Algorithm::kAuto, workspace);
        sampler.sample(batch.id(b), options, kTrees, {exact.data(), p.n}, {}, nullptr, workspace);
        WithoutReplacementSampler without_replacement;
        WithoutReplacementOptions beam;
        beam.algorithm = WithoutReplacementAlgorithm::kBeam;
        beam.seed = 3;
        without_replacement.build(f, beam, batch.id(b), workspace);
        without_replacement.sample(kTrees, sample, workspace);
        EXPECT_EQ(static_cast<std::size_t>(counts[b]), sample.size());
      }
      for (std::size_t t = 0; t < kTrees; ++t) {
        for (std::size_t m = 0; m < width; ++m) {
          const std::size_t at = (b * kTrees + t) * width + m;
          EXPECT_EQ(found[at], m < n ? exact[t * n + m] : -1);
          EXPECT_EQ(found_beams[at], m < n && t < sample.size() ? sample[t][m] : -1);
        }
        if (!f.outcome().ok()) continue;
        const TreeView tree(exact.data() + t * n, n);
        EXPECT_NEAR(found_log_prob[t * size + b], taproot::log_prob(f, tree), 1e-12 * p.n);
        const double weight = found_numbers[2 * size * kTrees + b * kTrees + t];
        if (t < sample.size()) {
          EXPECT_NEAR(weight, sample.weight[t], 1e-7 * sample.weight[t]);
        } else {
          EXPECT_EQ(weight, 0);
        }
      }
    }
  }
}

// Sentences one after the other, with offsets: the same answers as padded ones.
TEST_F(CudaMemory, Offsets) {
  const std::vector<Problem> problems = {oracle::gaussian(33, 1, 1), oracle::gaussian(2, 1, 2),
                                         oracle::gaussian(64, 1, 3)};
  std::vector<double> cells;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> lengths;
  for (const Problem& p : problems) {
    offsets.push_back(static_cast<std::int64_t>(cells.size()));
    lengths.push_back(p.n);
    cells.insert(cells.end(), p.scores.begin(), p.scores.end());
  }
  DeviceArray<double> data;
  DeviceArray<double> out;
  DeviceArray<double> roots;
  DeviceArray<std::int64_t> device_offsets;
  DeviceArray<std::int32_t> device_lengths;
  send(data, cells);
  send(device_offsets, offsets);
  send(device_lengths, lengths);
  CudaScores scores;
  scores.data = data.data();
  scores.size = problems.size();
  scores.max_n = 64;
  scores.lengths = device_lengths.data();
  scores.offsets = device_offsets.data();
  scores.cells = cells.size();
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const bool keep : {true, false}) {
      scores.root = root;
      Cuda cuda;
      CudaDependencyTrees trees(cuda, scores, keep);
      CudaEdges edges;
      edges.data = out.resize(cells.size());
      edges.offsets = device_offsets.data();
      trees.marginals(edges, nullptr);
      trees.root_marginals(roots.resize(3 * 64), nullptr);
      const auto found = fetch(out, cells.size());
      const auto found_roots = fetch(roots, 3 * 64);
      for (std::size_t b = 0; b < problems.size(); ++b) {
        const auto exact = marginals(eliminate(views_of(problems)[b], root));
        for (std::size_t i = 0; i < exact.size(); ++i) {
          EXPECT_NEAR(found[static_cast<std::size_t>(offsets[b]) + i], exact[i], 1e-13);
        }
        for (std::size_t m = 1; m <= static_cast<std::size_t>(lengths[b]); ++m) {
          EXPECT_NEAR(found_roots[b * 64 + m - 1], exact[m], 1e-13);
        }
      }
      EXPECT_EQ(cuda.statistics().eliminations, 1U);
    }
  }
}

TEST_F(CudaMemory, AnswersAreRoundedToFloat) {
  const std::size_t size = 5000000;  // More than there are threads.
  std::vector<double> numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers[i] = std::sin(static_cast<double>(i)) * 1e3;
  numbers[1] = -HUGE_VAL;
  numbers[2] = 1e300;
  DeviceArray<double> from;
  DeviceArray<float> to;
  send(from, numbers);
  const CudaStream stream;
  cuda_round(from.data(), size, to.resize(size), stream.get());
  stream.wait();
  const std::vector<float> found = fetch(to, size);
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(found[i], i == 2 ? HUGE_VALF : static_cast<float>(numbers[i])) << i;
  }
}

TEST_F(CudaMemory, Misuse) {
  Cuda cuda;
  CudaScores scores;
  scores.size = 1;
  EXPECT_THROW(CudaDependencyTrees(cuda, scores), std::invalid_argument);
  const double cell = 0;  // Never read: what is wrong is seen before.
  scores.data = &cell;
  CudaDependencyTrees trees(cuda, scores);
  EXPECT_THROW(trees.log_partition(nullptr, nullptr), std::invalid_argument);
  EXPECT_THROW(trees.sample_without_replacement(1, WithoutReplacementAlgorithm::kAuto, 0, nullptr,
                                                {}, nullptr),
               std::invalid_argument);
  const std::int64_t offset = 0;
  scores.offsets = &offset;
  EXPECT_THROW(CudaDependencyTrees(cuda, scores), std::invalid_argument);
}

}  // namespace
}  // namespace taproot
