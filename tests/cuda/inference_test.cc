// SPDX-License-Identifier: Apache-2.0
//
// cuda_infer(): every sentence of a batch gets an answer, whatever its length, outcome and range,
// in memory of any type and strides, and a CUDA graph can capture it.
#include <cmath>
#include <limits>
#include <utility>

#include "cuda/device_memory.h"
#include "cuda/on_device.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;

constexpr int kMost = 40;
constexpr std::size_t kSide = kMost + 1;
constexpr std::size_t kRow = kSide + 2;  // Rows are longer than they need be.
constexpr std::size_t kCells = (kSide + 1) * kRow;

struct Sentence {
  int length;
  std::vector<double> scores;  // [length+1][length+1]; empty if the length is not valid.
};

Sentence sentence_of(const Problem& p) { return {p.n, p.scores}; }

Sentence with_cell(Problem p, int head, int modifier, double score) {
  p.scores[static_cast<std::size_t>(head * (p.n + 1) + modifier)] = score;
  return sentence_of(p);
}

// Sentences with and without answers, mixed. The second batch has the same lengths.
std::vector<Sentence> mixed(std::uint64_t seed) {
  return {sentence_of(oracle::gaussian(kMost, 2, seed)),
          sentence_of(oracle::sparse(12, 0.05, 1)),  // No tree.
          sentence_of(oracle::gaussian(17, 3, seed + 1)),
          with_cell(oracle::gaussian(9, 1, seed + 2), 3, 2, NAN),
          sentence_of(oracle::attractor_pairs(33, 12, seed + 3)),
          {-1, {}},
          {kMost + 1, {}},
          with_cell(oracle::gaussian(5, 1, seed + 4), 0, 5, HUGE_VAL),
          {0, {NAN}},
          sentence_of(oracle::gaussian(1, 1, seed + 5)),
          with_cell(oracle::gaussian(4, 1, seed + 6), 2, 2, NAN),   // The diagonal is ignored.
          sentence_of(oracle::attractor_pairs(20, 900, seed + 8)),  // Beyond the range of double.
          sentence_of(oracle::wide_range(11, 600, seed + 9)),
          sentence_of(oracle::gaussian(31, 2, seed + 7))};
}

// The batch in device memory, modifiers first and padded with NaN, and everything that is asked.
template <typename Score, typename Number>
class Asked {
 public:
  explicit Asked(std::size_t size) : size_(size) {
    lengths_.resize(size);
    scores_.resize(size * kCells);
    factors_.resize(2 * size);
    log_partition_.resize(3 * size);
    entropy_.resize(size);
    marginals_.resize(size * kCells);
    outcomes_.resize(size);
  }

  void send_batch(const std::vector<Sentence>& sentences) {
    std::vector<Score> cells(size_ * kCells, static_cast<Score>(NAN));
    std::vector<std::int32_t> lengths;
    std::vector<float> factors(2 * size_, NAN);
    for (std::size_t b = 0; b < size_; ++b) {
      const Sentence& s = sentences[b];
      lengths.push_back(s.length);
      factors[2 * b] = factor(b);
      if (s.scores.empty()) continue;
      const auto side = static_cast<std::size_t>(s.length) + 1;
      for (std::size_t h = 0; h < side; ++h) {
        for (std::size_t m = 0; m < side; ++m) {
          cells[b * kCells + m * kRow + h] = static_cast<Score>(s.scores[h * side + m]);
        }
      }
    }
    send(scores_, cells);
    send(lengths_, lengths);
    send(factors_, factors);
  }

  /// Poisons all memory that is written to, so that nothing may be left over.
  void poison() {
    send(log_partition_, std::vector<Number>(3 * size_, static_cast<Number>(-7)));
    send(entropy_, std::vector<Number>(size_, static_cast<Number>(-7)));
    send(marginals_, std::vector<Number>(size_ * kCells, static_cast<Number>(-7)));
    send(outcomes_, std::vector<CudaOutcome>(size_, {-7, -7, -7}));
    if (bytes_ > 0) TAPROOT_CUDA(cudaMemset(workspace_.data(), 0xff, bytes_));
    TAPROOT_CUDA(cudaDeviceSynchronize());
  }

