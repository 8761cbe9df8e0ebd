// SPDX-License-Identifier: Apache-2.0
//
// The questions of DependencyTrees on a Cuda: asked of the device, with answers fetched to host
// memory; sentences that the device cannot answer are finished by the CPU.
#include <algorithm>
#include <cmath>

#include "batch/device_batch.h"
#include "core/check.h"
#include "cuda/host_batch.h"
#include "taproot/query.h"

namespace taproot {
namespace {

using cuda::Arena;
using cuda::Bounds;
using cuda::DeviceBlock;
using cuda::HostBatch;
using cuda::regular_bounds;

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
    memory = cuda::take_block(batch.engine().pool, batch.stream(), [&](Arena& arena) {
      trees = {arena.take<std::int32_t>(batch.size() * k * width),
               static_cast<std::ptrdiff_t>(k * width), static_cast<std::ptrdiff_t>(width)};
      values = {arena.take<double>(batch.size() * k), static_cast<std::ptrdiff_t>(k), 1};
    });
  }
  DeviceBlock memory;
  CudaTreeBuffer trees;
  CudaTreeValues values;
};

/// A tree that is not there has the head -1 first.
void require_heads(TreeView heads) {
  if (heads[0] == -1) return;
  for (const std::int32_t head : heads) {
    detail::require(head >= 0 && static_cast<std::size_t>(head) <= heads.size(), "log_prob",
                    "a head is outside 0..n");
  }
}

class OnCuda final : public detail::DeviceBatch {
 public:
  OnCuda(Cuda& cuda, std::span<const ScoreView> scores, std::span<const std::uint64_t> ids,
         RootRule root)
      : batch_(cuda, scores, ids, root) {}

  void outcomes(std::span<Outcome> out) override {
    const Question question(batch_);
    batch_.settle();
    std::copy(batch_.outcomes().begin(), batch_.outcomes().end(), out.begin());
  }

  void log_partition(std::span<double> out) override {
    const Question question(batch_);
    const DeviceBlock found = numbers();
    batch_.trees().log_partition(data_of(found), batch_.stream());
    fetch_numbers(found, out);
    on_cpu([&](std::size_t b, const Factorization& f) { out[b] = taproot::log_partition(f); });
  }

  void entropy(std::span<double> out) override {
    const Question question(batch_);
    const DeviceBlock found = numbers();
    batch_.trees().entropy(data_of(found), batch_.stream());
    fetch_numbers(found, out);
    on_cpu([&](std::size_t b, const Factorization& f) {
      out[b] = taproot::entropy(f, batch_.workspace());
    });
  }

  void marginals(std::span<const EdgeMatrix> out) override {
    const Question question(batch_);
    const auto cells = static_cast<std::size_t>(batch_.bounds().back());
    const DeviceBlock found(batch_.engine().pool, cells * sizeof(double), batch_.stream());
    CudaEdges edges;
    edges.data = found.data();
    edges.offsets = batch_.offsets();
    batch_.trees().marginals(edges, batch_.stream());
    batch_.settle();
    fetch(data_of(found), batch_.bounds(), [&](std::size_t b, const double* from) {
      const std::size_t side = batch_.words(b) + 1;
      double* row = out[b].data;
      for (std::size_t h = 0; h < side; ++h, from += side, row += out[b].head_stride) {
        std::copy_n(from, side, row);
      }
    });
    on_cpu([&](std::size_t b, const Factorization& f) {
      taproot::marginals(f, out[b], batch_.workspace());
    });
  }

  void log_prob(std::size_t k, std::span<const TreeBuffer> heads, std::span<double* const> out,
                std::ptrdiff_t out_stride) override {
    const Question question(batch_);
    batch_.settle();
    in_parts(k, [&](std::size_t first, std::size_t count) {
      const TreeMemory there(batch_, count);
      batch_.transfer().send(
          there.trees.heads, tree_bounds(count), [&](std::size_t b, std::int32_t* to) {
            if (!batch_.answered(b)) return;
            for (std::size_t s = 0; s < count; ++s, to += batch_.width()) {
              const TreeView tree(heads[b].data + at(first + s, heads[b].stride), batch_.words(b));
              require_heads(tree);
              std::copy(tree.begin(), tree.end(), to);
            }
          });
      batch_.trees().log_prob(count, there.trees, there.values, batch_.stream());
      fetch_values(there, count, [&](std::size_t b, std::size_t s) {
        return out[b] + at(first + s, out_stride);
      });
    });
    on_cpu([&](std::size_t b, const Factorization& f) {
      for (std::size_t s = 0; s < k; ++s) {
        const TreeView tree(heads[b].data + at(s, heads[b].stride), batch_.words(b));
        out[b][at(s, out_stride)] = tree[0] == -1 ? NAN : taproot::log_prob(f, tree);
      }
    });
  }

  void sample(std::size_t k, const SampleOptions& options,
              std::span<const TreeOutput> out) override {
    detail::require(options.algorithm == Algorithm::kAuto, "sample",
                    "a device samples by the algorithm auto alone");
    const Question question(batch_);
    const bool with_log_prob =
        std::any_of(out.begin(), out.end(), [](const TreeOutput& o) { return o.log_prob; });
    in_parts(k, [&](std::size_t first, std::size_t count) {
      const TreeMemory there(batch_, count);
      const std::uint32_t first_tree = options.first_tree + static_cast<std::uint32_t>(first);
      batch_.trees().sample(count, options.seed, first_tree, there.trees, batch_.stream());
      if (with_log_prob) {
        batch_.trees().log_prob(count, there.trees, there.values, batch_.stream());
      }
      batch_.settle();
      fetch(there.trees.heads, tree_bounds(count), [&](std::size_t b, const std::int32_t* from) {
        for (std::size_t s = 0; s < count; ++s, from += batch_.width()) {
          std::copy_n(from, batch_.words(b), out[b].heads + at(first + s, out[b].stride));
        }
      });
      if (!with_log_prob) return;
      fetch_values(there, count, [&](std::size_t b, std::size_t s) {
        return out[b].log_prob == nullptr ? nullptr
                                          : out[b].log_prob + at(first + s, out[b].value_stride);
      });
    });
    batch_.settle();
    on_cpu([&](std::size_t b, const Factorization& f) { sample_on_cpu(b, f, k, options, out[b]); });
  }

