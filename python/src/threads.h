// SPDX-License-Identifier: Apache-2.0
//
// Where batches run: one pool of threads for the whole process.
#pragma once

#include <functional>

#include "interrupt.h"
#include "taproot/taproot.h"

namespace taproot::python {

/// 0 means one thread per core.
void set_num_threads(int threads);
int get_num_threads();

/// What a thread keeps from call to call.
struct Own {
  Workspace workspace;
  Sampler sampler;
  WithoutReplacementSampler distinct;
};

/// visit(index, own) for every index < count, for sentences of up to n words; lets Ctrl-C through
/// before each. A single one, or one that comes while the pool serves another caller, runs on the
/// caller's thread. To be called without the GIL.
void for_each(std::size_t count, int n, Interrupt& interrupt,
              const std::function<void(std::size_t, Own&)>& visit);

}  // namespace taproot::python