  /// Before poison(), which poisons the workspace too.
  void take_workspace(RootRule root, Precision precision, bool with_factor) {
    bytes_ = cuda_inference_bytes(question(root, precision, with_factor));
    workspace_.resize(bytes_);
  }
  void ask(RootRule root, Precision precision, bool with_factor, void* stream) {
    cuda_infer(question(root, precision, with_factor), workspace_.data(), bytes_, stream);
  }

  CudaInference question(RootRule root, Precision precision, bool with_factor) const {
    constexpr bool kWide = sizeof(Number) == sizeof(double);
    CudaInference q;
    q.scores.data = scores_.data();
    q.scores.is_double = sizeof(Score) == sizeof(double);
    q.scores.size = size_;
    q.scores.max_n = kMost;
    q.scores.sentence_stride = kCells;
    q.scores.head_stride = 1;
    q.scores.modifier_stride = kRow;
    q.scores.lengths = lengths_.data();
    q.scores.root = root;
    q.precision = precision;
    q.log_partition = {log_partition_.data(), kWide, 3};
    q.entropy = {entropy_.data(), kWide, 1};
    q.marginals = {marginals_.data(), kWide, kCells, kRow, 1, nullptr};
    if (with_factor) q.factor = {factors_.data(), false, 2};
    q.outcomes = outcomes_.data();
    return q;
  }

  /// Compares with the CPU, sentence by sentence.
  void expect(const std::vector<Sentence>& sentences, RootRule root, bool with_factor,
              double bound) const {
    const auto log_partition = fetch(log_partition_, 3 * size_);
    const auto entropy = fetch(entropy_, size_);
    const auto marginals = fetch(marginals_, size_ * kCells);
    const auto outcomes = fetch(outcomes_, size_);
    for (std::size_t b = 0; b < size_; ++b) {
      SCOPED_TRACE(testing::Message() << "sentence " << b << " of length " << sentences[b].length);
      const Sentence& s = sentences[b];
      const bool bad_length = s.length < 0 || s.length > kMost;
      std::vector<Score> narrow(s.scores.begin(), s.scores.end());
      Factorization f;
      if (!bad_length) f = eliminate(ScoreView(narrow.data(), s.length), root);
      const Outcome outcome = f.outcome();
      if (bad_length) {
        EXPECT_EQ(outcomes[b].status, kCudaBadLength);
      } else {
        EXPECT_EQ(outcomes[b].status, static_cast<int>(outcome.status));
        EXPECT_EQ(outcomes[b].head, outcome.head);
        EXPECT_EQ(outcomes[b].modifier, outcome.modifier);
      }
      const bool ok = !bad_length && outcome.ok();
      const bool no_tree = !bad_length && outcome.status == Status::kNoTree;
      const auto z = static_cast<double>(log_partition[3 * b]);
      const auto found_entropy = static_cast<double>(entropy[b]);
      if (ok) {
        const double exact = taproot::log_partition(f);
        EXPECT_NEAR(z, exact, bound * std::max(1.0, std::abs(exact)));
        EXPECT_NEAR(found_entropy, taproot::entropy(f), 100 * bound);
      } else {
        EXPECT_TRUE(std::isnan(found_entropy));
        EXPECT_TRUE(no_tree ? z == -HUGE_VAL : std::isnan(z)) << z;
      }
      EXPECT_EQ(static_cast<double>(log_partition[3 * b + 1]), -7) << "beside the number";
      const auto exact = ok ? taproot::marginals(f) : std::vector<double>();
      const auto side = static_cast<std::size_t>(std::max(s.length, 0)) + 1;
      const double by = with_factor ? static_cast<double>(factor(b)) : 1;
      for (std::size_t i = 0; i < kCells; ++i) {
        const std::size_t h = i / kRow;
        const std::size_t m = i % kRow;
        const auto p = static_cast<double>(marginals[b * kCells + i]);
        if (h >= kSide || m >= kSide) {
          ASSERT_EQ(p, -7) << "beyond max_n at " << h << ' ' << m;
        } else if (!ok && !no_tree) {
          ASSERT_TRUE(std::isnan(p)) << "at " << h << ' ' << m;
        } else if (h >= side || m >= side || no_tree) {
          ASSERT_EQ(p, 0) << "at " << h << ' ' << m;
        } else {
          ASSERT_NEAR(p, by * exact[h * side + m], bound * std::abs(by)) << h << ' ' << m;
        }
      }
    }
  }

