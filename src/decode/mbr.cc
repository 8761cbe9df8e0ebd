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
  const int n = f.n();
  const auto words = static_cast<std::size_t>(n);
  detail::require(heads.size() == words, "mbr", "heads must have n entries");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const double* p = detail::marginals_in(data, scratch);
  detail::DecodeScratch& decode = detail::DecodeScratch::of(scratch);
  const std::size_t ld = data.table.ld;
  double* columns = decode.columns.resize((words + 1) * ld);
  std::fill_n(columns, (words + 1) * ld, -HUGE_VAL);
  for (int h = 0; h <= n; ++h) {
    const double* row = p + static_cast<std::size_t>(h) * ld;
    for (int m = 1; m <= n; ++m) {
      // An edge that is in no tree of p may not be in this one either.
      if (data.table.allows(h, m)) {
        columns[static_cast<std::size_t>(m) * ld + static_cast<std::size_t>(h)] = row[m];
      }
    }
  }
  std::int32_t* by_word = decode.heads.resize(words + 1);
  const bool found = decode.edmonds.best({columns, ld, n, f.root_rule(), nullptr}, by_word);
  TAPROOT_ASSERT(found);
  static_cast<void>(found);
  std::copy_n(by_word + 1, words, heads.data());
}

Tree mbr(const Factorization& f) {
  Tree heads(static_cast<std::size_t>(f.n()));
  Workspace workspace;
  mbr(f, heads, workspace);
  return heads;
}

double expected_attachment(const Factorization& f, TreeView heads) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::require(heads.size() == static_cast<std::size_t>(f.n()), "expected_attachment",
                  "heads must have n entries");
  Workspace workspace;
  const double* p = detail::marginals_in(data, detail::Access::scratch(workspace));
  double sum = 0;
  for (std::size_t m = 1; m <= heads.size(); ++m) {
    detail::require(heads[m - 1] >= 0 && heads[m - 1] <= f.n(), "expected_attachment",
                    "a head is outside 0..n");
    sum += p[static_cast<std::size_t>(heads[m - 1]) * data.table.ld + m];
  }
  return sum / static_cast<double>(heads.size());
}

}  // namespace taproot
