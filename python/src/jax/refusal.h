// SPDX-License-Identifier: Apache-2.0
//
// Handlers for what a CUDA device does not do: a program that asks for it is not compiled.
#pragma once

#include <string>

#include "handlers.h"
#include "xla/ffi/api/ffi.h"

namespace taproot::python::jax {

/// A handler for when a program is compiled, from attributes. Later versions of jaxlib pass
/// operands and results at that stage too, which the headers of older ones must be told to accept.
inline auto when_compiled() {
  return xla::ffi::Ffi::BindInstantiate().RemainingArgs().RemainingRets().Attrs();
}

/// What is wrong, with what to do instead.
inline xla::ffi::Error unimplemented(const std::string& what) {
  return xla::ffi::Error(
      xla::ffi::ErrorCode::kUnimplemented,
      "[taproot.jax] " + what +
          "; put the scores on the CPU, with jax.device_put(scores, jax.devices(\"cpu\")[0])");
}

inline xla::ffi::Error not_on_cuda(const std::string& what) {
  return unimplemented(what + " is not done on a CUDA device");
}

template <xla::ffi::Error (*kError)()>
XLA_FFI_Error* refuse(XLA_FFI_CallFrame* frame) {
  namespace ffi = xla::ffi;
  constexpr auto kRefuse = [](ffi::RemainingArgs, ffi::RemainingRets, ffi::Dictionary) {
    return kError();
  };
  static const ffi::Ffi* const compiled = when_compiled().To(kRefuse).release();
  static const ffi::Ffi* const run =
      ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs().To(kRefuse).release();
  const bool compiling = frame->stage == XLA_FFI_ExecutionStage_INSTANTIATE;
  return (compiling ? compiled : run)->Call(frame);
}

/// `name` is refused with kError() when a program is compiled, and when it runs all the same.
template <xla::ffi::Error (*kError)()>
constexpr Handler refused(const char* name) {
  return {name, &refuse<kError>, &refuse<kError>};
}

}  // namespace taproot::python::jax