 private:
  static float factor(std::size_t b) { return 0.5F - static_cast<float>(b); }

  std::size_t size_;
  std::size_t bytes_ = 0;
  DeviceArray<Score> scores_;
  DeviceArray<std::int32_t> lengths_;
  DeviceArray<float> factors_;
  DeviceArray<Number> log_partition_, entropy_, marginals_;
  DeviceArray<CudaOutcome> outcomes_;
  DeviceArray<unsigned char> workspace_;
};

class CudaInferenceTest : public OnDevice {};

template <typename Score, typename Number>
void expect_every_answer(Precision precision, double bound) {
  const std::vector<Sentence> sentences = mixed(1);
  const CudaStream stream;
  Asked<Score, Number> asked(sentences.size());
  asked.send_batch(sentences);
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    for (const bool with_factor : {false, true}) {
      SCOPED_TRACE(testing::Message() << to_string(root) << " with factor " << with_factor);
      asked.take_workspace(root, precision, with_factor);
      asked.poison();
      asked.ask(root, precision, with_factor, stream.get());
      stream.wait();
      asked.expect(sentences, root, with_factor, bound);
    }
  }
}

TEST_F(CudaInferenceTest, EverySentenceGetsAnAnswer) {
  expect_every_answer<double, double>(Precision::kFloat64, 1e-12);
  expect_every_answer<float, float>(Precision::kFloat64, 1e-6);
  expect_every_answer<float, double>(Precision::kFloat32, 1e-4);
  expect_every_answer<float, float>(Precision::kFloat32, 1e-4);
}

// Sentences one after the other. They have no cells beyond their length.
TEST_F(CudaInferenceTest, Offsets) {
  const std::vector<Problem> problems = {oracle::gaussian(33, 1, 1), oracle::sparse(12, 0.05, 1),
                                         oracle::gaussian(64, 1, 3)};
  std::vector<double> cells;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> lengths;
  for (const Problem& p : problems) {
    offsets.push_back(static_cast<std::int64_t>(cells.size()));
    lengths.push_back(p.n);
    cells.insert(cells.end(), p.scores.begin(), p.scores.end());
  }
  DeviceArray<double> data, out;
  DeviceArray<std::int64_t> device_offsets;
  DeviceArray<std::int32_t> device_lengths;
  DeviceArray<unsigned char> workspace;
  send(data, cells);
  send(out, std::vector<double>(cells.size(), -7));
  send(device_offsets, offsets);
  send(device_lengths, lengths);
  CudaInference q;
  q.scores.data = data.data();
  q.scores.size = problems.size();
  q.scores.max_n = 64;
  q.scores.lengths = device_lengths.data();
  q.scores.offsets = device_offsets.data();
  q.scores.cells = cells.size();
  q.marginals.data = out.data();
  q.marginals.offsets = device_offsets.data();
  const std::size_t bytes = cuda_inference_bytes(q);
  cuda_infer(q, workspace.resize(bytes), bytes, nullptr);
  const auto found = fetch(out, cells.size());
  for (std::size_t b = 0; b < problems.size(); ++b) {
    const Factorization f = eliminate(views_of(problems)[b], RootRule::kSingle);
    const std::size_t count = problems[b].scores.size();
    const auto exact = f.outcome().ok() ? marginals(f) : std::vector<double>(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_NEAR(found[static_cast<std::size_t>(offsets[b]) + i], exact[i], 1e-13);
    }
  }
}

