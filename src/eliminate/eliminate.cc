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
#include "eliminate/prepare.h"
#include "eliminate/range.h"
#include "projective/fill_chart.h"
#include "scores/weights.h"
#include "taproot/factorization.h"

namespace taproot {
namespace detail {
namespace {

// Whether the factors in double are good enough (see range.h). Sets data.tame, which asks for bits
// <= kSafeBits, so that the gradient of log Z, which is at most 2^bits, is good enough too.
bool double_suffices(FactorData& data, const Prepared& prepared, const ScaledProduct& z) {
  const int n = data.table.n;
  const double bits = range_bits(prepared.bound, z, prepared.flushed, n);
  data.tame = bits <= kSafeBits;
  return data.tame || (bits < HUGE_VAL &&
                       factors_within(data.matrix.data(), data.table.ld, n, kSafeLow, kSafeHigh));
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

Outcome chart_table(FactorData& data, Scratch& scratch) {
  ProjectiveScratch& own = scratch.get<ProjectiveScratch>();
  const ScoreTable& table = data.table;
  double* weights = (data.has_weights() ? data.weights : scratch.get<EliminateScratch>().weights)
                        .resize(table.size() + table.ld);
  double* sums = own.column_sums.resize(table.ld);
  const double flushed = std::max(fill_weights(table, 0, 1, weights),
                                  fill_weights(table, 1, table.n + 1, weights + table.ld, sums));
  if (!fill_chart(table, weights, sums, flushed, data.chart, own)) return {Status::kNoTree};
  data.wide = data.chart.wide;
  data.tame = !data.wide;
  data.mantissa = data.chart.mantissa;
  data.exponent = data.chart.exponent;
  return {};
}

}  // namespace

void eliminate_into(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch) {
  data.family = TreeFamily::kAll;
  Prepared prepared;
  const Outcome outcome = prepare(data, scores, root, scratch, prepared);
  if (!outcome.ok()) return;
  data.outcome = {Status::kEmpty};  // Until it is done, in case something below throws.
  const std::size_t ld = data.table.ld;
  arrange_weights(data, prepared.weights);
  factor(data.matrix.data(), ld, data.table.n, root, data.pivot.resize(ld),
         scratch.get<EliminateScratch>().shares);
  const ScaledProduct z = product_of_pivots(data);
  data.mantissa = z.mantissa();
  data.exponent = z.exponent();
  if (!double_suffices(data, prepared, z)) eliminate_over_wide(data, scratch);
  data.outcome = outcome;
}

void factor_into(FactorData& data, const ScoreView& scores, RootRule root, TreeFamily family,
                 Scratch& scratch) {
  if (family == TreeFamily::kAll) return eliminate_into(data, scores, root, scratch);
  // If something below throws, the factorization is left without an answer.
  data.outcome = {Status::kEmpty};
  data.has_marginals = false;
  data.family = family;
  Outcome outcome = load_scores(scores, root, data.table);
  if (outcome.ok()) outcome = chart_table(data, scratch);
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
TreeFamily Factorization::family() const { return data_->family; }
bool Factorization::is_wide() const { return data_->wide; }

Outcome factorize(const ScoreView& scores, RootRule root, TreeFamily family, Factorization& out,
                  Workspace& workspace) {
  detail::FactorData& data = detail::Access::data(out);
  detail::factor_into(data, scores, root, family, detail::Access::scratch(workspace));
  return data.outcome;
}

Factorization factorize(const ScoreView& scores, RootRule root, TreeFamily family) {
  Factorization f;
  Workspace workspace;
  factorize(scores, root, family, f, workspace);
  return f;
}

Outcome eliminate(const ScoreView& scores, RootRule root, Factorization& out,
                  Workspace& workspace) {
  return factorize(scores, root, TreeFamily::kAll, out, workspace);
}

Factorization eliminate(const ScoreView& scores, RootRule root) {
  Factorization f;
  Workspace workspace;
  eliminate(scores, root, f, workspace);
  return f;
}

}  // namespace taproot
