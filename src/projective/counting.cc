// SPDX-License-Identifier: Apache-2.0
#include "projective/counting.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/host_device.h"
#include "projective/fill_chart.h"

namespace taproot::detail {
namespace {

// A number modulo 2^61 - 1.
class Residue {
 public:
  Residue() = default;
  explicit Residue(std::uint64_t value) : value_(value % kPrime) {}

  std::uint64_t value() const { return value_; }

  friend Residue operator+(Residue a, Residue b) {
    a.value_ += b.value_;
    if (a.value_ >= kPrime) a.value_ -= kPrime;
    return a;
  }
  friend Residue operator-(Residue a, Residue b) {
    return a + Residue(b.value_ == 0 ? 0 : kPrime - b.value_);
  }
  friend Residue operator*(Residue a, Residue b) {
    const WideProduct product = multiply_wide(a.value_, b.value_);
    return Residue((product.low & kPrime) + (product.high << 3 | product.low >> 61));
  }
  bool operator==(const Residue&) const = default;

  // a^(kPrime - 2), by squaring.
  Residue inverse() const {
    Residue result(1);
    Residue power = *this;
    for (std::uint64_t e = kPrime - 2; e > 0; e >>= 1) {
      if ((e & 1) != 0) result = result * power;
      power = power * power;
    }
    return result;
  }

 private:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
  std::uint64_t value_;
};

// A pseudo-random weight for an allowed edge: the mixer of SplitMix64.
Residue weight(const ScoreTable& table, int head, int modifier) {
  if (!table.allows(head, modifier)) return Residue(0);
  std::uint64_t x =
      (static_cast<std::uint64_t>(head) << 32 | static_cast<std::uint32_t>(modifier)) +
      0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return Residue((x ^ x >> 31) >> 3);
}

Residue determinant(std::vector<Residue>& entries, std::size_t n) {
  const MatrixView a(entries.data(), n);
  Residue result(1);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (pivot < n && a(pivot, k).value() == 0) ++pivot;
    if (pivot == n) return Residue(0);
    if (pivot != k) {
      std::swap_ranges(a.row(k), a.row(k) + n, a.row(pivot));
      result = Residue(0) - result;
    }
    result = result * a(k, k);
    const Residue inverse = a(k, k).inverse();
    for (std::size_t r = k + 1; r < n; ++r) {
      const Residue factor = a(r, k) * inverse;
      if (factor.value() == 0) continue;
      for (std::size_t c = k; c < n; ++c) a(r, c) = a(r, c) - factor * a(k, c);
    }
  }
  return result;
}

// The sum over all trees, by the matrix-tree theorem; single-root, the first row of the Laplacian
// is replaced by the ROOT edges (Koo et al. 2007).
Residue sum_over_trees(const ScoreTable& table) {
  const bool single = table.root == RootRule::kSingle;
  const auto n = static_cast<std::size_t>(table.n);
  std::vector<Residue> entries(n * n, Residue(0));
  const MatrixView laplacian(entries.data(), n);
  for (int m = 1; m <= table.n; ++m) {
    Residue sum = single ? Residue(0) : weight(table, 0, m);
    for (int h = 1; h <= table.n; ++h) {
      const Residue w = weight(table, h, m);
      sum = sum + w;
      if (h != m) laplacian(h - 1, m - 1) = Residue(0) - w;
    }
    laplacian(m - 1, m - 1) = sum;
  }
  if (single) {
    for (int m = 1; m <= table.n; ++m) laplacian(0, m - 1) = weight(table, 0, m);
  }
  return determinant(entries, n);
}

Residue sum_over_projective_trees(const ScoreTable& table) {
  const ChartShape shape = chart_shape(table.n, table.root);
  Buffer<Residue> memory;
  const ChartView<Residue> c(memory.resize(shape.memory(kChartTables)), shape, kChartTables);
  load_diagonals(c, table.row(0), table.ld, Residue(0),
                 [&](int h, int m, double) { return weight(table, h, m); });
  inside_simply(c);
  return c.total();
}

}  // namespace

bool all_trees_are_projective(const ScoreTable& table) {
  // With all edges allowed, 3 -> 1 above the root 2 is a tree of three words that is not.
  if (!table.has_forbidden && table.n >= 3) return false;
  return sum_over_trees(table) == sum_over_projective_trees(table);
}

}  // namespace taproot::detail
