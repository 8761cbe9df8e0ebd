// SPDX-License-Identifier: Apache-2.0
//
// The distributions of a batch in device memory: what is known already, and what a question still
// has to find.
#include <mutex>
#include <utility>

#include "core/check.h"
#include "cuda/engine.h"
#include "cuda/query/kept.h"
#include "cuda/query/log_prob.h"
#include "cuda/sample/without_replacement/beam.h"
#include "taproot/cuda.h"

namespace taproot {

using cuda::Batch;
using cuda::Known;
using cuda::Wanted;

namespace {

void check(const CudaScores& scores) {
  constexpr const char* kName = "CudaDependencyTrees";
  detail::require(scores.size == 0 || scores.data != nullptr, kName, "the scores are null");
  detail::require(scores.max_n >= 0 && scores.size <= std::size_t{1} << 30, kName,
                  "the batch has a negative length, or more than 2^30 sentences");
  detail::require(scores.offsets == nullptr || scores.cells > 0 || scores.size == 0, kName,
                  "with offsets the number of cells must be given");
}

int tree_count(std::size_t k, const char* function) {
  detail::require(k <= std::size_t{1} << 30, function, "at most 2^30 trees per sentence");
  return static_cast<int>(k);
}

}  // namespace

struct CudaDependencyTrees::Impl {
  Impl(std::shared_ptr<Cuda::Impl> of, const CudaScores& scores, bool keep_all)
      : engine(std::move(of)), batch{scores, 0}, fits(engine->fits(scores.max_n)) {
    const auto nodes = static_cast<std::size_t>(batch.nodes());
    cells = batch.offsets != nullptr ? batch.cells : batch.size * nodes * nodes;
    // Weights, factors and marginals.
    keep = keep_all && fits && cells * 3 * sizeof(double) <= engine->workspace_limit;
  }
  ~Impl() {
    try {
      const CurrentDevice current(engine->device);
      memory = {};
    } catch (...) {  // The process is about to end, and the device's memory with it.
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// work() with the device set, after all that was asked before, on whatever stream.
  template <typename Work>
  void ask(bool has_memory, const char* function, void* on, Work&& work) {
    detail::require(has_memory || batch.size == 0, function, "the memory for the answer is null");
    if (batch.size == 0) return;
    const std::lock_guard lock(mutex);
    const CurrentDevice current(engine->device);
    move_to(static_cast<cudaStream_t>(on));
    work();
  }

  /// At least log Z, the outcomes and, if they are kept, the factors.
  void need_factors() {
    if (!eliminated) find({});
  }

  void find(const Wanted& wanted) {
    if (!fits) {
      if (!eliminated) cuda::launch_refusal(known.summary.outcomes, batch.size, stream);
    } else if (eliminated && keep) {
      engine->reverse(batch, known, wanted, stream);
    } else {
      engine->eliminate(batch, known, wanted, stream);
    }
    eliminated = true;
    if (wanted.reverse) reversed = true;
  }

  bool has_marginals() const { return reversed && keep; }

  std::shared_ptr<Cuda::Impl> engine;
  Batch batch;
  bool fits;  ///< If not, the sentences are too long for the device.
  std::size_t cells = 0;
  bool keep = false;
  bool eliminated = false;
  bool reversed = false;
  Known known;
  cudaStream_t stream = nullptr;

 private:
  void move_to(cudaStream_t next) {
    if (memory.data() == nullptr) {
      stream = next;
      take_memory();
    } else if (next != stream) {
      cudaEvent_t done = nullptr;
      TAPROOT_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
      const cudaError_t recorded = cudaEventRecord(done, stream);
      const cudaError_t waiting = cudaStreamWaitEvent(next, done, 0);
      TAPROOT_CUDA(cudaEventDestroy(done));
      TAPROOT_CUDA(recorded);
      TAPROOT_CUDA(waiting);
      stream = next;
      memory.move_to(next);
    }
  }

  void take_memory() {
    memory = cuda::take_block(engine->pool, stream, [&](cuda::Arena& arena) {
      known.summary = take_summary(arena, batch);
      if (!keep) {
        known.summary.entropy = nullptr;  // A question that wants it has memory of its own.
        return;
      }
      known.factors = take_factors(arena, batch, batch.offsets != nullptr, true);
      known.marginals.data = arena.take<double>(cells);
      known.marginals.sentence_stride = batch.nodes() * batch.nodes();
      known.marginals.offsets = batch.offsets;
    });
  }

  std::mutex mutex;
  cuda::DeviceBlock memory;  // Of `known`.
};

CudaDependencyTrees::CudaDependencyTrees(Cuda& cuda, const CudaScores& scores, bool keep) {
  check(scores);
  impl_ = std::make_unique<Impl>(CudaAccess::impl(cuda), scores, keep);
}
CudaDependencyTrees::~CudaDependencyTrees() = default;
CudaDependencyTrees::CudaDependencyTrees(CudaDependencyTrees&&) noexcept = default;
CudaDependencyTrees& CudaDependencyTrees::operator=(CudaDependencyTrees&&) noexcept = default;

const CudaScores& CudaDependencyTrees::scores() const { return impl_->batch; }

void CudaDependencyTrees::outcomes(CudaOutcome* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::outcomes", stream, [&] {
    i.need_factors();
    TAPROOT_CUDA(cudaMemcpyAsync(out, i.known.summary.outcomes, i.batch.size * sizeof *out,
                                 cudaMemcpyDeviceToDevice, i.stream));
  });
}

void CudaDependencyTrees::log_partition(double* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::log_partition", stream, [&] {
    if (!i.eliminated) return i.find({.log_partition = out});
    const cuda::Summary& known = i.known.summary;
    cuda::launch_copy(i.batch, known.outcomes, known.log_partition, out, i.stream);
  });
}

