// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/format.h"
#include "core/scaled_product.h"
#include "eliminate/factor.h"
#include "eliminate/factor_data.h"
#include "eliminate/order.h"
#include "scores/weights.h"
#include "taproot/factorization.h"

namespace taproot {
namespace detail {
namespace {

// When may a sentence stay in double? Let 2^bits bound how far Z lies below the product of its
// columns' sums (arrange()). All trees that use one given edge of weight w weigh at most w 2^bits Z
// together; and an error made in an entry at any time on the way is one of the same size in the
// weight of that edge. So
//   - weights flushed on loading, none above 2^flushed, are missed by less than 2^-256 in total if
//     flushed + bits + log2(number of edges) <= -256;
//   - what underflows on the way, below 2^-1022 each, is missed as little if bits <= 700, and then
//     the gradient, at most 2^bits, does not overflow. If the ROOT row does, Z shows it;
//   - beyond that, nothing underflows at all as long as the factors' positive entries stay within
//     2^-500 and 2^500, since each is made of products of two of them over a pivot.
// A bound on the single pivots alone would not do; docs/numerics.md has the argument in full.
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

// Z. A pivot that is zero or not finite leaves its mantissa so.
ScaledProduct product_of_pivots(const FactorData& data) {
  ScaledProduct z;
  for (int k = 1; k <= data.table.n; ++k) z.multiply(data.pivot[static_cast<std::size_t>(k)]);
  z.normalize();
  return z;
}

void factor_wide(FactorData& data, Scratch& scratch) {
  const int n = data.table.n;
  const std::size_t ld = data.table.ld;
  Wide* matrix = data.wide_matrix.resize((static_cast<std::size_t>(n) + 1) * ld);
  for (int m = 1; m <= n; ++m) {
    for (int h = 0; h <= n; ++h) {
      matrix[static_cast<std::size_t>(m) * ld + static_cast<std::size_t>(h)] =
          wide_weight(data.table, data.order[static_cast<std::size_t>(h)],
                      data.order[static_cast<std::size_t>(m)]);
    }
  }
  Wide* pivot = data.wide_pivot.resize(ld);
  factor_simply(matrix, ld, n, data.table.root, pivot, scratch.wide_rows.resize(2 * ld));
  Wide z = 1.0;
  for (int k = 1; k <= n; ++k) z *= pivot[k];
  data.mantissa = z.mantissa();
  data.exponent = static_cast<double>(z.exponent());
}

}  // namespace

namespace {

Outcome eliminate_table(FactorData& data, Scratch& scratch) {
  const int n = data.table.n;
  const auto nodes = static_cast<std::size_t>(n) + 1;
  const std::size_t ld = data.table.ld;
  data.wide = false;
  if (!find_last_words(data.table, scratch.reach, data.last.resize(nodes))) {
    return {Status::kNoTree};
  }
  double* weights = (data.has_weights() ? data.weights : scratch.square).resize((nodes + 1) * ld);
  double* sums = scratch.rows.resize(2 * ld);
  const double flushed = std::max(fill_weights(data.table, 0, 1, weights),
                                  fill_weights(data.table, 1, n + 1, weights + ld, sums));
  const ScaledProduct bound = arrange(data, weights, sums);
  factor(data.matrix.data(), ld, n, data.table.root, data.pivot.resize(ld), scratch.panel);
  const ScaledProduct z = product_of_pivots(data);
  data.mantissa = z.mantissa();
  data.exponent = z.exponent();
  if (!double_suffices(data, bound, z, flushed)) {
    data.wide = true;
    factor_wide(data, scratch);
  }
  return {};
}

}  // namespace

void eliminate_into(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch) {
  // Whatever throws on the way leaves a factorization that answers nothing.
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
