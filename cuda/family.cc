// SPDX-License-Identifier: Apache-2.0
#include "cuda/family.h"

#include "cuda/projective/projective.h"
#include "cuda/query/infer.h"

namespace taproot::cuda {

const FamilyKernels& kernels_of(TreeFamily family) {
  static constexpr FamilyKernels kOfAllTrees{
      .take_infer_memory = take_infer_memory,
      .infer = infer,
      .take_hessian = take_hessian,
      .hessian_product = hessian_product,
      .take_divergence_memory = take_divergence_memory,
      .divergence = launch_divergence,
      .take_argmax_memory = take_argmax_memory,
      .argmax = launch_argmax,
      .take_sample_memory = take_sample_memory,
      .sample = launch_sample,
  };
  static constexpr FamilyKernels kOfProjectiveTrees{
      .take_infer_memory = projective::take_infer_memory,
      .infer = projective::infer,
      .take_hessian = projective::take_hessian,
      .hessian_product = projective::hessian_product,
      .take_divergence_memory = projective::take_divergence_memory,
      .divergence = projective::launch_divergence,
      .take_argmax_memory = projective::take_argmax_memory,
      .argmax = projective::launch_argmax,
      .take_sample_memory = projective::take_sample_memory,
      .sample = projective::launch_sample,
  };
  return family == TreeFamily::kProjective ? kOfProjectiveTrees : kOfAllTrees;
}

}  // namespace taproot::cuda
