// SPDX-License-Identifier: Apache-2.0
#include "query/family.h"

#include "query/chart_queries.h"
#include "query/elimination_queries.h"
#include "query/query_scratch.h"
#include "taproot/tree.h"

namespace taproot::detail {
namespace {

constexpr FamilyQueries kAllTrees = {
    [](TreeView heads, RootRule root) { return is_tree(heads, root); },
    fill_elimination_marginals,
    fill_elimination_root_marginals,
    [](const FactorData&, Scratch&) {},
    [](const FactorData& data, Scratch& scratch, int modifier, std::uint8_t* supported) {
      find_supported_heads(data.table, data.last.data(), modifier,
                           scratch.get<QueryScratch>().reach, supported);
    },
    fill_elimination_hessian,
    wide_divergence,
};

constexpr FamilyQueries kProjectiveTrees = {
    [](TreeView heads, RootRule root) { return is_tree(heads, root) && is_projective(heads); },
    fill_chart_marginals,
    fill_chart_root_marginals,
    start_chart_support,
    find_chart_support,
    fill_chart_hessian,
    chart_divergence,
};

}  // namespace

const FamilyQueries& queries_of(TreeFamily family) {
  return family == TreeFamily::kProjective ? kProjectiveTrees : kAllTrees;
}

}  // namespace taproot::detail
