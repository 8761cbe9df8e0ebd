// SPDX-License-Identifier: Apache-2.0
#include "eliminate/order.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/scaled_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eliminate/order.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// keys[h] = sum over m of weights[h][m] * factor[m], for h = 1..n.
void row_keys(const double* HWY_RESTRICT weights, size_t ld, size_t n,
              const double* HWY_RESTRICT factor, double* HWY_RESTRICT keys) {
  for (size_t h = 1; h <= n; ++h) {
    Block total = broadcast(0.0);
    for (size_t j = 0; j < ld; j += kBlock) {
      total = multiply_add(load(weights + h * ld + j), load(factor + j), total);
    }
    keys[h] = sum(total);
  }
}

// matrix[position[m]][j] = weights[order[j]][m] for all columns j < ld; order[j] = n+1 beyond n, and
// position[n+1] is a row that may be overwritten. Two by two, so that both sides move in pairs, and
// within blocks of eight heads, so that a cache line is written at once.
void permute(const double* HWY_RESTRICT weights, size_t ld, size_t n, const int32_t* order,
             const int32_t* position, double* HWY_RESTRICT matrix) {
  for (size_t j = 0; j < ld; j += kBlock) {
    const double* source[kBlock];
    for (size_t i = 0; i < kBlock; ++i) {
      source[i] = weights + (j + i <= n ? static_cast<size_t>(order[j + i]) : n + 1) * ld;
    }
    for (size_t m = 0; m <= n; m += 2) {
      double* first_row = matrix + static_cast<size_t>(position[m]) * ld + j;
      double* second_row = matrix + static_cast<size_t>(position[m + 1]) * ld + j;
      for (size_t i = 0; i < kBlock; i += 2) {
        transpose_pairs(source[i] + m, source[i + 1] + m, first_row + i, second_row + i);
      }
    }
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(row_keys);
HWY_EXPORT(permute);

namespace {

// Positions n, n-1, ..., 1 take the words in ascending order of their keys, but for the last.
void assign_positions(FactorData& data, const double* keys) {
  const int n = data.table.n;
  std::int32_t* order = data.order.data();
  int last = 0;
  for (int word = 1; word <= n; ++word) {
    order[word] = word;
    if (data.last[static_cast<std::size_t>(word)] != 0 && (last == 0 || keys[word] > keys[last])) {
      last = word;
    }
  }
  order[0] = 0;
  std::swap(order[1], order[last]);
  std::sort(order + 2, order + n + 1, [keys](std::int32_t a, std::int32_t b) {
    return keys[a] > keys[b] || (keys[a] == keys[b] && a > b);
  });
  std::int32_t* position = data.position.data();
  for (int p = 0; p <= n; ++p) position[order[p]] = p;
  position[n + 1] = 0;
}

}  // namespace

double arrange(FactorData& data, double* weights, double* sums) {
  const auto n = static_cast<std::size_t>(data.table.n);
  const std::size_t ld = data.table.ld;
  const bool single = data.table.root == RootRule::kSingle;
  std::fill(weights + (n + 1) * ld, weights + (n + 2) * ld, 0.0);
  ScaledProduct bound;
  double root_sum = 0;
  for (std::size_t m = 1; m <= n; ++m) {
    const double sum = single ? sums[m] : sums[m] + weights[m];
    bound.multiply(std::max(sum, 1.0));
    root_sum += weights[m];
    // No word heads: then the word is the root, and counts nowhere.
    sums[m] = sum > 0 ? 1 / sum : 0;
  }
  if (single) bound.multiply(root_sum);
  sums[0] = 0;
  double* keys = sums + ld;
  HWY_DYNAMIC_DISPATCH(row_keys)(weights, ld, n, sums, keys);
  data.order.resize(n + 1);
  data.position.resize(n + 2);
  assign_positions(data, keys);
  HWY_DYNAMIC_DISPATCH(permute)
  (weights, ld, n, data.order.data(), data.position.data(),
   data.matrix.resize((n + 1) * ld));
  return bound.log2();
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
