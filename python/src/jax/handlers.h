// SPDX-License-Identifier: Apache-2.0
//
// The functions that XLA calls for taproot.jax. Every name has a handler on both platforms, with
// the same operands, results and attributes; _jax_operators.py makes the calls.
#pragma once

#include <span>

struct XLA_FFI_Error;
struct XLA_FFI_CallFrame;

namespace taproot::python::jax {

using Function = XLA_FFI_Error* (*)(XLA_FFI_CallFrame*);

struct Handler {
  const char* name;
  Function execute;
  Function instantiate = nullptr;  ///< Called when a program is compiled; may be null.
};

std::span<const Handler> cpu_numbers();
std::span<const Handler> cpu_trees();
/// In builds without CUDA these refuse.
std::span<const Handler> cuda_numbers();
std::span<const Handler> cuda_trees();

}  // namespace taproot::python::jax
