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
  bool total = false;  ///< Whether trees of sentences without an answer get NaN.
};

void launch_log_prob(const LogProbArgs& args, void* stream);

/// The gradient of the first tree's log p, in the place of the marginals, after launch_log_prob().
void launch_slope_of_tree(const LogProbArgs& args, const CudaEdges& marginals, void* stream);

}  // namespace taproot::cuda