  void sample_without_replacement(std::size_t k, const WithoutReplacementOptions& options,
                                  std::span<WithoutReplacementSample> out) override;

 private:
  static std::ptrdiff_t at(std::size_t s, std::ptrdiff_t stride) {
    return static_cast<std::ptrdiff_t>(s) * stride;
  }
  static double* data_of(const DeviceBlock& block) { return static_cast<double*>(block.data()); }
  DeviceBlock numbers() {
    return DeviceBlock(batch_.engine().pool, batch_.size() * sizeof(double), batch_.stream());
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
  void fetch_numbers(const DeviceBlock& found, std::span<double> out) {
    batch_.settle();
    fetch(data_of(found), regular_bounds(batch_.size(), 1),
          [&](std::size_t b, const double* from) { out[b] = *from; });
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
    for (const auto& [b, f] : batch_.on_cpu()) {
      if (f.outcome().ok()) visit(b, f);
    }
  }
  void sample_on_cpu(std::size_t b, const Factorization& f, std::size_t k,
                     const SampleOptions& options, const TreeOutput& out) {
    Sampler sampler;
    sampler.build(f, Algorithm::kAuto, batch_.workspace());
    sampler.sample(batch_.id(b), options, k, {out.heads, out.stride}, {}, nullptr,
                   batch_.workspace());
    for (std::size_t s = 0; out.log_prob != nullptr && s < k; ++s) {
      const TreeView tree(out.heads + at(s, out.stride), batch_.words(b));
      out.log_prob[at(s, out.value_stride)] = taproot::log_prob(f, tree);
    }
  }

  HostBatch batch_;
};

void OnCuda::sample_without_replacement(std::size_t k, const WithoutReplacementOptions& options,
                                        std::span<WithoutReplacementSample> out) {
  detail::require(options.algorithm == WithoutReplacementAlgorithm::kBeam,
                  "sample_without_replacement",
                  "a device samples without replacement by the algorithm beam alone");
  const Question question(batch_);
  const std::size_t size = batch_.size();
  const auto width = static_cast<std::ptrdiff_t>(batch_.width());
  CudaWithoutReplacement there;
  CudaOutcome* outcomes_there = nullptr;
  const DeviceBlock memory =
      cuda::take_block(batch_.engine().pool, batch_.stream(), [&](Arena& arena) {
        there.trees = {arena.take<std::int32_t>(size * k * batch_.width()), at(k, width), width};
        for (double** values : {&there.log_prob, &there.gumbel, &there.weight}) {
          *values = arena.take<double>(size * k);
        }
        there.kappa = arena.take<double>(size);
        there.count = arena.take<std::int32_t>(size);
        outcomes_there = arena.take<CudaOutcome>(size);
      });
  batch_.trees().sample_without_replacement(k, options.seed, outcomes_there, there,
                                            batch_.stream());
  batch_.settle();
  const auto outcomes = batch_.transfer().fetch(outcomes_there, size);
  const auto kappa = batch_.transfer().fetch(there.kappa, size);
  const auto count = batch_.transfer().fetch(there.count, size);
  const auto has = [&](std::size_t b) { return outcomes[b].status == cuda::kOk; };
  for (std::size_t b = 0; b < size; ++b) {
    if (!batch_.outcomes()[b].ok()) continue;
    if (!has(b)) {  // Out of range, of the elimination or of the beam alone.
      WithoutReplacementSampler sampler;
      sampler.build(batch_.factored(b), options, batch_.id(b), batch_.workspace());
      sampler.sample(k, out[b], batch_.workspace());
      continue;
    }
    out[b] = {};
    out[b].n = static_cast<int>(batch_.words(b));
    out[b].kappa = kappa[b];
    out[b].exhausted = kappa[b] == -HUGE_VAL;
  }
  const auto fetch_of_trees = [&](const double* from,
                                  std::vector<double> WithoutReplacementSample::*values) {
    batch_.transfer().fetch(from, regular_bounds(size, k), [&](std::size_t b, const double* all) {
      if (has(b)) (out[b].*values).assign(all, all + count[b]);
    });
  };
  fetch_of_trees(there.log_prob, &WithoutReplacementSample::log_prob);
  fetch_of_trees(there.gumbel, &WithoutReplacementSample::gumbel);
  fetch_of_trees(there.weight, &WithoutReplacementSample::weight);
  batch_.transfer().fetch(there.trees.heads, tree_bounds(k),
                          [&](std::size_t b, const std::int32_t* from) {
                            for (std::int32_t s = 0; has(b) && s < count[b]; ++s, from += width) {
                              out[b].heads.insert(out[b].heads.end(), from, from + batch_.words(b));
                            }
                          });
}

}  // namespace

std::unique_ptr<detail::DeviceBatch> detail::make_device_batch(Cuda& cuda,
                                                               std::span<const ScoreView> scores,
                                                               std::span<const std::uint64_t> ids,
                                                               RootRule root) {
  return std::make_unique<OnCuda>(cuda, scores, ids, root);
}

}  // namespace taproot
