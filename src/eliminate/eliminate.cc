// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/format.h"
#include "core/scaled_product.h"
#include "eliminate/eliminate_scratch.h"
#include "eliminate/factor.h"
#include "eliminate/factor_data.h"
#include "eliminate/factor_wide.h"
#include "eliminate/order.h"
#include "projective/fill_chart.h"
#include "scores/weights.h"
#include "taproot/factorization.h"

namespace taproot {
namespace detail {
namespace {

// A sentence is factored in double if that loses less than 2^-256 of Z. Let 2^bits be the ratio of
// the bound from arrange() to Z: no weight w, and no error of size w, counts more than w 2^bits Z.
// docs/numerics.md ("Range: when is double enough?") proves that these limits suffice.
// Whether the factors in double are good enough. Sets data.tame, which asks for bits <= kSafeBits,
// so that the gradient of log Z, which is at most 2^bits, is good enough too. `flushed` is from
// fill_weights().
bool double_suffices(FactorData& data, const ScaledProduct& bound, const ScaledProduct& z,
                     double flushed) {
  data.tame = false;
  if (!(z.mantissa() > 0) || !std::isfinite(z.mantissa())) return false;
  const int n = data.table.n;
  const double bits = log2_ratio(bound, z);
  const double log2_edges = 2.0 * std::bit_width(static_cast<unsigned>(n) + 1);
  if (flushed + bits + log2_edges > -kNegligibleBits) return false;
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

void factor_into(FactorData& data, const ScoreView& scores, RootRule root, TreeFamily family,
                 Scratch& scratch) {
  // If something below throws, the factorization is left without an answer.
  data.outcome = {Status::kEmpty};
  data.has_marginals = false;
  data.family = family;
  Outcome outcome = load_scores(scores, root, data.table);
  if (outcome.ok()) {
    outcome = family == TreeFamily::kProjective ? chart_table(data, scratch)
                                                : eliminate_table(data, scratch);
  }
  data.outcome = outcome;
}

void eliminate_into(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch) {
  factor_into(data, scores, root, TreeFamily::kAll, scratch);
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
