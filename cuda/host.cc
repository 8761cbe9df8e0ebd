// SPDX-License-Identifier: Apache-2.0
//
// Batches in host memory: they are sent to the device, answers are fetched, and the sentences that
// double's range does not fit are done on the CPU.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.h"
#include "cuda/core/arena.h"
#include "cuda/engine.h"
#include "taproot/cuda.h"

namespace taproot {
namespace {

using cuda::Arena;

// A batch on the device, one sentence after the other, with room for what comes back.
class Sent {
 public:
  Sent(Cuda::Impl& impl, const Scores& scores) : impl_(impl), size_(scores.size()) {
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> offsets;
    std::vector<double> cells;
    for (std::size_t b = 0; b < size_; ++b) {
      const int n = scores[b].n();
      lengths.push_back(n);
      offsets.push_back(static_cast<std::int64_t>(cells.size()));
      max_n_ = std::max(max_n_, n);
      for (int h = 0; h <= n; ++h) {
        for (int m = 0; m <= n; ++m) cells.push_back(scores[b](h, m));
      }
    }
    cells_ = cells.size();
    Arena room;
    lay_out(room, 0);
    Arena arena(impl.transfer.resize(room.used()));
    lay_out(arena, 0);
    copy(const_cast<double*>(data_), cells);
    copy(lengths_, lengths);
    copy(offsets_, offsets);
    single_ = scores.root_rule() == RootRule::kSingle;
  }

  cuda::Batch batch() const {
    return {data_, true, single_, static_cast<int>(size_), max_n_, lengths_, offsets_, 0, 0, 1};
  }
  cuda::DeviceOutcome* outcomes() const { return outcomes_; }
  const std::int64_t* offsets() const { return offsets_; }
  std::size_t cells() const { return cells_; }
  int max_n() const { return max_n_; }

  /// Fetches the outcomes; those out of range are listed, and ok for now.
  std::vector<std::size_t> fetch_outcomes(std::span<Outcome> outcomes) {
    std::vector<cuda::DeviceOutcome> found(size_);
    fetch(found, outcomes_);
    std::vector<std::size_t> rest;
    for (std::size_t b = 0; b < size_; ++b) {
      const bool out_of_range = found[b].status == cuda::kOutOfRange;
      if (out_of_range) rest.push_back(b);
      outcomes[b] = out_of_range ? Outcome{}
                                 : Outcome{static_cast<Status>(found[b].status), found[b].head,
                                           found[b].modifier};
    }
    impl_.statistics.on_cpu += rest.size();
    return rest;
  }

