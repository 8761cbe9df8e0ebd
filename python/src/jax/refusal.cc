// SPDX-License-Identifier: Apache-2.0
#include "refusal.h"

#include <memory>
#include <string>

#include "taproot/cuda.h"
#include "xla/ffi/api/ffi.h"

namespace taproot::python::jax {

namespace ffi = xla::ffi;

namespace {

constexpr const char* kInstead =
    "; put the scores on the CPU, with jax.device_put(scores, jax.devices(\"cpu\")[0])";

ffi::Error without_kbest() { return refusal("kbest"); }
ffi::Error without_expected_walk() { return refusal("the cost of Wilson's walk"); }
ffi::Error without_projective_mass() { return refusal("the share of projective trees"); }
ffi::Error without_cuda() {
  return ffi::Error(
      ffi::ErrorCode::kUnimplemented,
      "[taproot.jax] the scores are on a CUDA device, and taproot cannot work there: " +
          cuda_description() + kInstead);
}

template <ffi::Error (*kError)()>
XLA_FFI_Error* refuse(XLA_FFI_CallFrame* frame) {
  constexpr auto kRefuse = [](ffi::RemainingArgs, ffi::RemainingRets, ffi::Dictionary) {
    return kError();
  };
  static const ffi::Ffi* const compiled = when_compiled().To(kRefuse).release();
  static const ffi::Ffi* const run =
      ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs().To(kRefuse).release();
  const bool compiling = frame->stage == XLA_FFI_ExecutionStage_INSTANTIATE;
  return (compiling ? compiled : run)->Call(frame);
}

}  // namespace

ffi::Error refusal(std::string_view what) {
  return ffi::Error(ffi::ErrorCode::kUnimplemented, "[taproot.jax] " + std::string(what) +
                                                        " is not done on a CUDA device" + kInstead);
}

XLA_FFI_Error* refuse_kbest(XLA_FFI_CallFrame* frame) { return refuse<&without_kbest>(frame); }
XLA_FFI_Error* refuse_expected_walk(XLA_FFI_CallFrame* frame) {
  return refuse<&without_expected_walk>(frame);
}
XLA_FFI_Error* refuse_projective_mass(XLA_FFI_CallFrame* frame) {
  return refuse<&without_projective_mass>(frame);
}
XLA_FFI_Error* refuse_all(XLA_FFI_CallFrame* frame) { return refuse<&without_cuda>(frame); }

}  // namespace taproot::python::jax
