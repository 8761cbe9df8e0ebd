// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "query/wide_entry.h"
#include "taproot/cuda.h"
#include "taproot/dependency_trees.h"

namespace taproot::detail {

/// A batch whose scores, factors, log Z and marginals are in the memory of a device, as
/// DependencyTrees asks it: host memory in and out. cuda/ implements it. Whatever is asked first
/// sends the scores and eliminates, once. Sentences beyond the range of the device's arithmetic are
/// answered by the CPU. A sentence without an answer leaves its output alone.
class DeviceBatch {
 public:
  virtual ~DeviceBatch() = default;

  virtual void outcomes(std::span<Outcome> out) = 0;
  virtual void log_partition(std::span<double> out) = 0;
  virtual void entropy(std::span<double> out) = 0;
  virtual void marginals(std::span<const EdgeMatrix> out) = 0;
  virtual void root_marginals(std::span<double* const> out) = 0;
  /// NaN for a sentence whose direction is not finite where it matters.
  virtual void hessian_product(std::span<const ConstEdgeMatrix> direction,
                               std::span<const EdgeMatrix> out) = 0;
  virtual void expectation(std::span<const ConstEdgeMatrix> values, std::span<double> out) = 0;
  /// Of this batch and `q`, which must be on the same device and of the same shape.
  virtual void divergence(DeviceBatch& q, Divergence kind, std::span<double> out) = 0;
  /// Of trees that are checked here, on the host: -inf for those that are not trees.
  virtual void log_prob(std::size_t k, std::span<const TreeBuffer> heads,
                        std::span<double* const> out, std::ptrdiff_t out_stride) = 0;
  /// The best tree by `scores` or, if that is empty, by the scores of the batch. heads and, where
  /// asked for, score. It needs no elimination, and returns outcomes of its own.
  virtual std::vector<Outcome> argmax(std::span<const ScoreView> scores,
                                      std::span<const TreeOutput> out) = 0;
  /// heads alone.
  virtual void mbr(std::span<const TreeOutput> out) = 0;
  /// By auto. heads and, where asked for, log_prob; labels and padding are the caller's.
  virtual void sample(std::size_t k, const SampleOptions& options,
                      std::span<const TreeOutput> out) = 0;
  /// By auto or beam. Fills out[b] without labels, which the caller adds. out[b].status is the
  /// sampler's; the sentence's own outcome is in outcomes().
  virtual void sample_without_replacement(std::size_t k, const WithoutReplacementOptions& options,
                                          std::span<WithoutReplacementSample> out) = 0;
};

/// The views must outlive it. `ids` has one entry per sentence.
std::unique_ptr<DeviceBatch> make_device_batch(Cuda& cuda, std::span<const ScoreView> scores,
                                               std::span<const std::uint64_t> ids, RootRule root,
                                               TreeFamily family);

}  // namespace taproot::detail
