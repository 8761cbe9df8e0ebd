// SPDX-License-Identifier: Apache-2.0
//
// cuda_hessian_product(): entropies with their gradients from one elimination, of sentences that
// are done by products, by the derivatives of both passes, over the wide scalar, or not at all.
#include <algorithm>
#include <cmath>

#include "cuda/device_memory.h"
#include "cuda/on_device.h"
#include "taproot/query.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;

class CudaSlopes : public OnDevice {};

constexpr int kMost = 140;
constexpr std::size_t kSide = kMost + 1;

std::vector<Problem> problems_of_all_kinds() {
  std::vector<Problem> problems = {oracle::gaussian(5, 1, 1), oracle::sparse(12, 0.05, 1)};
  std::uint64_t seed = 2;
  for (const int n : lengths({1, 2, 31, 32, 33, 63, 64, 100, 127, 128, kMost}, 33)) {
    problems.push_back(oracle::gaussian(n, 1, ++seed));
    problems.push_back(oracle::gaussian(n, 4, ++seed));
    problems.push_back(oracle::sparse(n, 0.6, ++seed));
    if (n < 2) continue;
    problems.push_back(oracle::attractor_pairs(n, 6, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 14, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 900, ++seed));
  }
  problems.push_back(oracle::gaussian(9, 1, ++seed));
  problems.back().scores[12] = NAN;
  return problems;
}

TEST_F(CudaSlopes, EntropiesWithTheirGradients) {
  const std::vector<Problem> problems = problems_of_all_kinds();
  const std::size_t size = problems.size();
  std::vector<double> padded(size * kSide * kSide, NAN);
  std::vector<std::int32_t> words;
  for (std::size_t b = 0; b < size; ++b) {
    const Problem& p = problems[b];
    const auto side = static_cast<std::size_t>(p.n) + 1;
    words.push_back(p.n);
    for (std::size_t h = 0; h < side; ++h) {
      std::copy_n(p.scores.begin() + static_cast<std::ptrdiff_t>(h * side), side,
                  padded.begin() + static_cast<std::ptrdiff_t>((b * kSide + h) * kSide));
    }
  }
  DeviceArray<double> scores, slopes, entropies;
  DeviceArray<std::int32_t> lengths_there;
  DeviceArray<CudaOutcome> outcomes;
  send(scores, padded);
  send(lengths_there, words);
  outcomes.resize(size);
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    send(slopes, std::vector<double>(padded.size(), -7));
    send(entropies, std::vector<double>(size, -7));
    CudaHessian question;
    question.scores.data = scores.data();
    question.scores.size = size;
    question.scores.max_n = kMost;
    question.scores.sentence_stride = kSide * kSide;
    question.scores.head_stride = kSide;
    question.scores.lengths = lengths_there.data();
    question.scores.root = root;
    question.direction = {scores.data(), true, kSide * kSide, kSide, 1, nullptr};
    question.out = {slopes.data(), true, kSide * kSide, kSide, 1, nullptr};
    question.factor = -1;
    question.entropy = {entropies.data(), true, 1};
    question.outcomes = outcomes.data();
    const std::size_t bytes = cuda_hessian_bytes(question);
    DeviceArray<unsigned char> workspace;
    workspace.resize(bytes);
    cuda_hessian_product(question, workspace.data(), bytes, nullptr);
    TAPROOT_CUDA(cudaDeviceSynchronize());
    const auto h_found = fetch(entropies, size);
    const auto found = fetch(slopes, padded.size());
    const auto status = fetch(outcomes, size);
    double worst = 0;
    for (std::size_t b = 0; b < size; ++b) {
      SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
      const Problem& p = problems[b];
      const Factorization f = eliminate({p.scores.data(), p.n}, root);
      ASSERT_EQ(status[b].status, static_cast<int>(f.outcome().status));
      const auto side = static_cast<std::size_t>(p.n) + 1;
      const auto cell = [&](std::size_t h, std::size_t m) {
        return found[(b * kSide + h) * kSide + m];
      };
      if (!f.outcome().ok()) {
        EXPECT_TRUE(std::isnan(h_found[b]));
        EXPECT_TRUE(f.outcome().status == Status::kNoTree ? cell(1, 2) == 0
                                                          : std::isnan(cell(1, 2)));
        continue;
      }
      const double h_exact = entropy(f);
      EXPECT_NEAR(h_found[b], h_exact, 1e-11 * std::max(1.0, h_exact));
      std::vector<double> direction = p.scores;
      double largest = 0;
      for (double& v : direction) {
        v = v == -HUGE_VAL ? 0 : -v;
        largest = std::max(largest, std::abs(v));
      }
      const auto exact = hessian_product(f, direction);
      for (std::size_t h = 0; h < kSide; ++h) {
        for (std::size_t m = 0; m < kSide; ++m) {
          if (h >= side || m >= side) {
            ASSERT_EQ(cell(h, m), 0) << "beyond the sentence";
            continue;
          }
          worst = std::max(worst, std::abs(cell(h, m) - exact[h * side + m]) /
                                      (largest * 0x1p-52 * static_cast<double>(side)));
        }
      }
    }
    EXPECT_LE(worst, 4);
    std::printf("within %.2g of (n+1) 2^-52 max|v|\n", worst);
  }
}

}  // namespace
}  // namespace taproot
