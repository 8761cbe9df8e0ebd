// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "eliminate/factor_data.h"
#include "query/wide_divergence.h"

namespace taproot::detail {

/// What the families of trees answer in their own way. Every other query is written once, in terms
/// of these, and never asks which family it works for.
struct FamilyQueries {
  /// Whether `heads`, all of them in 0..n, is a tree of the family under the root rule.
  bool (*contains)(TreeView heads, RootRule root);
  void (*fill_marginals)(const FactorData& data, Scratch& scratch, EdgeMatrix out);
  void (*fill_root_marginals)(const FactorData& data, Scratch& scratch, std::span<double> out);
  /// Which edges some tree has, decided on the graph: first start_support(), then for any modifier
  /// find_support() sets supported[h] for h in 0..n.
  void (*start_support)(const FactorData& data, Scratch& scratch);
  void (*find_support)(const FactorData& data, Scratch& scratch, int modifier,
                       std::uint8_t* supported);
  /// scale times the derivative of the marginals along `values`, [n+1][ld] with row = head. On
  /// entry, `out` holds the marginals.
  void (*fill_hessian)(const FactorData& data, const double* values, double scale, Scratch& scratch,
                       EdgeMatrix out);
  /// wide_divergence() of two sentences of this family.
  double (*divergence)(const FactorData& p, const FactorData& q, Divergence kind, Scratch& scratch);
};

const FamilyQueries& queries_of(TreeFamily family);

}  // namespace taproot::detail
