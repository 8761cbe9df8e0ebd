// SPDX-License-Identifier: Apache-2.0
//
// The entries of FamilyQueries for projective trees, which read the chart.
#pragma once

#include <span>

#include "query/wide_divergence.h"

namespace taproot::detail {

void fill_chart_marginals(const FactorData& data, Scratch& scratch, EdgeMatrix out);
void fill_chart_root_marginals(const FactorData& data, Scratch& scratch, std::span<double> out);
void start_chart_support(const FactorData& data, Scratch& scratch);
void find_chart_support(const FactorData& data, Scratch& scratch, int modifier,
                        std::uint8_t* supported);
void fill_chart_hessian(const FactorData& data, const double* values, double scale,
                        Scratch& scratch, EdgeMatrix out);
double chart_divergence(const FactorData& p, const FactorData& q, Divergence kind,
                        Scratch& scratch);

}  // namespace taproot::detail
