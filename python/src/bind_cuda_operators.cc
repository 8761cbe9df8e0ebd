// SPDX-License-Identifier: Apache-2.0
//
// The questions of a training step on a CUDA device, with all memory from the caller. Memory is
// given by its address: a step asks so little of the device that looking into arrays would cost
// more than the work. The Python side has checked shapes and types.
#include <cstdint>

#include "gil.h"
#include "module.h"
#include "operator_arguments.h"
#include "taproot/cuda.h"

namespace nb = nanobind;

namespace taproot::python {
namespace {

// `words` is the address of the lengths, or 0 if all sentences have max_n words.
CudaScores scores_at(Address data, bool is_double, std::size_t size, int max_n,
                     std::ptrdiff_t sentence_stride, std::ptrdiff_t head_stride,
                     std::ptrdiff_t modifier_stride, Address words, int kind) {
  CudaScores scores;
  scores.data = at(data);
  scores.is_double = is_double;
  scores.size = size;
  scores.max_n = max_n;
  scores.sentence_stride = sentence_stride;
  scores.head_stride = head_stride;
  scores.modifier_stride = modifier_stride;
  scores.lengths = at<const std::int32_t>(words);
  scores.root = root_of(kind);
  scores.family = family_of(kind);
  return scores;
}

// Only what the size of a workspace depends on: no memory is touched.
CudaScores scores_of(bool is_double, std::size_t size, int max_n, int kind) {
  return scores_at(256, is_double, size, max_n, 0, 0, 1, 0, kind);
}

std::size_t infer_bytes(bool is_double, std::size_t size, int max_n, int kind, bool entropy,
                        bool marginals) {
  CudaInference question;
  question.scores = scores_of(is_double, size, max_n, kind);
  question.precision = is_double ? Precision::kFloat64 : Precision::kFloat32;
  if (entropy) question.entropy.data = at(256);
  if (marginals) question.marginals.data = at(256);
  return cuda_inference_bytes(question);
}

// log Z, entropies and marginals are of the type of the scores.
void infer(Address data, bool is_double, std::size_t size, int max_n,
           std::ptrdiff_t sentence_stride, std::ptrdiff_t head_stride,
           std::ptrdiff_t modifier_stride, Address words, int kind, Address log_partition,
           Address entropy, Address marginals, std::ptrdiff_t to_sentence, std::ptrdiff_t to_head,
           std::ptrdiff_t to_modifier, Address outcomes, std::size_t tree_count, Address heads,
           Address log_prob, bool slope_of_tree, Address workspace, std::size_t bytes,
           Address stream) {
  CudaInference question;
  question.scores = scores_at(data, is_double, size, max_n, sentence_stride, head_stride,
                              modifier_stride, words, kind);
  question.precision = is_double ? Precision::kFloat64 : Precision::kFloat32;
  question.log_partition = {at(log_partition), is_double, 1};
  question.entropy = {at(entropy), is_double, 1};
  question.marginals = {at(marginals), is_double, to_sentence, to_head, to_modifier, nullptr};
  question.outcomes = at<CudaOutcome>(outcomes);
  question.tree_count = tree_count;  // Trees are [k][B][N], and their numbers [k][B].
  question.trees = {at<std::int32_t>(heads), max_n, static_cast<std::ptrdiff_t>(size) * max_n};
  question.log_prob = {at<double>(log_prob), 1, static_cast<std::ptrdiff_t>(size)};
  question.slope_of_tree = slope_of_tree;
  const Released released;
  cuda_infer(question, at(workspace), bytes, at(stream));
}

std::size_t hessian_bytes(bool is_double, std::size_t size, int max_n, int kind, bool entropy) {
  CudaHessian question;
  question.scores = scores_of(is_double, size, max_n, kind);
  if (entropy) question.entropy.data = at(256);
  return cuda_hessian_bytes(question);
}

// The direction and the answer are contiguous.
void hessian_product(Address data, bool is_double, std::size_t size, int max_n,
                     std::ptrdiff_t sentence_stride, std::ptrdiff_t head_stride,
                     std::ptrdiff_t modifier_stride, Address words, int kind, Address direction,
                     bool direction_is_double, Address out, bool out_is_double, Address workspace,
                     std::size_t bytes, Address stream) {
  const std::ptrdiff_t side = max_n + 1;
  CudaHessian question;
  question.scores = scores_at(data, is_double, size, max_n, sentence_stride, head_stride,
                              modifier_stride, words, kind);
  question.direction = {at(direction), direction_is_double, side * side, side, 1, nullptr};
  question.out = {at(out), out_is_double, side * side, side, 1, nullptr};
  const Released released;
  cuda_hessian_product(question, at(workspace), bytes, at(stream));
}

// Entropies and their gradients, which are contiguous, in the type of the scores.
void entropy_and_slope(Address data, bool is_double, std::size_t size, int max_n,
                       std::ptrdiff_t sentence_stride, std::ptrdiff_t head_stride,
                       std::ptrdiff_t modifier_stride, Address words, int kind, Address entropy,
                       Address slope, Address outcomes, Address workspace, std::size_t bytes,
                       Address stream) {
  const std::ptrdiff_t side = max_n + 1;
  CudaHessian question;
  question.scores = scores_at(data, is_double, size, max_n, sentence_stride, head_stride,
                              modifier_stride, words, kind);
  question.direction = {at(data),    is_double,       sentence_stride,
                        head_stride, modifier_stride, nullptr};
  question.factor = -1;
  question.out = {at(slope), is_double, side * side, side, 1, nullptr};
  question.entropy = {at(entropy), is_double, 1};
  question.outcomes = at<CudaOutcome>(outcomes);
  const Released released;
  cuda_hessian_product(question, at(workspace), bytes, at(stream));
}

std::size_t argmax_bytes(bool is_double, std::size_t size, int max_n, int kind) {
  CudaArgmax question;
  question.scores = scores_of(is_double, size, max_n, kind);
  return cuda_argmax_bytes(question);
}

// Trees are [B][N] of int64, as PyTorch's indices are.
void argmax(Address data, bool is_double, std::size_t size, int max_n,
            std::ptrdiff_t sentence_stride, std::ptrdiff_t head_stride,
            std::ptrdiff_t modifier_stride, Address words, int kind, Address outcomes,
            Address heads, Address workspace, std::size_t bytes, Address stream) {
  CudaArgmax question;
  question.scores = scores_at(data, is_double, size, max_n, sentence_stride, head_stride,
                              modifier_stride, words, kind);
  question.trees = {at(heads), sizeof(std::int64_t), max_n, 0};
  question.outcomes = at<CudaOutcome>(outcomes);
  const Released released;
  cuda_argmax(question, at(workspace), bytes, at(stream));
}

}  // namespace

void init_cuda_operators(nb::module_& m) {
  m.def("cuda_infer_bytes", &infer_bytes);
  m.def("cuda_infer", &infer);
  m.def("cuda_hessian_bytes", &hessian_bytes);
  m.def("cuda_hessian_product", &hessian_product);
  m.def("cuda_entropy_and_slope", &entropy_and_slope);
  m.def("cuda_argmax_bytes", &argmax_bytes);
  m.def("cuda_argmax", &argmax);
}

}  // namespace taproot::python
