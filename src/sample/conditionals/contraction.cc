// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/contraction.h"

#include <algorithm>
#include <type_traits>

#include "core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/conditionals/contraction.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Eliminates words n, ..., i+1 other than the sink from matrix ([m][h]) and to_sink, leaving i and
// the sink; then q[h] = P(a walk from h meets the sink before i) for the words after i. Columns
// before i must be 0 in the block that i is in. Rows hold anything from the diagonal on once their
// word is next.
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
      q[k] = 0;  // Its columns are in to_sink.
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

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(walk_probabilities);

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

void solve(double* matrix, std::size_t ld, int i, int n, int sink, double* to_sink, double* pivot,
           double* q) {
  HWY_DYNAMIC_DISPATCH(walk_probabilities)
  (matrix, ld, index(i), index(n), index(sink), to_sink, pivot, q);
}

// The same by the definition.
void solve(Wide* matrix, std::size_t ld, int i, int n, int sink, Wide* to_sink, Wide* pivot,
           Wide* q) {
  for (int k = n; k > i; --k) {
    if (k == sink) continue;
    const Wide* own = matrix + index(k) * ld;
    Wide all = to_sink[k];
    for (int h = i; h < k; ++h) all += own[h];
    pivot[k] = all;
    for (int m = i + 1; m < k; ++m) {
      Wide* row = matrix + index(m) * ld;
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
    const Wide* own = matrix + index(k) * ld;
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
  T* matrix = matrix_.resize((index(n) + 1) * ld);
  T* to_sink = to_sink_.resize(ld);
  std::int32_t* leads_to = leads_to_.resize(index(n) + 1);
  if (next_ > i) {
    std::copy(c.weights<T>(1), c.weights<T>(n) + ld, matrix + ld);
    for (int m = 1; m <= n; ++m) {
      T* row = matrix + index(m) * ld;
      to_sink[m] = row[sink_];
      row[sink_] = T(0);
      row[0] = T(0);  // ROOT is the sink, or no head.
    }
    for (int x = 0; x <= n; ++x) leads_to[x] = x;
    leads_to[0] = sink_;
    next_ = 1;
  }
  for (; next_ < i; ++next_) {
    if (next_ == sink_) continue;
    const int end = leads_to[heads[next_]];
    T* column = end == sink_ ? to_sink : matrix + end;
    const std::size_t stride = end == sink_ ? 1 : ld;
    for (int m = next_ + 1; m <= n; ++m) {
      T& merged = matrix[index(m) * ld + index(next_)];
      // A self-loop is dropped.
      if (m != end) column[index(m) * stride] += merged;
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
  T* work = work_.resize((index(n) + 4) * ld);
  T* to_sink = work + (index(n) + 1) * ld;
  T* pivot = to_sink + ld;
  T* q = pivot + ld;
  const std::size_t begin = index(i) / 8 * 8;
  for (int m = i + 1; m <= n; ++m) {
    const T* from = matrix_.data() + index(m) * ld;
    std::copy(from + begin, from + ld, work + index(m) * ld + begin);
    to_sink[m] = to_sink_[index(m)];
  }
  solve(work, ld, i, n, sink_, to_sink, pivot, q);
  q[sink_] = T(1);
  const T* weights = c.weights<T>(i);
  T total = T(0);
  for (int h = 0; h <= n; ++h) {
    const int end = leads_to_[index(h)];
    p[h] = end == i ? T(0) : weights[h] * q[end];
    total += p[h];
  }
  if (!(T(0) < total)) {  // In double: what leads here has underflowed.
    TAPROOT_ASSERT((std::is_same_v<T, double>));
    std::fill_n(p, ld, T(0));
    return;
  }
  const T inverse = T(1) / total;
  for (int h = 0; h <= n; ++h) p[h] = p[h] * inverse;
  for (std::size_t h = index(n) + 1; h < ld; ++h) p[h] = T(0);
}

template class Contraction<double>;
template class Contraction<Wide>;

}  // namespace taproot::detail
#endif  // HWY_ONCE
