// SPDX-License-Identifier: Apache-2.0
//
// The questions of a training step, with all memory from the caller.
#include <string>

#include "core/check.h"
#include "cuda/core/arena.h"
#include "cuda/decode/argmax.h"
#include "cuda/query/infer.h"
#include "taproot/cuda.h"

namespace taproot {
namespace {

using cuda::Arena;
using cuda::ArgmaxArgs;
using cuda::Batch;
using cuda::InferenceArgs;
using cuda::Limits;

void check(const CudaScores& scores, const Limits& limits, const char* function) {
  const auto require = [=](bool condition, const char* what) {
    detail::require(condition, function, what);
  };
  require(scores.size == 0 || scores.data != nullptr, "the scores are null");
  require(scores.max_n >= 0, "max_n is negative");
  require(scores.size <= std::size_t{1} << 30, "there are more than 2^30 sentences");
  require(scores.offsets == nullptr || scores.cells > 0 || scores.size == 0,
          "with offsets the number of cells must be given");
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
  cuda::take_infer_memory(arena, limits, args);
  return args;
}

ArgmaxArgs lay_out(Arena& arena, const CudaArgmax& question, const Limits& limits) {
  ArgmaxArgs args;
  args.batch = Batch{question.scores, 0};
  args.outcomes = question.outcomes;
  args.out = question.trees;
  args.score = question.score;
  cuda::take_argmax_memory(arena, limits, args);
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
  answer(question, workspace, workspace_bytes, "cuda_infer",
         [&](const InferenceArgs& args, const Limits& limits) {
           cuda::infer(args, question.precision, limits, stream);
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
  answer(question, workspace, workspace_bytes, kName,
         [&](const ArgmaxArgs& args, const Limits& limits) {
           cuda::launch_argmax(args, limits, stream);
         });
}

}  // namespace taproot
