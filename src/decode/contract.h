// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/contracted_graph.h"
#include "decode/exact_costs.h"
#include "decode/swap_search.h"

namespace taproot::detail {

/// Contracts cycles until every word's best edges lead to ROOT; graph.expand() then gives the best
/// tree. Returns false if there is no tree. With `swaps`, which must have been started with the
/// best tree, it also finds the best swap.
bool contract(ContractedGraph& graph, ExactCosts& exact, SwapSearch* swaps);

}  // namespace taproot::detail
