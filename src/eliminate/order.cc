// SPDX-License-Identifier: Apache-2.0
#include "eliminate/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eliminate/order.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "eliminate/permute-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// keys[h] = sum over m of weights[h][m] / sums[m], for h = 1..n. A word m whose sum is 0 has no
// word heads and is left out. Overwrites sums with their inverses. Returns the product of
// max(sums[m], 1).
ScaledProduct row_keys(const double* HWY_RESTRICT weights, size_t ld, size_t n,
                       double* HWY_RESTRICT sums, double* HWY_RESTRICT keys) {
  const D d;
  constexpr size_t kStep = 16 * kLanes;  // A product of 16 sums below 2^60 does not overflow.
  ScaledProduct product;
  for (size_t begin = 0; begin < ld; begin += kStep) {
    V lanes = hn::Set(d, 1.0);
    for (size_t j = begin; j < std::min(begin + kStep, ld); j += kLanes) {
      const V sum = hn::LoadU(d, sums + j);
      lanes = hn::Mul(lanes, hn::Max(sum, hn::Set(d, 1.0)));
      const V inverse = hn::Div(hn::Set(d, 1.0), sum);
      hn::StoreU(hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), inverse), d, sums + j);
    }
    HWY_ALIGN double factors[kLanes];
    hn::StoreU(lanes, d, factors);
    for (const double factor : factors) product.multiply(factor);
  }
  for (size_t h = 1; h <= n; ++h) {
    Block total = broadcast(0.0);
    for (size_t j = 0; j < ld; j += kBlock) {
      total = multiply_add(load(weights + h * ld + j), load(sums + j), total);
    }
    keys[h] = sum(total);
  }
  return product;
}

// position[word] = 1 + the number of words with larger keys. Returns whether all keys are
// different. keys[0] and what follows keys[n] in its block are overwritten. Unlike a sort, this has
// no branches that depend on the keys.
bool rank_words(double* HWY_RESTRICT keys, size_t n, int32_t* position) {
  const D d;
  const hn::RebindToSigned<D> di;
  keys[0] = HUGE_VAL;
  for (size_t i = n + 1; i % kBlock != 0; ++i) keys[i] = HUGE_VAL;
  size_t total = 0;
  for (size_t j = 0; j <= n; j += kLanes) {
    const V key = hn::LoadU(d, keys + j);
    auto even = hn::Zero(di);  // Minus the numbers; two of each, so that they wait less.
    auto odd = hn::Zero(di);
    const auto larger = [&](size_t i) HWY_ATTR {
      return hn::VecFromMask(di, hn::RebindMask(di, hn::Gt(hn::Set(d, keys[i]), key)));
    };
    for (size_t i = 1; i < n; i += 2) {
      even = hn::Add(even, larger(i));
      odd = hn::Add(odd, larger(i + 1));
    }
    if (n % 2 != 0) even = hn::Add(even, larger(n));
    HWY_ALIGN int64_t minus[kLanes];
    hn::Store(hn::Add(even, odd), di, minus);
    for (size_t i = j == 0 ? 1 : 0; i < std::min(kLanes, n + 1 - j); ++i) {
      position[j + i] = static_cast<int32_t>(1 - minus[i]);
      total += static_cast<size_t>(-minus[i]);
    }
  }
  return total == n * (n - 1) / 2;
}

// matrix[position[m]][j] = weights[order[j]][m] for all columns j < ld. For j > n, row n+1 of the
// weights takes the place of row order[j].
void permute_weights(const double* HWY_RESTRICT weights, size_t ld, size_t n, const int32_t* order,
                     const int32_t* position, double* HWY_RESTRICT matrix) {
  for (size_t j = 0; j < ld; j += kBlock) {
    const double* source[kBlock];
    for (size_t i = 0; i < kBlock; ++i) {
      source[i] = weights + (j + i <= n ? static_cast<size_t>(order[j + i]) : n + 1) * ld;
    }
    heads_to_position(source, n, position, j, matrix, ld);
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(row_keys);
HWY_EXPORT(permute_weights);
HWY_EXPORT(rank_words);

namespace {

// Up to this length, counting the words before each word is faster than sorting them.
constexpr int kMostRanked = 128;

// Gives the positions n, n-1, ..., 2 to the words in ascending order of their keys, and position 1
// to the word that is eliminated last. Overwrites the keys, ld numbers.
void assign_positions(FactorData& data, double* keys) {
  const int n = data.table.n;
  std::int32_t* order = data.order.data();
  std::int32_t* position = data.position.data();
  int last = 0;
  for (int word = 1; word <= n; ++word) {
    if (data.last[word] != 0 && (last == 0 || keys[word] > keys[last])) last = word;
  }
  keys[last] = HUGE_VAL;
  order[0] = 0;
  position[0] = 0;
  if (n <= kMostRanked &&
      HWY_DYNAMIC_DISPATCH(rank_words)(keys, static_cast<std::size_t>(n), position)) {
    for (int word = 1; word <= n; ++word) order[position[word]] = word;
  } else {
    std::iota(order + 1, order + n + 1, 1);
    std::sort(order + 1, order + n + 1, [keys](std::int32_t a, std::int32_t b) {
      return keys[a] > keys[b] || (keys[a] == keys[b] && a > b);
    });
    for (int p = 0; p <= n; ++p) position[order[p]] = p;
  }
  std::fill(position + n + 1, position + n + kPositionPadding, 0);
}

}  // namespace

ScaledProduct choose_order(FactorData& data, const double* weights, double* sums) {
  const auto n = static_cast<std::size_t>(data.table.n);
  const std::size_t ld = data.table.ld;
  const bool single = data.table.root == RootRule::kSingle;
  double root_sum = 0;
  for (std::size_t m = 1; m <= n; ++m) root_sum += weights[m];
  if (!single) {
    for (std::size_t m = 1; m <= n; ++m) sums[m] += weights[m];
  }
  double* keys = sums + ld;
  ScaledProduct bound = HWY_DYNAMIC_DISPATCH(row_keys)(weights, ld, n, sums, keys);
  if (single) bound.multiply(root_sum);
  data.order.resize(n + 1);
  data.position.resize(n + kPositionPadding);
  assign_positions(data, keys);
  return bound;
}

void arrange_weights(FactorData& data, const double* weights) {
  const auto n = static_cast<std::size_t>(data.table.n);
  const std::size_t ld = data.table.ld;
  HWY_DYNAMIC_DISPATCH(permute_weights)
  (weights, ld, n, data.order.data(), data.position.data(), data.matrix.resize((n + 1) * ld));
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
