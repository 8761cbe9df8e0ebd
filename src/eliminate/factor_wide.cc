// SPDX-License-Identifier: Apache-2.0
#include "eliminate/factor_wide.h"

#include "eliminate/eliminate_scratch.h"
#include "eliminate/factor.h"
#include "scores/weights.h"

namespace taproot::detail {

Factors<Wide> factor_wide(const FactorData& data, Buffer<Wide>& matrix, Buffer<Wide>& pivot,
                          Scratch& scratch) {
  const ScoreTable& table = data.table;
  const MatrixView weights(matrix.resize(table.size()), table.ld);
  for (int m = 1; m <= table.n; ++m) {
    for (int h = 0; h <= table.n; ++h) {
      weights(m, h) = wide_weight(table, data.order[h], data.order[m]);
    }
  }
  Wide* shares = scratch.get<EliminateScratch>().wide_shares.resize(table.ld);
  factor_simply(matrix.data(), table.ld, table.n, table.root, pivot.resize(table.ld), shares);
  return {table.n, table.root, table.ld, matrix.data(), pivot.data()};
}

}  // namespace taproot::detail
