// SPDX-License-Identifier: Apache-2.0
//
// log p of given trees, after an elimination.
#pragma once

#include "cuda/eliminate/factors.h"

namespace taproot::cuda {

struct LogProbArgs {
  Batch batch;
  Summary summary;
  int trees = 0;  ///< Per sentence.
  CudaTreeBuffer heads;
  CudaTreeValues out;
};

void launch_log_prob(const LogProbArgs& args, void* stream);

}  // namespace taproot::cuda
