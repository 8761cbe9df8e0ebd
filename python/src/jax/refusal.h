// SPDX-License-Identifier: Apache-2.0
//
// Handlers for what a CUDA device does not do: a program that asks for it is not compiled.
#pragma once

#include <string_view>

#include "handlers.h"
#include "xla/ffi/api/ffi.h"

namespace taproot::python::jax {

/// A handler for when a program is compiled, from attributes. Later versions of jaxlib pass
/// operands and results at that stage too, which the headers of older ones must be told to accept.
inline auto when_compiled() {
  return xla::ffi::Ffi::BindInstantiate().RemainingArgs().RemainingRets().Attrs();
}

/// "... is not done on a CUDA device", with what to do instead.
xla::ffi::Error refusal(std::string_view what);

XLA_FFI_Error* refuse_kbest(XLA_FFI_CallFrame* frame);
XLA_FFI_Error* refuse_expected_walk(XLA_FFI_CallFrame* frame);
XLA_FFI_Error* refuse_projective_mass(XLA_FFI_CallFrame* frame);
/// In a build without CUDA.
XLA_FFI_Error* refuse_all(XLA_FFI_CallFrame* frame);

/// `name` is refused when a program is compiled, and when it runs all the same.
constexpr Handler refused(const char* name, Function refuse) { return {name, refuse, refuse}; }

}  // namespace taproot::python::jax