// Matrices in global memory, in both precisions.
TEST_F(CudaInferenceTest, LongSentences) {
  for (const int n : lengths({151, 220, 460}, 151)) {
    const Problem long_one = oracle::gaussian(n, 1, 3);
    Problem broken = oracle::gaussian(n, 1, 4);
    broken.scores[static_cast<std::size_t>(n)] = NAN;
    const auto side = static_cast<std::size_t>(n) + 1;
    std::vector<double> cells = long_one.scores;
    cells.insert(cells.end(), broken.scores.begin(), broken.scores.end());
    cells.insert(cells.end(), long_one.scores.begin(), long_one.scores.end());
    DeviceArray<double> data, out, log_z;
    DeviceArray<std::int32_t> device_lengths;
    DeviceArray<unsigned char> workspace;
    send(data, cells);
    send(device_lengths, {n, n, n / 2});
    log_z.resize(3);
    for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
      send(out, std::vector<double>(cells.size(), -7));
      CudaInference q;
      q.precision = precision;
      q.scores = {data.data(), true, 3, n, static_cast<std::ptrdiff_t>(side * side), n + 1};
      q.scores.lengths = device_lengths.data();
      q.log_partition.data = log_z.data();
      q.marginals = {out.data(), true, static_cast<std::ptrdiff_t>(side * side), n + 1, 1, nullptr};
      const std::size_t bytes = cuda_inference_bytes(q);
      cuda_infer(q, workspace.resize(bytes), bytes, nullptr);
      const auto found = fetch(out, cells.size());
      const auto found_z = fetch(log_z, 3);
      const double bound = precision == Precision::kFloat64 ? 1e-12 : 1e-4;
      for (const std::size_t b : {0U, 2U}) {
        const int own = b == 0 ? n : n / 2;
        const Factorization f = eliminate(ScoreView(long_one.scores.data(), own, n + 1, 1));
        EXPECT_NEAR(found_z[b], log_partition(f), bound * log_partition(f)) << n;
        const auto exact = marginals(f);
        double worst = 0;
        for (std::size_t h = 0; h < side; ++h) {
          for (std::size_t m = 0; m < side; ++m) {
            const auto size = static_cast<std::size_t>(own) + 1;
            const double p = h < size && m < size ? exact[h * size + m] : 0;
            const double d = std::abs(found[(b * side + h) * side + m] - p);
            if (!(d <= worst)) worst = d;
          }
        }
        EXPECT_LE(worst, bound) << n;
      }
      EXPECT_TRUE(std::isnan(found_z[1]));
      for (std::size_t i = 0; i < side * side; ++i) EXPECT_TRUE(std::isnan(found[side * side + i]));
    }
  }
}

// A graph that is captured once answers for the scores and lengths that are there when it runs.
TEST_F(CudaInferenceTest, AGraphIsReplayed) {
  const std::vector<Sentence> first = mixed(1);
  std::vector<Sentence> second = mixed(100);
  std::swap(second[0], second[1]);
  for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
    const double bound = precision == Precision::kFloat64 ? 1e-12 : 1e-4;
    const CudaStream stream;
    auto* const on = static_cast<cudaStream_t>(stream.get());
    Asked<double, double> asked(first.size());
    asked.send_batch(first);
    asked.take_workspace(RootRule::kSingle, precision, true);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t run = nullptr;
    // Global: a call that may wait for the device ends the capture with an error.
    TAPROOT_CUDA(cudaStreamBeginCapture(on, cudaStreamCaptureModeGlobal));
    asked.ask(RootRule::kSingle, precision, true, stream.get());
    TAPROOT_CUDA(cudaStreamEndCapture(on, &graph));
    TAPROOT_CUDA(cudaGraphInstantiate(&run, graph, 0));
    for (const std::vector<Sentence>* sentences : {&first, &std::as_const(second), &first}) {
      asked.send_batch(*sentences);
      asked.poison();
      TAPROOT_CUDA(cudaGraphLaunch(run, on));
      stream.wait();
      asked.expect(*sentences, RootRule::kSingle, true, bound);
    }
    TAPROOT_CUDA(cudaGraphExecDestroy(run));
    TAPROOT_CUDA(cudaGraphDestroy(graph));
  }
}

TEST_F(CudaInferenceTest, Misuse) {
  CudaInference q;
  q.scores.size = 1;
  q.scores.max_n = 3;
  EXPECT_THROW(cuda_inference_bytes(q), std::invalid_argument);
  const double cell = 0;  // Never read: what is wrong is seen before.
  q.scores.data = &cell;
  const std::size_t bytes = cuda_inference_bytes(q);
  DeviceArray<unsigned char> workspace;
  workspace.resize(bytes);
  EXPECT_THROW(cuda_infer(q, nullptr, bytes, nullptr), std::invalid_argument);
  EXPECT_THROW(cuda_infer(q, workspace.data(), bytes - 1, nullptr), std::invalid_argument);
  q.scores.max_n = 100000;
  EXPECT_THROW(cuda_inference_bytes(q), std::invalid_argument);
  q.scores.max_n = -1;
  EXPECT_THROW(cuda_inference_bytes(q), std::invalid_argument);
}

}  // namespace
}  // namespace taproot
