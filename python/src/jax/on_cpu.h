// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "call.h"
#include "padded.h"
#include "pool.h"
#include "taproot/dependency_trees.h"

namespace taproot::python::jax {

/// kAnswer as a handler on the CPU.
template <void (*kAnswer)(const Call&, const Batch&)>
XLA_FFI_Error* on_cpu(XLA_FFI_CallFrame* frame) {
  static const auto* const handler =
      ffi::Ffi::Bind()
          .RemainingArgs()
          .RemainingRets()
          .Attrs()
          .To([](ffi::RemainingArgs operands, ffi::RemainingRets results,
                 ffi::Dictionary attributes) {
            const Unsignaled unsignaled;
            return guarded([&] {
              const Call call(operands, results, attributes);
              kAnswer(call, batch_of(call));
            });
          })
          .release();
  return handler->Call(frame);
}

/// A length that cannot be has no answer, as a sentence without words has none.
inline int words_of(const Batch& batch, std::size_t b) {
  const std::int32_t n = batch.words[b];
  return n < 0 || static_cast<std::size_t>(n) > batch.row() ? 0 : n;
}

/// The distributions. Without `keep` only log Z stays for a second question.
inline DependencyTrees trees_of(const Batch& batch, BatchOptions options) {
  std::vector<ScoreView> views;
  views.reserve(batch.size);
  const auto side = static_cast<std::ptrdiff_t>(batch.side);
  for (std::size_t b = 0; b < batch.size; ++b) {
    views.push_back(view_of<ScoreView>(batch.scores, batch.is_double,
                                       static_cast<std::ptrdiff_t>(b * batch.cells()),
                                       words_of(batch, b), side, 1));
  }
  options.root = batch.root;
  options.projective = batch.family == TreeFamily::kProjective;
  return DependencyTrees(pool(), std::move(views), std::move(options));
}

inline DependencyTrees trees_of(const Batch& batch, bool keep) {
  BatchOptions options;
  options.keep = keep;
  return trees_of(batch, std::move(options));
}

/// Where the library writes the numbers of a result. A result in float32 has memory in between,
/// from which finish() rounds.
class Numbers {
 public:
  explicit Numbers(const ffi::AnyBuffer& result) : result_(result), size_(result.element_count()) {
    if (!holds_doubles(result)) memory_ = std::make_unique_for_overwrite<double[]>(size_);
  }

  double* data() { return memory_ ? memory_.get() : result_.typed_data<double>(); }
  std::size_t size() const { return size_; }
  std::span<double> all() { return {data(), size_}; }

  void finish() {
    if (!memory_) return;
    float* const to = result_.typed_data<float>();
    constexpr std::size_t kPiece = 16384;  // Less is not worth a second thread.
    pool().for_each((size_ + kPiece - 1) / kPiece, [&](std::size_t piece) {
      const std::size_t end = std::min(size_, (piece + 1) * kPiece);
      for (std::size_t i = piece * kPiece; i < end; ++i) to[i] = static_cast<float>(memory_[i]);
    });
  }

 private:
  ffi::AnyBuffer result_;
  std::size_t size_;
  std::unique_ptr<double[]> memory_;
};

}  // namespace taproot::python::jax
