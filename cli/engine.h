// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "chunk.h"
#include "options.h"
#include "taproot/cuda.h"
#include "taproot/dependency_trees.h"

namespace taproot::cli {

/// Where a command computes: on the CPU, or with --device cuda on the GPU, which starts while the
/// input is being read. trees() throws if there is no GPU, because a command must never run on the
/// CPU instead without saying so.
class Engine {
 public:
  explicit Engine(const Options& options)
      : root_(options.root), projective_(options.projective), pool_(options.threads) {
    if (options.device == Device::kCuda) {
      starting_ = std::async(std::launch::async, [] { return std::make_unique<Cuda>(); });
    }
  }

  Pool& pool() { return pool_; }

  /// The distribution of each sentence of a chunk, which must outlive it. `keep` if it will be
  /// asked more than one question. A sentence that the constraints do not fit is passed as an empty
  /// sentence. Chunk::failure() reports the constraint instead.
  DependencyTrees trees(const Chunk& chunk, bool keep) {
    if (starting_.valid()) cuda_ = starting_.get();
    BatchOptions options;
    options.root = root_;
    options.projective = projective_;
    options.ids = chunk.ids;
    options.keep = keep;
    options.constraints = chunk.constraints;
    std::vector<ScoreView> views;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const bool bad = !chunk.bad_constraint[i].empty();
      views.push_back(bad ? ScoreView(std::span<const double>(), 0) : chunk.sentences[i].view());
      if (!chunk.labels.empty()) {
        options.labels.push_back(
            bad ? LabelView(static_cast<const double*>(nullptr), 0, chunk.labels[i].labels)
                : chunk.labels[i].view());
      }
    }
    return cuda_ != nullptr ? DependencyTrees(*cuda_, std::move(views), std::move(options))
                            : DependencyTrees(pool_, std::move(views), std::move(options));
  }

 private:
  RootRule root_;
  bool projective_;
  Pool pool_;
  std::unique_ptr<Cuda> cuda_;
  std::future<std::unique_ptr<Cuda>> starting_;
};

}  // namespace taproot::cli
