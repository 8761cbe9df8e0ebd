// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/chart_laws.h"

#include <algorithm>

#include "projective/fill_chart.h"
#include "sample/conditionals/choose.h"
#include "sample/weight_range.h"

namespace taproot::detail {

void ChartTables::build(const FactorData& data, Scratch&) {
  data_ = &data;
  has_wide_ = data.wide;
  fits_double_ = !data.wide && taproot::detail::fits_double(data.table);
}

void ChartTables::widen(Scratch&) {
  if (has_wide_) return;
  fill_wide_chart(data_->table, wide_);
  has_wide_ = true;
}

template <>
ChartView<const double> ChartTables::view() const {
  return data_->chart.view();
}
template <>
ChartView<const Wide> ChartTables::view() const {
  return (data_->wide ? data_->chart : wide_).wide_view();
}

template <typename T>
void ChartTables::find_law(const ChartCell& cell, T* p) const {
  const ChartView<const T> c = view<T>();
  const int count = choice_count(shape(), cell);
  if (cell.kind == ChartCell::kRoot) {
    for (int e = 0; e < count; ++e) p[e] = c.root_term(e);
  } else {
    const ChartProducts<T> products = products_of(c, cell);
    for (int e = 0; e < count; ++e) p[e] = products(e);
  }
  std::fill(p + count, p + width(), T(0));
  const T total = sum_of(p, width());
  for (int e = 0; e < count; ++e) p[e] = p[e] / total;
}

template void ChartTables::find_law(const ChartCell&, double*) const;
template void ChartTables::find_law(const ChartCell&, Wide*) const;

template <typename T>
void ChartLaws<T>::build(const ChartTables& tables) {
  tables_ = &tables;
  heads_.resize(static_cast<std::size_t>(tables.n()));
}

template <typename T>
void ChartLaws<T>::start(std::size_t, Scratch&) {
  pending_.clear();
  const int first = tables_->shape().first;
  start_walk(
      tables_->shape(), [&](int m, int h) { heads_[m + first - 1] = h + first; },
      [&](const ChartCell& cell) { pending_.push_back(cell); });
}

template <typename T>
double ChartLaws<T>::find(std::int32_t, const T&, T* p) {
  tables_->find_law(pending_.back(), p);
  return 0;
}

template <typename T>
void ChartLaws<T>::find_exact(std::int32_t, std::int32_t, T* p) {
  tables_->find_law(pending_.back(), p);
}

template <typename T>
void ChartLaws<T>::decide(std::int32_t, int choice) {
  const ChartCell cell = pending_.back();
  pending_.pop_back();
  const int first = tables_->shape().first;
  take_choice(
      tables_->shape(), cell, choice,
      [&](int m, int h) { heads_[m + first - 1] = h < 0 ? 0 : h + first; },
      [&](const ChartCell& next) { pending_.push_back(next); });
}

template <typename T>
void ChartLaws<T>::write_heads(std::int32_t* heads) const {
  std::copy(heads_.begin(), heads_.end(), heads);
}

template <typename T>
void ChartLaws<T>::read_heads(const std::int32_t* heads) {
  const ChartShape& shape = tables_->shape();
  read_.assign(shape.rows(), -1);
  for (int p = shape.single() ? 0 : 1; p < shape.size; ++p) {
    read_[p] = heads[p + shape.first - 1] - shape.first;  // Single-root, ROOT becomes -1.
  }
}

// The alternative of the next cell that the tree in read_ takes.
template <typename T>
int ChartLaws<T>::choice_read() const {
  const ChartCell& cell = pending_.back();
  const int first = cell.i;
  const int last = cell.i + cell.d;
  switch (cell.kind) {
    case ChartCell::kRoot: {
      int root = 0;
      while (read_[root] != -1) ++root;
      return root;
    }
    case ChartCell::kRightSpan: {
      int modifier = last;
      while (read_[modifier] != first) --modifier;
      return modifier - first - 1;
    }
    case ChartCell::kLeftSpan: {
      int modifier = first;
      while (read_[modifier] != last) ++modifier;
      return modifier - first;
    }
    default: {
      // The last position between the two ends that descends from the first end.
      int end = last - 1;
      for (; end > first; --end) {
        int above = end;
        while (above > first && above < last) above = read_[above];
        if (above == first) break;
      }
      return end - first;
    }
  }
}

template class ChartLaws<double>;
template class ChartLaws<Wide>;

}  // namespace taproot::detail
