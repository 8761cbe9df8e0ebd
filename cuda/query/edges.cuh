// SPDX-License-Identifier: Apache-2.0
//
// A value for every edge, in the caller's memory.
#pragma once

#include "cuda/query/hessian.h"
#include "cuda/query/inference.h"

namespace taproot::cuda {

/// Where those of one sentence go.
struct EdgeTarget {
  const EdgeOutput& out;
  std::int64_t offset;
  std::int64_t head_stride;

  __device__ EdgeTarget(const EdgeOutput& edges, int b, int n)
      : out(edges),
        offset(edges.offsets == nullptr ? b * edges.sentence_stride : edges.offsets[b]),
        head_stride(edges.head_stride == 0 ? n + 1 : edges.head_stride) {}
  __device__ void write(int h, int m, double p) const {
    const std::int64_t at = offset + h * head_stride + m * out.modifier_stride;
    if (out.is_double) {
      static_cast<double*>(out.data)[at] = p;
    } else {
      static_cast<float*>(out.data)[at] = static_cast<float>(p);
    }
  }
};

/// Those of one sentence, to be read.
struct EdgeReader {
  const EdgeInput& in;
  std::int64_t offset;

  __device__ EdgeReader(const EdgeInput& edges, int b)
      : in(edges), offset(b * edges.sentence_stride) {}
  __device__ double operator()(int h, int m) const {
    const std::int64_t at = offset + h * in.head_stride + m * in.modifier_stride;
    return in.is_double ? static_cast<const double*>(in.data)[at]
                        : static_cast<double>(static_cast<const float*>(in.data)[at]);
  }
};

}  // namespace taproot::cuda
