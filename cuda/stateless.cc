// SPDX-License-Identifier: Apache-2.0
//
// The questions of a training step, with all memory from the caller.
#include <string>

#include "core/check.h"
#include "cuda/core/arena.h"
#include "cuda/core/require.h"
#include "cuda/family.h"
#include "cuda/query/log_prob.h"
#include "taproot/cuda.h"

namespace taproot {
namespace {

using cuda::Arena;
using cuda::ArgmaxArgs;
using cuda::Batch;
using cuda::HessianQuestion;
using cuda::InferenceArgs;
using cuda::kernels_of;
using cuda::Limits;

void check(const CudaScores& scores, const Limits& limits, const char* function) {
  cuda::require_scores(scores, function);
  if (!limits.fits(scores.max_n)) {
    detail::misuse(function, "sentences of up to " + std::to_string(scores.max_n) +
                                 " words do not fit the shared memory of this device");
  }
}

InferenceArgs lay_out(Arena& arena, const CudaInference& question, const Limits& limits) {
  InferenceArgs args;
  args.batch = Batch{question.scores, 0};
  args.batch.ids = nullptr;
  args.summary = cuda::take_summary(arena, args.batch);
  args.summary.entropy = nullptr;
  if (question.outcomes != nullptr) args.summary.outcomes = question.outcomes;
  args.factors = cuda::take_factors(arena, args.batch, args.batch.offsets != nullptr, false);
  args.reverse = question.marginals.data != nullptr || question.entropy.data != nullptr;
  args.log_partition = question.log_partition;
  args.entropy = question.entropy;
  args.marginals[0] = question.marginals;
  args.factor = question.factor;
  args.total = true;
  kernels_of(args.batch.family).take_infer_memory(arena, limits, args);
  return args;
}

HessianQuestion lay_out(Arena& arena, const CudaHessian& question, const Limits& limits) {
  HessianQuestion args =
      kernels_of(question.scores.family)
          .take_hessian(arena, limits, Batch{question.scores, 0}, {}, {}, question);
  args.hessian.total = true;
  return args;
}

ArgmaxArgs lay_out(Arena& arena, const CudaArgmax& question, const Limits& limits) {
  ArgmaxArgs args;
  args.batch = Batch{question.scores, 0};
  args.outcomes = question.outcomes;
  args.out = question.trees;
  args.score = question.score;
  kernels_of(args.batch.family).take_argmax_memory(arena, limits, args);
  return args;
}

template <typename Question>
std::size_t bytes_of(const Question& question, const char* function) {
  const Limits limits = Limits::of_current_device();
  check(question.scores, limits, function);
  Arena arena;
  lay_out(arena, question, limits);
  return arena.used();
}

/// run(args, limits) with the workspace laid out.
template <typename Question, typename Run>
void answer(const Question& question, void* workspace, std::size_t workspace_bytes,
            const char* function, Run&& run) {
  const Limits limits = Limits::of_current_device();
  check(question.scores, limits, function);
  if (question.scores.size == 0) return;
  detail::require(workspace != nullptr, function, "the workspace is null");
  Arena arena(workspace);
  const auto args = lay_out(arena, question, limits);
  if (arena.used() > workspace_bytes) {
    detail::misuse(function, "the workspace has " + std::to_string(workspace_bytes) +
                                 " bytes and must have " + std::to_string(arena.used()));
  }
  run(args, limits);
}

}  // namespace

std::size_t cuda_inference_bytes(const CudaInference& question) {
  return bytes_of(question, "cuda_inference_bytes");
}

void cuda_infer(const CudaInference& question, void* workspace, std::size_t workspace_bytes,
                void* stream) {
  constexpr const char* kName = "cuda_infer";
  const int count = cuda::tree_count(question.tree_count, kName);
  const bool has_trees = question.trees.heads != nullptr && question.log_prob.data != nullptr;
  const bool no_trees = count == 0 || question.scores.size == 0;
  detail::require(has_trees || no_trees || question.scores.max_n == 0, kName,
                  "the trees or the memory for their log p are null");
  answer(question, workspace, workspace_bytes, kName,
         [&](const InferenceArgs& args, const Limits& limits) {
           kernels_of(args.batch.family).infer(args, question.precision, limits, stream);
           const cuda::LogProbArgs trees{args.batch,     args.summary,      count,
                                         question.trees, question.log_prob, true};
           cuda::launch_log_prob(trees, stream);
           if (question.slope_of_tree) {
             cuda::launch_slope_of_tree(trees, question.marginals, stream);
           }
         });
}

std::size_t cuda_hessian_bytes(const CudaHessian& question) {
  return bytes_of(question, "cuda_hessian_bytes");
}

void cuda_hessian_product(const CudaHessian& question, void* workspace, std::size_t workspace_bytes,
                          void* stream) {
  constexpr const char* kName = "cuda_hessian_product";
  const bool has_memory = question.direction.data != nullptr && question.out.data != nullptr;
  detail::require(has_memory || question.scores.size == 0, kName,
                  "the direction or the memory for the answer is null");
  answer(question, workspace, workspace_bytes, kName,
         [&](const HessianQuestion& args, const Limits& limits) {
           kernels_of(question.scores.family).hessian_product(args, limits, stream);
         });
}

std::size_t cuda_argmax_bytes(const CudaArgmax& question) {
  return bytes_of(question, "cuda_argmax_bytes");
}

void cuda_argmax(const CudaArgmax& question, void* workspace, std::size_t workspace_bytes,
                 void* stream) {
  constexpr const char* kName = "cuda_argmax";
  const CudaScores& scores = question.scores;
  detail::require(question.trees.heads != nullptr || scores.size == 0 || scores.max_n == 0, kName,
                  "the memory for the trees is null");
  cuda::require_head_size(question.trees, scores.max_n, kName);
  answer(question, workspace, workspace_bytes, kName,
         [&](const ArgmaxArgs& args, const Limits& limits) {
           kernels_of(args.batch.family).argmax(args, limits, stream);
         });
}

}  // namespace taproot
