// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "taproot/taproot.h"

namespace taproot::bench {

/// A training step: cuda_infer() for log Z and marginals of float32 scores, called and in a CUDA
/// graph.
void bench_step(Pool& pool, Precision precision, int n, std::size_t batch);

/// The best trees of float32 scores, by cuda_argmax().
void bench_argmax(Pool& pool, int n, std::size_t batch, double target);

}  // namespace taproot::bench