void CudaDependencyTrees::entropy(double* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::entropy", stream, [&] {
    if (!i.has_marginals()) return i.find({.reverse = true, .entropy = out});
    const cuda::Summary& known = i.known.summary;
    cuda::launch_copy(i.batch, known.outcomes, known.entropy, out, i.stream);
  });
}

void CudaDependencyTrees::marginals(const CudaEdges& out, void* stream) {
  Impl& i = *impl_;
  i.ask(out.data != nullptr, "CudaDependencyTrees::marginals", stream, [&] {
    if (!i.has_marginals()) return i.find({.reverse = true, .marginals = out});
    cuda::launch_copy(i.batch, i.known.summary.outcomes, i.known.marginals, out, i.stream);
  });
}

void CudaDependencyTrees::root_marginals(double* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::root_marginals", stream, [&] {
    // Single-root, their law comes with the factors.
    if (i.batch.single() && i.keep) {
      i.need_factors();
    } else if (!i.reversed) {
      i.find({.reverse = true});
    }
    cuda::launch_copy_root_law(i.batch, i.known.summary, out, i.stream);
  });
}

void CudaDependencyTrees::log_prob(std::size_t k, const CudaTreeBuffer& trees,
                                   const CudaTreeValues& out, void* stream) {
  constexpr const char* kName = "CudaDependencyTrees::log_prob";
  Impl& i = *impl_;
  const int count = tree_count(k, kName);
  i.ask((trees.heads != nullptr && out.data != nullptr) || k == 0, kName, stream, [&] {
    i.need_factors();
    if (!i.fits) return;
    i.engine->in_pieces(
        i.batch, i.stream,
        [&](cuda::Arena&, const Batch& piece) {
          const auto first = static_cast<std::ptrdiff_t>(piece.first);
          cuda::LogProbArgs args{piece, slice(i.known.summary, piece), count, trees, out};
          args.heads.heads += first * trees.sentence_stride;
          args.out.data += first * out.sentence_stride;
          return args;
        },
        [&](const Batch&, const cuda::LogProbArgs& args) { launch_log_prob(args, i.stream); });
  });
}

void CudaDependencyTrees::hessian_product(const ConstCudaEdges& direction, const CudaEdges& out,
                                          void* stream) {
  Impl& i = *impl_;
  i.ask(direction.data != nullptr && out.data != nullptr, "CudaDependencyTrees::hessian_product",
        stream, [&] {
          // Factors in float32 are of no use to it.
          const bool in_double = i.engine->precision == Precision::kFloat64;
          if ((i.keep && in_double) || !i.fits) i.need_factors();
          if (i.fits) i.engine->hessian_product(i.batch, i.known, direction, out, i.stream);
        });
}

void CudaDependencyTrees::sample(std::size_t k, std::uint64_t seed, std::uint32_t first_tree,
                                 const CudaTreeBuffer& out, void* stream) {
  constexpr const char* kName = "CudaDependencyTrees::sample";
  Impl& i = *impl_;
  const int count = tree_count(k, kName);
  const bool nothing = k == 0 || i.batch.max_n == 0;
  i.ask(out.heads != nullptr || nothing, kName, stream, [&] {
    if (i.keep || !i.fits) i.need_factors();
    if (!i.fits || nothing) return;
    i.engine->sample(i.batch, i.known, count, seed, first_tree, out, i.stream);
    i.eliminated = true;
  });
}

void CudaDependencyTrees::sample_without_replacement(std::size_t k, std::uint64_t seed,
                                                     CudaOutcome* outcomes,
                                                     const CudaWithoutReplacement& out,
                                                     void* stream) {
  constexpr const char* kName = "CudaDependencyTrees::sample_without_replacement";
  Impl& i = *impl_;
  const int count = tree_count(k, kName);
  const bool has_memory =
      (out.trees.heads != nullptr && out.log_prob != nullptr && out.gumbel != nullptr) || k == 0;
  const bool has_vectors = outcomes != nullptr && out.kappa != nullptr && out.count != nullptr;
  i.ask(has_memory && has_vectors, kName, stream, [&] {
    if (!i.fits || cuda::beam_chunk(i.batch.max_n) == 0) {
      return cuda::launch_refusal(outcomes, i.batch.size, i.stream);
    }
    i.engine->beam(i.batch, count, seed, outcomes, out, i.stream);
  });
}

}  // namespace taproot