  template <typename T>
  static void fetch(std::vector<T>& to, const T* from) {
    if (to.empty()) return;
    TAPROOT_CUDA(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
  }

 private:
  void lay_out(Arena& arena, int) {
    data_ = arena.take<double>(cells_);
    lengths_ = arena.take<std::int32_t>(size_);
    offsets_ = arena.take<std::int64_t>(size_);
    outcomes_ = arena.take<cuda::DeviceOutcome>(size_);
  }
  template <typename T>
  static void copy(T* to, const std::vector<T>& from) {
    if (from.empty()) return;
    TAPROOT_CUDA(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }

  Cuda::Impl& impl_;
  std::size_t size_;
  std::size_t cells_ = 0;
  int max_n_ = 0;
  bool single_ = true;
  const double* data_ = nullptr;
  std::int32_t* lengths_ = nullptr;
  std::int64_t* offsets_ = nullptr;
  cuda::DeviceOutcome* outcomes_ = nullptr;
};

// The sentences listed, each as a batch of its own, on the CPU.
template <typename Visit>
void on_cpu(Cuda::Impl& impl, const Scores& scores, const std::vector<std::size_t>& rest,
            std::span<Outcome> outcomes, Visit&& visit) {
  for (const std::size_t b : rest) {
    const Scores one({scores[b]}, scores.root_rule());
    visit(impl.cpu, one, outcomes.subspan(b, 1), b);
  }
}

void check_sizes(const Scores& scores, std::size_t outcomes, std::size_t out,
                 const char* function) {
  detail::require(outcomes == scores.size(), function, "outcomes must have one entry per sentence");
  detail::require(out == scores.size(), function, "out must have one entry per sentence");
}

}  // namespace

void log_partition(Cuda& cuda, const Scores& scores, std::span<Outcome> outcomes,
                   std::span<double> out) {
  check_sizes(scores, outcomes.size(), out.size(), "log_partition");
  Cuda::Impl& impl = CudaAccess::impl(cuda);
  const CurrentDevice current(impl.device);
  Sent sent(impl, scores);
  cuda::DeviceArray<double> log_z;
  impl.log_partition(sent.batch(), sent.outcomes(), log_z.resize(scores.size()), nullptr);
  const auto rest = sent.fetch_outcomes(outcomes);
  std::vector<double> found(scores.size());
  Sent::fetch(found, log_z.data());
  for (std::size_t b = 0; b < scores.size(); ++b) {
    if (outcomes[b].ok()) out[b] = found[b];
  }
  on_cpu(impl, scores, rest, outcomes, [&](Pool& pool, const Scores& one, auto outcome, auto b) {
    log_partition(pool, one, outcome, out.subspan(b, 1));
  });
}

void marginals(Cuda& cuda, const Scores& scores, std::span<Outcome> outcomes,
               std::span<const EdgeMatrix> out) {
  check_sizes(scores, outcomes.size(), out.size(), "marginals");
  Cuda::Impl& impl = CudaAccess::impl(cuda);
  const CurrentDevice current(impl.device);
  Sent sent(impl, scores);
  cuda::DeviceArray<double> edges;
  const CudaEdges to{edges.resize(sent.cells()), true, 0, 0, 1};
  impl.marginals(sent.batch(), sent.outcomes(), to, sent.offsets(), nullptr, nullptr);
  const auto rest = sent.fetch_outcomes(outcomes);
  std::vector<double> found(sent.cells());
  Sent::fetch(found, edges.data());
  const double* from = found.data();
  for (std::size_t b = 0; b < scores.size(); ++b) {
    const int side = scores[b].n() + 1;
    for (int h = 0; h < side; ++h, from += side) {
      if (outcomes[b].ok()) std::copy(from, from + side, out[b].data + h * out[b].head_stride);
    }
  }
  on_cpu(impl, scores, rest, outcomes, [&](Pool& pool, const Scores& one, auto outcome, auto b) {
    marginals(pool, one, outcome, out.subspan(b, 1));
  });
}

void sample(Cuda& cuda, const Scores& scores, std::size_t k, const SampleOptions& options,
            std::span<Outcome> outcomes, std::span<const TreeBuffer> out,
            std::uint32_t first_sentence) {
  check_sizes(scores, outcomes.size(), out.size(), "sample");
  detail::require(options.algorithm == Algorithm::kAuto, "sample",
                  "on the device there is the algorithm auto");
  detail::require(k <= std::size_t{1} << 30, "sample", "at most 2^30 trees a sentence");
  Cuda::Impl& impl = CudaAccess::impl(cuda);
  const CurrentDevice current(impl.device);
  Sent sent(impl, scores);
  const auto width = static_cast<std::size_t>(sent.max_n());
  cuda::DeviceArray<std::int32_t> heads;
  const CudaTrees to{heads.resize(scores.size() * k * width),
                     static_cast<std::ptrdiff_t>(k * width), static_cast<std::ptrdiff_t>(width)};
  impl.sample(sent.batch(), static_cast<int>(k), options.seed, first_sentence, sent.outcomes(), to,
              sent.max_n(), nullptr);
  const auto rest = sent.fetch_outcomes(outcomes);
  std::vector<std::int32_t> found(scores.size() * k * width);
  Sent::fetch(found, heads.data());
  for (std::size_t b = 0; b < scores.size(); ++b) {
    if (!outcomes[b].ok()) continue;
    for (std::size_t s = 0; s < k; ++s) {
      std::copy_n(found.data() + (b * k + s) * width, scores[b].n(),
                  out[b].data + static_cast<std::ptrdiff_t>(s) * out[b].stride);
    }
  }
  on_cpu(impl, scores, rest, outcomes, [&](Pool& pool, const Scores& one, auto outcome, auto b) {
    sample(pool, one, k, options, outcome, out.subspan(b, 1),
           first_sentence + static_cast<std::uint32_t>(b));
  });
}

void sample_without_replacement(Cuda& cuda, const Scores& scores, std::size_t k,
                                const WithoutReplacementOptions& options,
                                std::span<Outcome> outcomes,
                                std::span<WithoutReplacementSample> out,
                                std::uint32_t first_sentence) {
  constexpr const char* kName = "sample_without_replacement";
  check_sizes(scores, outcomes.size(), out.size(), kName);
  detail::require(options.algorithm == WithoutReplacementAlgorithm::kBeam, kName,
                  "on the device there is the algorithm beam");
  detail::require(k <= std::size_t{1} << 30, kName, "at most 2^30 trees a sentence");
  Cuda::Impl& impl = CudaAccess::impl(cuda);
  const CurrentDevice current(impl.device);
  Sent sent(impl, scores);
  const auto width = static_cast<std::size_t>(sent.max_n());
  const std::size_t size = scores.size();
  cuda::DeviceArray<unsigned char> memory;
  CudaWithoutReplacement to;
  const auto lay_out = [&](Arena& arena) {
    to.trees = {arena.take<std::int32_t>(size * k * width), static_cast<std::ptrdiff_t>(k * width),
                static_cast<std::ptrdiff_t>(width)};
    to.log_prob = arena.take<double>(size * k);
    to.gumbel = arena.take<double>(size * k);
    to.kappa = arena.take<double>(size);
    to.count = arena.take<std::int32_t>(size);
  };
  Arena room;
  lay_out(room);
  Arena arena(memory.resize(room.used()));
  lay_out(arena);
  impl.beam(sent.batch(), static_cast<int>(k), options.seed, first_sentence, sent.outcomes(), to,
            sent.max_n(), nullptr);
  const auto rest = sent.fetch_outcomes(outcomes);
  std::vector<std::int32_t> heads(size * k * width);
  std::vector<std::int32_t> count(size);
  std::vector<double> log_prob(size * k);
  std::vector<double> gumbel(size * k);
  std::vector<double> kappa(size);
  Sent::fetch(heads, to.trees.heads);
  Sent::fetch(count, to.count);
  Sent::fetch(log_prob, to.log_prob);
  Sent::fetch(gumbel, to.gumbel);
  Sent::fetch(kappa, to.kappa);
  for (std::size_t b = 0; b < size; ++b) {
    if (!outcomes[b].ok() || std::find(rest.begin(), rest.end(), b) != rest.end()) continue;
    WithoutReplacementSample& sample = out[b];
    sample = {};
    sample.n = scores[b].n();
    sample.kappa = kappa[b];
    sample.exhausted = kappa[b] == -HUGE_VAL;
    for (std::size_t s = 0; s < static_cast<std::size_t>(count[b]); ++s) {
      const std::int32_t* tree = heads.data() + (b * k + s) * width;
      sample.heads.insert(sample.heads.end(), tree, tree + sample.n);
      sample.log_prob.push_back(log_prob[b * k + s]);
      sample.gumbel.push_back(gumbel[b * k + s]);
      sample.weight.push_back(horvitz_thompson_weight(log_prob[b * k + s], kappa[b]));
    }
  }
  on_cpu(impl, scores, rest, outcomes, [&](Pool& pool, const Scores& one, auto outcome, auto b) {
    sample_without_replacement(pool, one, k, options, outcome, out.subspan(b, 1),
                               first_sentence + static_cast<std::uint32_t>(b));
  });
}

}  // namespace taproot
