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
  const detail::MatrixView scores(own.scores.resize(table.size()), table.ld);
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 0; m <= table.n; ++m) {
      // A forbidden edge may not be in this tree either.
      scores(h, m) = table.allows(h, m) ? p(h, m) : -HUGE_VAL;
    }
  }
  const ScoreView view(scores.row(0), table.n, static_cast<std::ptrdiff_t>(table.ld), 1);
  [[maybe_unused]] const Outcome outcome =
      argmax(view, table.root, data.family, heads, nullptr, workspace);
  TAPROOT_ASSERT(outcome.ok());
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
