// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/format.h"
#include "core/scaled_product.h"
#include "eliminate/eliminate_scratch.h"
#include "eliminate/factor.h"
#include "eliminate/factor_data.h"
#include "eliminate/factor_wide.h"
#include "eliminate/order.h"
#include "eliminate/range.h"
#include "scores/weights.h"
#include "taproot/factorization.h"

namespace taproot {
namespace detail {
namespace {

// Whether the factors in double are good enough (see range.h). Sets data.tame, which asks for bits
// <= kSafeBits, so that the gradient of log Z, which is at most 2^bits, is good enough too.
// `flushed` is from fill_weights().
bool double_suffices(FactorData& data, const ScaledProduct& bound, const ScaledProduct& z,
                     double flushed) {
  data.tame = false;
  if (!(z.mantissa() > 0) || !std::isfinite(z.mantissa())) return false;
  const int n = data.table.n;
  const double bits = log2_ratio(bound, z);
  if (!flushed_is_negligible(flushed, bits, n)) return false;
  data.tame = bits <= kSafeBits;
  return data.tame || factors_within(data.matrix.data(), data.table.ld, n, kSafeLow, kSafeHigh);
}

// Z of the scaled weights. A pivot that is zero or not finite makes the mantissa so.
ScaledProduct product_of_pivots(const FactorData& data) {
  ScaledProduct z;
  for (int k = 1; k <= data.table.n; ++k) z.multiply(data.pivot[k]);
  z.normalize();
  return z;
}

void eliminate_over_wide(FactorData& data, Scratch& scratch) {
  const Factors<Wide> factors = factor_wide(data, data.wide_matrix, data.wide_pivot, scratch);
  Wide z = 1.0;
  for (int k = 1; k <= data.table.n; ++k) z *= factors.pivot(k);
  data.wide = true;
  data.mantissa = z.mantissa();
  data.exponent = static_cast<double>(z.exponent());
}

Outcome eliminate_table(FactorData& data, Scratch& scratch) {
  EliminateScratch& own = scratch.get<EliminateScratch>();
  const int n = data.table.n;
  const std::size_t ld = data.table.ld;
  data.wide = false;
  if (!find_last_words(data.table, own.reach, data.last.resize(data.table.nodes()))) {
    return {Status::kNoTree};
  }
  double* weights =
      (data.has_weights() ? data.weights : own.weights).resize(data.table.size() + ld);
  double* sums = own.column_sums.resize(2 * ld);
  const double flushed = std::max(fill_weights(data.table, 0, 1, weights),
                                  fill_weights(data.table, 1, n + 1, weights + ld, sums));
  const ScaledProduct bound = arrange(data, weights, sums);
  factor(data.matrix.data(), ld, n, data.table.root, data.pivot.resize(ld), own.shares);
  const ScaledProduct z = product_of_pivots(data);
  data.mantissa = z.mantissa();
  data.exponent = z.exponent();
  if (!double_suffices(data, bound, z, flushed)) eliminate_over_wide(data, scratch);
  return {};
}

}  // namespace

void eliminate_into(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch) {
  // If something below throws, the factorization is left without an answer.
  data.outcome = {Status::kEmpty};
  data.has_marginals = false;
  Outcome outcome = load_scores(scores, root, data.table);
  if (outcome.ok()) outcome = eliminate_table(data, scratch);
  data.outcome = outcome;
}

}  // namespace detail

Workspace::Workspace() : scratch_(std::make_unique<detail::Scratch>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Factorization::Factorization() : data_(std::make_unique<detail::FactorData>()) {}
Factorization::~Factorization() = default;
Factorization::Factorization(Factorization&&) noexcept = default;
Factorization& Factorization::operator=(Factorization&&) noexcept = default;

const Outcome& Factorization::outcome() const { return data_->outcome; }
int Factorization::n() const { return data_->table.n; }
RootRule Factorization::root_rule() const { return data_->table.root; }
bool Factorization::is_wide() const { return data_->wide; }

Outcome eliminate(const ScoreView& scores, RootRule root, Factorization& out,
                  Workspace& workspace) {
  detail::FactorData& data = detail::Access::data(out);
  detail::eliminate_into(data, scores, root, detail::Access::scratch(workspace));
  return data.outcome;
}

Factorization eliminate(const ScoreView& scores, RootRule root) {
  Factorization f;
  Workspace workspace;
  eliminate(scores, root, f, workspace);
  return f;
}

}  // namespace taproot
