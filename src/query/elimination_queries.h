// SPDX-License-Identifier: Apache-2.0
//
// The entries of FamilyQueries for the family of all trees, which read the factors of elimination.
#pragma once

#include <span>

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// In marginals.cc.
void fill_elimination_marginals(const FactorData& data, Scratch& scratch, EdgeMatrix out);
/// In root_marginals.cc.
void fill_elimination_root_marginals(const FactorData& data, Scratch& scratch,
                                     std::span<double> out);
/// In hessian.cc.
void fill_elimination_hessian(const FactorData& data, const double* values, double scale,
                              Scratch& scratch, EdgeMatrix out);

}  // namespace taproot::detail
