// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "decode/decode_scratch.h"
#include "query/query.h"
#include "taproot/decode.h"

namespace taproot {

void mbr(const Factorization& f, std::span<std::int32_t> heads, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  const detail::ScoreTable& table = data.table;
  detail::require(std::ssize(heads) == table.n, "mbr", "heads must have n entries");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const detail::MatrixView p(detail::marginals_in(data, scratch), table.ld);
  auto& own = scratch.get<detail::DecodeScratch>();
  const detail::MatrixView columns(own.columns.resize(table.size()), table.ld);
  std::fill_n(columns.row(0), table.size(), -HUGE_VAL);
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 1; m <= table.n; ++m) {
      // A forbidden edge may not be in this tree either.
      if (table.allows(h, m)) columns(m, h) = p(h, m);
    }
  }
  std::int32_t* by_word = own.heads.resize(table.nodes());
  const detail::EdgeGraph graph{columns.row(0), table.ld, table.n, table.root, nullptr};
  [[maybe_unused]] const bool found = own.edmonds.best(graph, by_word);
  TAPROOT_ASSERT(found);
  std::copy_n(by_word + 1, table.n, heads.data());
}

Tree mbr(const Factorization& f) {
  Tree heads(static_cast<std::size_t>(f.n()));
  Workspace workspace;
  mbr(f, heads, workspace);
  return heads;
}

double expected_attachment(const Factorization& f, TreeView heads, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::require(std::ssize(heads) == f.n(), "expected_attachment", "heads must have n entries");
  const detail::MatrixView p(detail::marginals_in(data, detail::Access::scratch(workspace)),
                             data.table.ld);
  double sum = 0;
  int m = 0;
  int counted = 0;
  for (const std::int32_t head : heads) {
    ++m;
    detail::require(head <= f.n(), "expected_attachment", "a head is above n");
    if (head < 0) continue;
    sum += p(head, m);
    ++counted;
  }
  return counted == 0 ? NAN : detail::nearest_probability(sum / counted);
}

double expected_attachment(const Factorization& f, TreeView heads) {
  Workspace workspace;
  return expected_attachment(f, heads, workspace);
}

}  // namespace taproot
