// SPDX-License-Identifier: Apache-2.0
//
// DependencyTrees on a Cuda: questions are asked of the device, with answers fetched to host
// memory; sentences that the device cannot answer are finished by the CPU.
#pragma once

#include <algorithm>
#include <mutex>
#include <span>

#include "batch/device_batch.h"
#include "batch/edge_matrices.h"
#include "cuda/host_batch.h"
#include "taproot/query.h"

namespace taproot::cuda {

/// What every question begins with: one question at a time, on the Cuda's device, with the scores
/// there.
struct Question {
  explicit Question(HostBatch& batch) : lock(batch.mutex()), current(batch.engine().device) {
    batch.send();
  }
  std::lock_guard<std::mutex> lock;
  CurrentDevice current;
};

/// Trees in device memory, and a number for each.
struct TreeMemory {
  TreeMemory(HostBatch& batch, std::size_t k) {
    const std::size_t width = batch.width();
    memory = take_block(batch.engine().pool, batch.stream(), [&](Arena& arena) {
      trees = {arena.take<std::int32_t>(batch.size() * k * width),
               static_cast<std::ptrdiff_t>(k * width), static_cast<std::ptrdiff_t>(width)};
      values = {arena.take<double>(batch.size() * k), static_cast<std::ptrdiff_t>(k), 1};
      outcomes = arena.take<CudaOutcome>(batch.size());
    });
  }
  DeviceBlock memory;
  CudaTreeBuffer trees;
  CudaTreeValues values;
  CudaOutcome* outcomes = nullptr;
};

class OnCuda final : public detail::DeviceBatch {
 public:
  OnCuda(Cuda& cuda, std::span<const ScoreView> scores, std::span<const std::uint64_t> ids,
         RootRule root, TreeFamily family)
      : batch_(cuda, scores, ids, root, family) {}

  void outcomes(std::span<Outcome> out) override;
  void log_partition(std::span<double> out) override;
  void entropy(std::span<double> out) override;
  void marginals(std::span<const EdgeMatrix> out) override;
  void root_marginals(std::span<double* const> out) override;
  void hessian_product(std::span<const ConstEdgeMatrix> direction,
                       std::span<const EdgeMatrix> out) override;
  void expectation(std::span<const ConstEdgeMatrix> values, std::span<double> out) override;
  void divergence(DeviceBatch& q, detail::Divergence kind, std::span<double> out) override;
  void log_prob(std::size_t k, std::span<const TreeBuffer> heads, std::span<double* const> out,
                std::ptrdiff_t out_stride) override;
  std::vector<Outcome> argmax(std::span<const ScoreView> scores,
                              std::span<const TreeOutput> out) override;
  void mbr(std::span<const TreeOutput> out) override;
  void sample(std::size_t k, const SampleOptions& options,
              std::span<const TreeOutput> out) override;
  void sample_without_replacement(std::size_t k, const WithoutReplacementOptions& options,
                                  std::span<WithoutReplacementSample> out) override;

 private:
  OnCuda(const HostBatch& like, std::span<const ScoreView> scores) : batch_(like, scores) {}

  static std::ptrdiff_t at(std::size_t s, std::ptrdiff_t stride) {
    return static_cast<std::ptrdiff_t>(s) * stride;
  }
  static double* data_of(const DeviceBlock& block) { return static_cast<double*>(block.data()); }
  DeviceBlock edge_memory() {
    const auto cells = static_cast<std::size_t>(batch_.bounds().back());
    return DeviceBlock(batch_.engine().pool, cells * sizeof(double), batch_.stream());
  }
  Bounds tree_bounds(std::size_t count) const {
    return regular_bounds(batch_.size(), count * batch_.width());
  }

  /// take(b, from) for the sentences that the device has answered.
  template <typename T, typename Take>
  void fetch(const T* from, const Bounds& bounds, Take&& take) {
    batch_.transfer().fetch(from, bounds, [&](std::size_t b, const T* elements) {
      if (batch_.answered(b)) take(b, elements);
    });
  }
  /// A number per sentence: ask(found) asks the device, which writes them to its memory, and
  /// cpu(b, f) is what the CPU finds where the device cannot.
  template <typename Ask, typename OfCpu>
  void ask_numbers(std::span<double> out, Ask&& ask, OfCpu&& cpu) {
    const Question question(batch_);
    const DeviceBlock found(batch_.engine().pool, batch_.size() * sizeof(double), batch_.stream());
    ask(data_of(found));
    batch_.settle();
    fetch(data_of(found), regular_bounds(batch_.size(), 1),
          [&](std::size_t b, const double* from) { out[b] = *from; });
    on_cpu([&](std::size_t b, const Factorization& f) { out[b] = cpu(b, f); });
  }
  /// place(b, s) is where the value of tree s goes; null: nowhere.
  template <typename Place>
  void fetch_values(const TreeMemory& there, std::size_t count, Place&& place) {
    batch_.settle();
    fetch(there.values.data, regular_bounds(batch_.size(), count),
          [&](std::size_t b, const double* from) {
            for (std::size_t s = 0; s < count; ++s) {
              if (double* to = place(b, s); to != nullptr) *to = from[s];
            }
          });
  }

  /// Trees in parts that fit the device's memory: visit(first, count).
  template <typename Visit>
  void in_parts(std::size_t k, Visit&& visit) {
    const std::size_t each =
        batch_.size() * (batch_.width() * sizeof(std::int32_t) + sizeof(double));
    if (each == 0) return;
    const std::size_t most = std::max(std::size_t{1}, batch_.engine().workspace_limit / each);
    for (std::size_t first = 0; first < k; first += most) visit(first, std::min(most, k - first));
  }

  template <typename Visit>
  void on_cpu(Visit&& visit) {
    for (const std::size_t b : batch_.refused()) {
      const Factorization& f = batch_.factored(b);
      if (f.outcome().ok()) visit(b, f);
    }
  }
  void sample_on_cpu(std::size_t b, const Factorization& f, std::size_t k,
                     const SampleOptions& options, const TreeOutput& out);
  /// A value for every edge, sent to device memory beside the scores.
  DeviceBlock send_edges(std::span<const ConstEdgeMatrix> from);
  template <typename Edges>
  Edges edges_in(const DeviceBlock& memory) const {
    Edges edges;
    edges.data = memory.data();
    edges.offsets = batch_.offsets();
    return edges;
  }
  /// Matrices from there.
  void fetch_edges(const DeviceBlock& found, std::span<const EdgeMatrix> out);

  HostBatch batch_;
};

}  // namespace taproot::cuda
