// SPDX-License-Identifier: Apache-2.0
//
// The inside of CudaDependencyTrees: what is known already, and what a question still has to find.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "core/check.h"
#include "cuda/engine.h"
#include "cuda/family.h"
#include "cuda/query/kept.h"
#include "query/wide_entry.h"
#include "taproot/cuda.h"

namespace taproot {

struct CudaDependencyTrees::Impl {
  Impl(std::shared_ptr<Cuda::Impl> of, const CudaScores& scores, bool keep_all)
      : engine(std::move(of)), batch{scores, 0}, fits(engine->limits.fits(scores.max_n)) {
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
    ask_with(*this, has_memory, function, on, work);
  }

  /// The same for work on two objects, with both locked: what is launched then reads both.
  template <typename Work>
  void ask_with(Impl& other, bool has_memory, const char* function, void* on, Work&& work) {
    detail::require(has_memory || batch.size == 0, function, "the memory for the answer is null");
    if (batch.size == 0) return;
    std::unique_lock lock(mutex, std::defer_lock);
    std::unique_lock of_other(other.mutex, std::defer_lock);
    &other == this ? lock.lock() : std::lock(lock, of_other);
    const CurrentDevice current(engine->device);
    move_to(static_cast<cudaStream_t>(on));
    other.move_to(static_cast<cudaStream_t>(on));
    work();
  }

  /// At least log Z, the outcomes and, if they are kept, the factors.
  void need_factors() {
    if (!eliminated) find({});
  }

  void find(cuda::Wanted wanted) {
    if (fits) {
      wanted.eliminate = !(eliminated && keep);
      engine->infer(batch, known, wanted, stream);
    } else if (!eliminated) {
      cuda::launch_refusal(known.summary.outcomes, batch.size, stream);
    }
    eliminated = true;
    if (wanted.reverse) reversed = true;
  }

  bool has_marginals() const { return reversed && keep; }

  /// visit(piece, marginals) with the marginals of a piece of the batch in device memory: those
  /// that are kept, or new ones, piece by piece.
  template <typename Visit>
  void with_marginals(Visit&& visit) {
    if (!fits) return need_factors();
    if (keep) {
      if (!reversed) find({.reverse = true});
      return visit(batch, known.marginals);
    }
    engine->in_pieces(
        batch, stream,
        [&](cuda::Arena& arena, const cuda::Batch& piece) {
          CudaEdges edges;
          edges.sentence_stride = piece.nodes() * piece.nodes();
          edges.data =
              arena.take<double>(piece.size * static_cast<std::size_t>(edges.sentence_stride));
          return edges;
        },
        [&](const cuda::Batch& piece, const CudaEdges& edges) {
          engine->infer(piece, known, {.reverse = true, .marginals = edges, .first = piece.first},
                        stream);
          visit(piece, edges);
        });
    eliminated = reversed = true;
  }

  /// Finds the best trees; only the workspace is missing in `args`.
  void launch_argmax(const cuda::ArgmaxArgs& args) {
    const cuda::FamilyKernels& kernels = cuda::kernels_of(batch.family);
    cuda::ArgmaxArgs complete;
    const cuda::DeviceBlock workspace =
        cuda::take_block(engine->pool, stream, [&](cuda::Arena& arena) {
          complete = args;  // Anew for each layout: it takes memory only for what is null.
          kernels.take_argmax_memory(arena, engine->limits, complete);
        });
    kernels.argmax(complete, engine->limits, stream);
  }

  void compare(CudaDependencyTrees::Impl& q, detail::Divergence kind, const char* function,
               double* out, void* on);

  std::shared_ptr<Cuda::Impl> engine;
  cuda::Batch batch;
  bool fits;  ///< If not, the sentences are too long for the device.
  std::size_t cells = 0;
  bool keep = false;
  bool eliminated = false;
  bool reversed = false;
  cuda::Known known;
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

}  // namespace taproot
