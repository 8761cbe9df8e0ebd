// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/conditionals.h"
#include "core/format.h"

#include <algorithm>
#include <numeric>

#include "eliminate/condition.h"
#include "eliminate/factor.h"
#include "reverse/gradient.h"
#include "sample/conditionals/weights_by_modifier.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/conditionals/conditionals.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// row[h] = base - own[h] + factor * sink_row[h], a row of K.
void inverse_row(const double* HWY_RESTRICT own, double base, const double* HWY_RESTRICT sink_row,
                 double factor, size_t ld, double* HWY_RESTRICT row) {
  for (size_t j = 0; j < ld; j += kBlock) {
    const Block difference = multiply_add(broadcast(-1.0), load(own + j), broadcast(base));
    store(multiply_add(broadcast(factor), load(sink_row + j), difference), row + j);
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(inverse_row);

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// The factors over Wide from the weights: those in double, converted, would lack what underflowed.
Factors<Wide> factor_wide(const FactorData& data, Scratch& scratch) {
  const ScoreTable& table = data.table;
  const std::size_t size = (index(table.n) + 1) * table.ld;
  Wide* matrix = scratch.wide_matrix.resize(size + table.ld);
  for (int m = 1; m <= table.n; ++m) {
    for (int h = 0; h <= table.n; ++h) {
      matrix[index(m) * table.ld + index(h)] =
          wide_weight(table, data.order[index(h)], data.order[index(m)]);
    }
  }
  factor_simply(matrix, table.ld, table.n, table.root, matrix + size,
                scratch.wide_rows.resize(2 * table.ld));
  return {table.n, table.root, table.ld, matrix, matrix + size};
}

}  // namespace

void Conditionals::to_nodes(const std::int32_t* heads, std::int32_t* node_heads) const {
  for (int i = 1; i <= n(); ++i) node_heads[i] = node_[index(heads[word(i) - 1])];
}

void Conditionals::to_words(const std::int32_t* node_heads, std::int32_t* heads) const {
  for (int i = 1; i <= n(); ++i) heads[word(i) - 1] = order_[index(node_heads[i])];
}

// The order by how much of a column's weight its largest entry has, which costs no elimination;
// and whether the columns' ranges fit double.
void Conditionals::build_order(const double* by_word, Scratch& scratch) {
  const ScoreTable& table = data_->table;
  std::int32_t* order = order_.resize(index(n()) + 1);
  std::int32_t* node = node_.resize(index(n()) + 1);
  double* certainty = scratch.rows.resize(ld());
  double range = 0;  // Bits.
  for (int m = 1; m <= n(); ++m) {
    const double* column = by_word + index(m) * ld();
    double sum = 0;
    double top = 0;
    for (int h = 0; h <= n(); ++h) {
      sum += column[h];
      top = std::max(top, column[h]);
    }
    certainty[m] = sum > 0 ? top / sum : 1.0;  // A lone root has no other head.
    double high = -HUGE_VAL;
    double low = HUGE_VAL;
    for (int h = single() ? 1 : 0; h <= n(); ++h) {
      const double s = table.row(h)[m];
      if (s == -HUGE_VAL) continue;
      high = std::max(high, s);
      low = std::min(low, s);
    }
    if (high > low) range += (high - low) * 1.4427;
  }
  if (single()) {
    double high = -HUGE_VAL;
    double low = HUGE_VAL;
    for (int m = 1; m <= n(); ++m) {
      if (!table.allows(0, m)) continue;
      // Given its root, a tree lacks the root's column: the scales must be out.
      high = std::max(high, scaled_score(table, 0, m));
      low = std::min(low, scaled_score(table, 0, m));
    }
    range += (high - low) * 1.4427;
  }
  fits_double_ = data_->tame && range + (n() + 1) * std::log2(n() + 1) <= kFittingBits;
  std::iota(order, order + n() + 1, 0);
  std::stable_sort(order + 1, order + n() + 1,
                   [=](int a, int b) { return certainty[a] > certainty[b]; });
  for (int i = 0; i <= n(); ++i) node[order[i]] = i;
}

void Conditionals::build(const FactorData& data, Scratch& scratch) {
  data_ = &data;
  has_wide_ = false;
  const double* by_word = weights_by_modifier(data, !single(), scratch);
  build_order(by_word, scratch);
  double* weights = weights_.resize((index(n()) + 1) * ld());
  double* sums = sums_.resize(index(n()) + 1);
  std::fill(weights, weights + ld(), 0.0);
  for (int i = 1; i <= n(); ++i) {
    const double* from = by_word + index(word(i)) * ld();
    double* to = weights + index(i) * ld();
    std::fill(to, to + ld(), 0.0);
    for (int h = 0; h <= n(); ++h) to[h] = from[word(h)];
    sums[i] = std::accumulate(to, to + n() + 1, 0.0);
  }
  double* visits = visits_.resize(index(n()) + 1);
  std::fill(visits, visits + n() + 1, HUGE_VAL);
  double* roots = roots_.resize(ld());
  std::fill(roots, roots + ld(), 0.0);
  if (is_wide()) {
    widen(scratch);
  } else {
    build_rows(scratch);
  }
}

void Conditionals::build_rows(Scratch& scratch) {
  const FactorData* source = data_;
  double* tree_sum = tree_sum_.resize(index(n()) + 1);
  if (single()) {
    double* by_position = scratch.rows.resize(2 * ld());
    double* root_weights = by_position + ld();
    fill_weights(data_->table, 0, 1, root_weights);
    root_gradient(data_->factors(), by_position);
    for (int k = 1; k <= n(); ++k) {
      const int word = data_->order[index(k)];
      tree_sum[node(word)] = by_position[k];
      roots_[index(node(word))] = by_position[k] * root_weights[word];
    }
    const double* likeliest = std::max_element(roots_.data() + 1, roots_.data() + n() + 1);
    eliminate_given_root(*data_, word(static_cast<int>(likeliest - roots_.data())), scratch);
    source = &scratch.other;
    if (!source->tame) return;
  }
  gradient_of(*source, scratch);
  const std::size_t size = (index(n()) + 1) * ld();
  double* gradient = gradient_.resize(size);
  std::fill(gradient, gradient + size, 0.0);
  for (int m = 1; m <= n(); ++m) {
    const double* row = scratch.square.data() + index(source->position[index(word(m))]) * ld();
    for (int h = 0; h <= n(); ++h) {
      gradient[index(m) * ld() + index(h)] = row[source->position[index(word(h))]];
    }
  }
  double* top = top_.resize(index(n()) + 1);
  for (int i = 1; i <= n(); ++i) {
    const double* row = gradient + index(i) * ld();
    top[i] = *std::max_element(row + (single() ? 1 : 0), row + n() + 1);  // ROOT is no head.
  }
  for (int s = single() ? 1 : 0; s <= (single() ? n() : 0); ++s) {
    if (single() && !(roots_[index(s)] > 0)) continue;
    double most = 0;
    for (int i = 1; i <= n(); ++i) {
      if (i != s) most = std::max(most, row_scale(s, i) * sums_[index(i)]);
    }
    visits_[index(s)] = most;
  }
}

void Conditionals::widen(Scratch& scratch) {
  if (has_wide_) return;
  const ScoreTable& table = data_->table;
  Wide* weights = wide_weights_.resize((index(n()) + 1) * ld());
  Wide* roots = wide_roots_.resize(ld());
  for (int i = 1; i <= n(); ++i) {
    Wide* to = weights + index(i) * ld();
    std::fill(to, to + ld(), Wide(0.0));
    for (int h = 0; h <= n(); ++h) {
      const bool none = h == i || (single() && h == 0);
      to[h] = none ? Wide(0.0) : wide_weight(table, word(h), word(i));
    }
  }
  std::fill(roots, roots + ld(), Wide(0.0));
  if (single()) {
    const Factors<Wide> factors =
        data_->wide ? data_->wide_factors() : factor_wide(*data_, scratch);
    Wide* by_position = scratch.wide_rows.resize(2 * ld());
    root_gradient(factors, by_position);
    for (int k = 1; k <= n(); ++k) {
      const int word = data_->order[index(k)];
      roots[node(word)] = wide_weight(table, 0, word) * by_position[k];
    }
  }
  has_wide_ = true;
}

void Conditionals::start_row(int sink, int i, double* row) const {
  const double* own = gradient_.data() + index(i) * ld();
  const double* sink_row = gradient_.data() + index(sink) * ld();
  const double factor = sink == 0 ? 0.0 : tree_sum_[index(i)] / tree_sum_[index(sink)];
  HWY_DYNAMIC_DISPATCH(inverse_row)(own, own[sink], sink_row, factor, ld(), row);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
