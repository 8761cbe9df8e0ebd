// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/contraction.h"

#include <algorithm>
#include <type_traits>

#include "core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/conditionals/contraction.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Eliminates nodes n, ..., i+1 other than the sink from matrix ([m][h]) and to_sink. Then q[h], for
// the nodes h after i, is the probability that a walk from h meets the sink before i. In the block
// of i, columns before i must be 0. Entries from the diagonal on are not read after elimination.
void walk_probabilities(double* HWY_RESTRICT matrix, size_t ld, size_t i, size_t n, size_t sink,
                        double* HWY_RESTRICT to_sink, double* HWY_RESTRICT pivot,
                        double* HWY_RESTRICT q) {
  const size_t begin = i / kBlock * kBlock;
  for (size_t k = n; k > i; --k) {
    if (k == sink) continue;
    const double* HWY_RESTRICT own = matrix + k * ld;
    Block total = broadcast(0.0);
    size_t j = begin;
    for (; j + kBlock <= k; j += kBlock) total = add(total, load(own + j));
    if (j < k) total = add(total, first(k - j, load(own + j)));
    const double all = to_sink[k] + sum(total);
    pivot[k] = all;
    const double inverse = 1 / all;
    for (size_t m = i + 1; m < k; ++m) {
      double* HWY_RESTRICT row = matrix + m * ld;
      const double share = row[k] * inverse;
      const Block factor = broadcast(share);
      for (size_t b = begin; b < k; b += kBlock) {
        store(multiply_add(factor, load(own + b), load(row + b)), row + b);
      }
      to_sink[m] = multiply_add(share, to_sink[k], to_sink[m]);
    }
  }
  for (size_t h = begin; h <= i; ++h) q[h] = 0;
  for (size_t k = i + 1; k <= n; ++k) {
    if (k == sink) {
      q[k] = 0;  // The weights of its edges are in to_sink.
      continue;
    }
    const double* HWY_RESTRICT own = matrix + k * ld;
    Block total = broadcast(0.0);
    size_t j = begin;
    for (; j + kBlock <= k; j += kBlock) total = multiply_add(load(own + j), load(q + j), total);
    if (j < k) {
      total = add(total, first(k - j, multiply(first(k - j, load(own + j)), load(q + j))));
    }
    q[k] = (to_sink[k] + sum(total)) / pivot[k];
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(walk_probabilities);

namespace {

void solve(double* matrix, std::size_t ld, int i, int n, int sink, double* to_sink, double* pivot,
           double* q) {
  HWY_DYNAMIC_DISPATCH(walk_probabilities)
  (matrix, ld, static_cast<std::size_t>(i), static_cast<std::size_t>(n),
   static_cast<std::size_t>(sink), to_sink, pivot, q);
}

// walk_probabilities() by its definition, over Wide.
void solve(Wide* matrix, std::size_t ld, int i, int n, int sink, Wide* to_sink, Wide* pivot,
           Wide* q) {
  const MatrixView rows(matrix, ld);
  for (int k = n; k > i; --k) {
    if (k == sink) continue;
    const Wide* own = rows.row(k);
    Wide all = to_sink[k];
    for (int h = i; h < k; ++h) all += own[h];
    pivot[k] = all;
    for (int m = i + 1; m < k; ++m) {
      Wide* row = rows.row(m);
      if (m == sink || row[k].is_zero()) continue;
      const Wide share = row[k] / all;
      for (int h = i; h < k; ++h) row[h] += share * own[h];
      to_sink[m] += share * to_sink[k];
    }
  }
  q[i] = Wide(0.0);
  for (int k = i + 1; k <= n; ++k) {
    q[k] = Wide(0.0);
    if (k == sink) continue;
    const Wide* own = rows.row(k);
    Wide all = to_sink[k];
    for (int h = i + 1; h < k; ++h) all += own[h] * q[h];
    q[k] = all / pivot[k];
  }
}

}  // namespace

template <typename T>
void Contraction<T>::start(const Conditionals& conditionals, int sink) {
  conditionals_ = &conditionals;
  sink_ = sink;
  next_ = kUnknown;
}

template <typename T>
void Contraction<T>::advance(int i, const std::int32_t* heads) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const int n = c.n();
  const MatrixView matrix(matrix_.resize(node_count(n) * ld), ld);
  T* to_sink = to_sink_.resize(ld);
  std::int32_t* leads_to = leads_to_.resize(node_count(n));
  if (next_ > i) {
    std::copy(c.weights<T>(1), c.weights<T>(n) + ld, matrix.row(1));
    for (int m = 1; m <= n; ++m) {
      to_sink[m] = matrix(m, sink_);
      matrix(m, sink_) = T(0);
      matrix(m, 0) = T(0);  // ROOT is the sink, or it is not a head.
    }
    for (int x = 0; x <= n; ++x) leads_to[x] = x;
    leads_to[0] = sink_;
    next_ = 1;
  }
  for (; next_ < i; ++next_) {
    if (next_ == sink_) continue;
    const int end = leads_to[heads[next_]];
    for (int m = next_ + 1; m <= n; ++m) {
      T& merged = matrix(m, next_);
      // An edge from `end` to itself is dropped.
      if (m != end) (end == sink_ ? to_sink[m] : matrix(m, end)) += merged;
      merged = T(0);
    }
    for (int x = 0; x <= n; ++x) leads_to[x] = leads_to[x] == next_ ? end : leads_to[x];
  }
}

template <typename T>
void Contraction<T>::probabilities(int i, const std::int32_t* heads, T* p) {
  advance(i, heads);
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const int n = c.n();
  const MatrixView from(matrix_.data(), ld);
  const MatrixView work(work_.resize((node_count(n) + 3) * ld), ld);
  T* to_sink = work.row(n + 1);
  T* pivot = work.row(n + 2);
  T* q = work.row(n + 3);
  const int begin = i / 8 * 8;
  for (int m = i + 1; m <= n; ++m) {
    std::copy(from.row(m) + begin, from.row(m) + ld, work.row(m) + begin);
    to_sink[m] = to_sink_[m];
  }
  solve(work.row(0), ld, i, n, sink_, to_sink, pivot, q);
  q[sink_] = T(1);
  const T* weights = c.weights<T>(i);
  T total = T(0);
  for (int h = 0; h <= n; ++h) {
    const int end = leads_to_[h];
    p[h] = end == i ? T(0) : weights[h] * q[end];
    total += p[h];
  }
  if (!(T(0) < total)) {  // The heads decided so far have underflowed, which only double does.
    TAPROOT_ASSERT((std::is_same_v<T, double>));
    std::fill_n(p, ld, T(0));
    return;
  }
  const T inverse = T(1) / total;
  for (int h = 0; h <= n; ++h) p[h] = p[h] * inverse;
  std::fill(p + n + 1, p + ld, T(0));
}

template class Contraction<double>;
template class Contraction<Wide>;

}  // namespace taproot::detail
#endif  // HWY_ONCE
