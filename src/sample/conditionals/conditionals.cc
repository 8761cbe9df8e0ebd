// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/conditionals.h"

#include <algorithm>
#include <numeric>

#include "eliminate/condition.h"
#include "eliminate/factor_wide.h"
#include "reverse/gradient.h"
#include "reverse/reverse_scratch.h"
#include "sample/conditionals/weights_by_modifier.h"
#include "sample/sample_scratch.h"
#include "sample/weight_range.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/conditionals/conditionals.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// row[h] = base - own[h] + factor * sink_row[h], a row of K.
void inverse_row(const double* HWY_RESTRICT own, double base, const double* HWY_RESTRICT sink_row,
                 double factor, size_t ld, double* HWY_RESTRICT row) {
  for (size_t j = 0; j < ld; j += kBlock) {
    const Block difference = multiply_add(broadcast(-1.0), load(own + j), broadcast(base));
    store(multiply_add(broadcast(factor), load(sink_row + j), difference), row + j);
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(inverse_row);

void Conditionals::to_nodes(const std::int32_t* heads, std::int32_t* node_heads) const {
  for (int i = 1; i <= n(); ++i) node_heads[i] = node_[heads[word(i) - 1]];
}

void Conditionals::to_words(const std::int32_t* node_heads, std::int32_t* heads) const {
  for (int i = 1; i <= n(); ++i) heads[word(i) - 1] = order_[node_heads[i]];
}

// Orders the words by how much of its column's weight the largest entry has, which takes no
// elimination, and finds out whether the ranges of the columns fit into double.
void Conditionals::build_order(const double* by_word, Scratch& scratch) {
  double* certainty = scratch.get<SampleScratch>().certainty.resize(ld());
  for (int m = 1; m <= n(); ++m) {
    const double* column = MatrixView(by_word, ld()).row(m);
    const double sum = std::accumulate(column, column + nodes(), 0.0);
    const double top = *std::max_element(column, column + nodes());
    certainty[m] = sum > 0 ? top / sum : 1.0;  // A word without word heads can only be the root.
  }
  fits_double_ = data_->tame && taproot::detail::fits_double(data_->table);
  std::int32_t* order = order_.resize(nodes());
  std::iota(order, order + nodes(), 0);
  std::stable_sort(order + 1, order + nodes(),
                   [=](int a, int b) { return certainty[a] > certainty[b]; });
  node_.resize(nodes());
  for (int i = 0; i <= n(); ++i) node_[order[i]] = i;
}

void Conditionals::build(const FactorData& data, Scratch& scratch) {
  data_ = &data;
  has_wide_ = false;
  const double* by_word = weights_by_modifier(data, !single(), scratch);
  build_order(by_word, scratch);
  const MatrixView from(by_word, ld());
  const MatrixView to(weights_.resize(size()), ld());
  sums_.resize(nodes());
  std::fill_n(weights_.data(), size(), 0.0);
  for (int i = 1; i <= n(); ++i) {
    for (int h = 0; h <= n(); ++h) to(i, h) = from(word(i), word(h));
    sums_[i] = std::accumulate(to.row(i), to.row(i) + nodes(), 0.0);
  }
  std::fill_n(visits_.resize(nodes()), nodes(), HUGE_VAL);
  std::fill_n(roots_.resize(ld()), ld(), 0.0);
  if (is_wide()) {
    widen(scratch);
  } else {
    build_rows(scratch);
  }
}

void Conditionals::build_rows(Scratch& scratch) {
  SampleScratch& own = scratch.get<SampleScratch>();
  const FactorData* source = data_;
  tree_sum_.resize(nodes());
  if (single()) {
    double* by_position = own.root_rows.resize(2 * ld());
    double* root_weights = by_position + ld();
    fill_weights(data_->table, 0, 1, root_weights);
    root_gradient(data_->factors(), by_position);
    for (int k = 1; k <= n(); ++k) {
      const int word = data_->order[k];
      tree_sum_[node(word)] = by_position[k];
      roots_[node(word)] = by_position[k] * root_weights[word];
    }
    const double* likeliest = std::max_element(roots_.data() + 1, roots_.data() + nodes());
    const auto root = static_cast<int>(likeliest - roots_.data());
    eliminate_given_root(*data_, word(root), own.rooted, scratch);
    source = &own.rooted;
    if (!source->tame) return;
  }
  gradient_of(*source, scratch);
  const MatrixView by_position(scratch.get<ReverseScratch>().gradient, ld());
  const MatrixView gradient(gradient_.resize(size()), ld());
  std::fill_n(gradient_.data(), size(), 0.0);
  top_.resize(nodes());
  for (int m = 1; m <= n(); ++m) {
    const double* from = by_position.row(source->position[word(m)]);
    double* to = gradient.row(m);
    for (int h = 0; h <= n(); ++h) to[h] = from[source->position[word(h)]];
    // Single-root, ROOT is not among the heads of a word once the root is decided.
    top_[m] = *std::max_element(to + (single() ? 1 : 0), to + nodes());
  }
  for (int s = single() ? 1 : 0; s <= (single() ? n() : 0); ++s) {
    if (single() && !(roots_[s] > 0)) continue;
    double most = 0;
    for (int i = 1; i <= n(); ++i) {
      if (i != s) most = std::max(most, row_scale(s, i) * sums_[i]);
    }
    visits_[s] = most;
  }
}

void Conditionals::widen(Scratch& scratch) {
  if (has_wide_) return;
  SampleScratch& own = scratch.get<SampleScratch>();
  const ScoreTable& table = data_->table;
  const MatrixView weights(wide_weights_.resize(size()), ld());
  for (int i = 1; i <= n(); ++i) {
    std::fill_n(weights.row(i), ld(), Wide(0.0));
    for (int h = single() ? 1 : 0; h <= n(); ++h) {
      if (h != i) weights(i, h) = wide_weight(table, word(h), word(i));
    }
  }
  std::fill_n(wide_roots_.resize(ld()), ld(), Wide(0.0));
  if (single()) {
    const Factors<Wide> factors =
        data_->wide ? data_->wide_factors()
                    : factor_wide(*data_, own.wide_matrix, own.wide_pivot, scratch);
    Wide* by_position = own.wide_root_row.resize(ld());
    root_gradient(factors, by_position);
    for (int k = 1; k <= n(); ++k) {
      const int word = data_->order[k];
      wide_roots_[node(word)] = wide_weight(table, 0, word) * by_position[k];
    }
  }
  has_wide_ = true;
}

void Conditionals::start_row(int sink, int i, double* row) const {
  const MatrixView gradient(gradient_.data(), ld());
  const double factor = sink == 0 ? 0.0 : tree_sum_[i] / tree_sum_[sink];
  HWY_DYNAMIC_DISPATCH(inverse_row)
  (gradient.row(i), gradient(i, sink), gradient.row(sink), factor, ld(), row);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
