// SPDX-License-Identifier: Apache-2.0
//
// One call that XLA makes, as the handlers of both platforms see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "taproot/types.h"
#include "xla/ffi/api/ffi.h"

namespace taproot::python::jax {

namespace ffi = xla::ffi;

/// The operands, results and attributes of one call. Asking for one that is not there throws.
class Call {
 public:
  Call(ffi::RemainingArgs operands, ffi::RemainingRets results, ffi::Dictionary attributes)
      : operands_(operands), results_(results), attributes_(attributes) {}

  std::size_t operands() const { return operands_.size(); }
  std::size_t results() const { return results_.size(); }
  ffi::AnyBuffer operand(std::size_t i) const { return got(operands_.get<ffi::AnyBuffer>(i)); }
  ffi::AnyBuffer result(std::size_t i) const { return *got(results_.get<ffi::AnyBuffer>(i)); }

  template <typename T>
  T attribute(std::string_view name) const {
    return got(attributes_.get<T>(name));
  }

 private:
  template <typename T>
  static T got(const ffi::ErrorOr<T>& found) {
    if (!found.has_value()) throw std::invalid_argument(found.error().message());
    return found.value();
  }

  ffi::RemainingArgs operands_;
  ffi::RemainingRets results_;
  ffi::Dictionary attributes_;
};

/// Padded sentences [size][side][side] in row-major order; all axes of a batch count as one.
struct Batch {
  const void* scores = nullptr;
  bool is_double = false;
  std::size_t size = 0;
  std::size_t side = 0;
  const std::int32_t* words = nullptr;  ///< [size]; not checked.
  RootRule root = RootRule::kSingle;
  TreeFamily family = TreeFamily::kAll;

  std::size_t row() const { return side - 1; }
  std::size_t cells() const { return side * side; }
};

/// Whether the numbers are float64; throws unless they are that or float32.
inline bool holds_doubles(const ffi::AnyBuffer& buffer) {
  const bool doubles = buffer.element_type() == ffi::F64;
  if (!doubles && buffer.element_type() != ffi::F32) {
    throw std::invalid_argument("[taproot.jax] numbers must be float32 or float64");
  }
  return doubles;
}

/// The scores in operand `at`, with the numbers of words, which are operand 1 of every call. The
/// attribute `projective` names the family of their trees.
inline Batch batch_of(const Call& call, std::size_t at = 0,
                      std::string_view projective = "projective") {
  const ffi::AnyBuffer scores = call.operand(at);
  const ffi::AnyBuffer words = call.operand(1);
  const ffi::AnyBuffer::Dimensions shape = scores.dimensions();
  if (shape.size() < 2 || shape.back() < 1 || shape[shape.size() - 2] != shape.back()) {
    throw std::invalid_argument("[taproot.jax] scores must have shape (..., N+1, N+1)");
  }
  Batch batch;
  batch.scores = scores.untyped_data();
  batch.is_double = holds_doubles(scores);
  batch.size = words.element_count();
  batch.side = static_cast<std::size_t>(shape.back());
  batch.words = words.typed_data<std::int32_t>();
  batch.root = call.attribute<bool>("multi") ? RootRule::kMulti : RootRule::kSingle;
  batch.family = call.attribute<bool>(projective) ? TreeFamily::kProjective : TreeFamily::kAll;
  if (batch.size * batch.cells() != scores.element_count()) {
    throw std::invalid_argument("[taproot.jax] there must be one number of words per sentence");
  }
  return batch;
}

/// Under vmap several calls become one, each with a key of its own; the trees of each are those
/// that it has by itself. A call's sentences follow one another.
struct Calls {
  std::size_t count = 0;
  std::size_t sentences = 0;  ///< Of each call.
};

/// `axes`, an attribute, is how many axes of the batch belong to a single call.
inline Calls calls_of(const Call& call) {
  const ffi::AnyBuffer words = call.operand(1);
  const ffi::AnyBuffer::Dimensions shape = words.dimensions();
  const auto axes = static_cast<std::size_t>(call.attribute<std::int32_t>("axes"));
  Calls calls{1, 1};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (i + axes < shape.size() ? calls.count : calls.sentences) *= static_cast<std::size_t>(shape[i]);
  }
  return calls;
}

/// visit(batch, first sentence, seed) for one of the calls. `keys` has two words per sentence of
/// all, the same ones for all sentences of a call.
template <typename Visit>
void visit_call(const Batch& all, const Calls& calls, std::size_t call, const std::uint32_t* keys,
                Visit&& visit) {
  const std::size_t first = call * calls.sentences;
  const std::size_t bytes = all.is_double ? sizeof(double) : sizeof(float);
  Batch batch = all;
  batch.scores = static_cast<const char*>(all.scores) + first * all.cells() * bytes;
  batch.words = all.words + first;
  batch.size = calls.sentences;
  visit(batch, first, std::uint64_t{keys[2 * first]} << 32 | keys[2 * first + 1]);
}

/// work(), with what it throws as an error for XLA.
template <typename Work>
ffi::Error guarded(Work&& work) {
  try {
    work();
    return ffi::Error::Success();
  } catch (const std::invalid_argument& error) {
    return ffi::Error::InvalidArgument(error.what());
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

}  // namespace taproot::python::jax
