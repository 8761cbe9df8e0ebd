// SPDX-License-Identifier: Apache-2.0
//
// A batch in host memory, on the device: its scores there, the outcome of each sentence here, and
// the sentences that only the CPU can answer.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cuda/core/transfer.h"
#include "cuda/engine.h"
#include "taproot/cuda.h"
#include "taproot/factorization.h"
#include "taproot/scores.h"

namespace taproot::cuda {

class HostBatch {
 public:
  HostBatch(const Cuda& cuda, std::span<const ScoreView> scores, std::span<const std::uint64_t> ids,
            RootRule root, TreeFamily family);
  /// The same sentences with other scores.
  HostBatch(const HostBatch& like, std::span<const ScoreView> scores)
      : HostBatch(like.cuda_, scores, like.ids_, like.root_, like.family_) {}

  /// Sends the scores, the first time. Nothing else may be asked for before.
  void send();
  /// Finds the outcomes, and factors on the CPU what the device cannot answer, the first time.
  /// Called after a question, so that the question decides what the first launch finds.
  void settle();

  std::size_t size() const { return scores_.size(); }
  std::size_t words(std::size_t b) const { return static_cast<std::size_t>(scores_[b].n()); }
  std::uint64_t id(std::size_t b) const { return ids_[b]; }
  const ScoreView& scores(std::size_t b) const { return scores_[b]; }
  RootRule root() const { return root_; }
  TreeFamily family() const { return family_; }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  /// Whether the device has an answer for the sentence.
  bool answered(std::size_t b) const { return outcomes_[b].ok() && !refused_.contains(b); }

  CudaDependencyTrees& trees() { return *trees_; }
  /// The longest sentence on the device: trees there have so many heads.
  std::size_t width() const { return static_cast<std::size_t>(max_n_); }
  /// Where the matrix of each sentence begins, here and in device memory.
  const Bounds& bounds() const { return bounds_; }
  const std::int64_t* offsets() const { return offsets_; }

  Cuda::Impl& engine() const { return *CudaAccess::impl(cuda_); }
  cudaStream_t stream() const { return engine().host_stream; }
  Transfer transfer() const { return {engine().staging, stream()}; }

  /// A sentence factored by the CPU, once.
  const Factorization& factored(std::size_t b);
  /// The sentences that the device cannot answer.
  const std::set<std::size_t>& refused() const { return refused_; }
  Workspace& workspace() { return workspace_; }
  std::mutex& mutex() { return mutex_; }

  /// The device has no room for the longest sentences, which are empty there.
  bool on_device(std::size_t b) const { return engine().limits.fits(scores_[b].n()); }

 private:
  template <typename T>
  void send_scores(T* to) const;

  Cuda cuda_;
  std::span<const ScoreView> scores_;
  std::span<const std::uint64_t> ids_;
  RootRule root_;
  TreeFamily family_;
  int max_n_ = 0;
  Bounds bounds_;
  DeviceBlock memory_;  // Of the scores, their lengths, ids and offsets.
  const std::int64_t* offsets_ = nullptr;
  std::optional<CudaDependencyTrees> trees_;
  std::vector<Outcome> outcomes_;
  bool settled_ = false;
  std::set<std::size_t> refused_;
  std::map<std::size_t, Factorization> factored_;
  Workspace workspace_;
  std::mutex mutex_;
};

}  // namespace taproot::cuda
