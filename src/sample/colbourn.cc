// SPDX-License-Identifier: Apache-2.0
#include "sample/colbourn.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "eliminate/condition.h"
#include "eliminate/factor.h"
#include "query/gradient.h"
#include "sample/weights_by_modifier.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/colbourn.cc"
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

// Brings a row of K up to date: after word k took head j, every row changes by a multiple of row k
// that makes its entries k and j equal. done[d] is the d-th word decided, rows[d] its row then.
void update_row(const double* HWY_RESTRICT rows, size_t ld, const int32_t* done, size_t count,
                const int32_t* heads, const double* inverse_p, double* HWY_RESTRICT row) {
  for (size_t d = 0; d < count; ++d) {
    const auto k = static_cast<size_t>(done[d]);
    const auto j = static_cast<size_t>(heads[k - 1]);
    const double* HWY_RESTRICT other = rows + d * ld;
    const Block factor = broadcast((row[j] - row[k]) * inverse_p[d]);
    for (size_t b = 0; b < ld; b += kBlock) {
      store(multiply_add(factor, load(other + b), load(row + b)), row + b);
    }
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(inverse_row);
HWY_EXPORT(update_row);

namespace {

constexpr double kGuard = 1e-10 / (64 * 0x1p-52);

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// An index with probability weights[i] / sum; clamped to those of positive weight.
template <typename T>
int pick(const T* weights, int count, Stream& stream) {
  T total = T(0);
  for (int i = 0; i < count; ++i) total += weights[i];
  const T target = T(stream.uniform()) * total;
  T running = T(0);
  int last = -1;
  for (int i = 0; i < count; ++i) {
    if (!(T(0) < weights[i])) continue;
    last = i;
    running += weights[i];
    if (target < running) break;
  }
  TAPROOT_ASSERT(last >= 0);
  return last;
}

// Where the heads drawn so far lead from each node: an undecided word, or the sink.
class Contraction {
 public:
  Contraction(int n, int sink, std::int32_t* leads_to) : n_(n), leads_to_(leads_to) {
    for (int i = 0; i <= n; ++i) leads_to_[i] = i;
    leads_to_[0] = sink == 0 ? 0 : kNowhere;  // Given a root, ROOT is no head.
  }
  int operator()(int node) const { return leads_to_[node]; }
  void decide(int word, int head) {
    const std::int32_t end = leads_to_[head];
    for (int i = 0; i <= n_; ++i) {
      if (leads_to_[i] == word) leads_to_[i] = end;
    }
  }
  static constexpr std::int32_t kNowhere = -1;

 private:
  int n_;
  std::int32_t* leads_to_;
};

void factor_over(double* matrix, std::size_t ld, int n, double* pivot, double*, Scratch& memory) {
  factor(matrix, ld, n, RootRule::kMulti, pivot, memory.panel);
}
void factor_over(Wide* matrix, std::size_t ld, int n, Wide* pivot, Wide* share, Scratch&) {
  factor_simply(matrix, ld, n, RootRule::kMulti, pivot, share);
}

// One tree in the contracted form, over any scalar. For word i the other undecided words are
// eliminated, down to the sink and i; back-substituted, q[h] = P(a walk from h meets the sink
// before i), and i's head is x with probability proportional to A[x][i] q[where x leads].
template <typename T, typename Weight>
void contracted_tree(int n, int sink, Stream& stream, Scratch& memory, Buffer<T>& square,
                     Buffer<T>& vectors, std::int32_t* leads_to, std::int32_t* heads,
                     Weight&& weight) {
  const std::size_t ld = leading_dimension(n);
  T* matrix = square.resize((index(n) + 2) * ld);
  T* pivot = vectors.resize(4 * ld);
  T* share = pivot + ld;
  T* q = pivot + 2 * ld;
  T* p = pivot + 3 * ld;
  std::int32_t* place = leads_to + n + 1;
  Contraction contraction(n, sink, leads_to);
  for (int i = 1; i <= n; ++i) {
    if (i == sink) continue;
    // Positions: the sink 0, i 1, then the other undecided words.
    std::fill(place, place + n + 1, -1);
    place[sink] = 0;
    place[i] = 1;
    int count = 1;
    for (int m = i + 1; m <= n; ++m) {
      if (m != sink) place[m] = ++count;
    }
    std::fill(matrix, matrix + (index(count) + 1) * ld, T(0));
    for (int m = i + 1; m <= n; ++m) {
      if (m == sink) continue;
      T* row = matrix + index(place[m]) * ld;
      for (int x = 0; x <= n; ++x) {
        const int end = contraction(x);
        if (end != Contraction::kNowhere && end != m) row[place[end]] += weight(x, m);
      }
    }
    factor_over(matrix, ld, count, pivot, share, memory);
    q[0] = T(1);
    q[1] = T(0);
    for (int k = 2; k <= count; ++k) {
      T sum = T(0);
      for (int h = 0; h < k; ++h) sum += matrix[index(k) * ld + index(h)] * q[h];
      q[k] = sum / pivot[k];
    }
    for (int x = 0; x <= n; ++x) {
      const int end = contraction(x);
      p[x] = end == Contraction::kNowhere || end == i ? T(0) : weight(x, i) * q[place[end]];
    }
    heads[i - 1] = pick(p, n + 1, stream);
    contraction.decide(i, heads[i - 1]);
  }
}

}  // namespace

void Colbourn::build(const FactorData& data, Scratch& scratch) {
  data_ = &data;
  ld_ = data.table.ld;
  const int n = data.table.n;
  const std::size_t size = (index(n) + 1) * ld_;
  const bool single = data.table.root == RootRule::kSingle;
  const double* weights = weights_by_modifier(data, !single, scratch);
  std::copy(weights, weights + size, weights_.resize(size));
  has_gradient_ = data.tame;
  if (!has_gradient_) return;
  const FactorData* source = &data;
  if (single) {
    double* by_position = scratch.rows.resize(2 * ld_);
    double* root_weights = by_position + ld_;
    fill_weights(data.table, 0, 1, root_weights);
    root_gradient(data.factors(), by_position);
    double* tree_sum = tree_sum_.resize(index(n) + 1);
    int likeliest = 0;
    double best = -1;
    for (int k = 1; k <= n; ++k) {
      const int word = data.order[index(k)];
      tree_sum[word] = by_position[k];
      const double p = by_position[k] * root_weights[word];
      if (p > best) {
        best = p;
        likeliest = word;
      }
    }
    eliminate_given_root(data, likeliest, scratch);
    source = &scratch.other;
    has_gradient_ = source->tame;
    if (!has_gradient_) return;
  }
  gradient_of(*source, scratch);
  double* gradient = gradient_.resize(size);
  std::fill(gradient, gradient + size, 0.0);
  for (int m = 1; m <= n; ++m) {
    const double* row = scratch.square.data() + index(source->position[index(m)]) * ld_;
    for (int h = 0; h <= n; ++h)
      gradient[index(m) * ld_ + index(h)] = row[source->position[index(h)]];
  }
}

double Colbourn::diagonal(int sink, int word) const {
  const double own = gradient_[index(word) * ld_ + index(sink)];
  if (sink == 0) return own;
  return own + tree_sum_[index(word)] / tree_sum_[index(sink)] *
                   gradient_[index(sink) * ld_ + index(word)];
}

bool Colbourn::row_form_holds(int sink) const {
  if (!has_gradient_) return false;
  for (int i = 1; i <= data_->table.n; ++i) {
    if (i == sink) continue;
    const double* column = weights_.data() + index(i) * ld_;
    double sum = 0;
    for (int h = 0; h <= data_->table.n; ++h) sum += column[h];
    if (!(sum * diagonal(sink, i) <= kGuard)) return false;
  }
  return true;
}

void Colbourn::draw_rows(int sink, Stream& stream, Scratch& memory, std::int32_t* heads) const {
  const int n = data_->table.n;
  double* rows = memory.square.resize((index(n) + 1) * ld_);
  double* vectors = memory.rows.resize(2 * ld_);
  double* inverse_p = vectors;
  double* p = vectors + ld_;
  std::int32_t* done = memory.integers.resize(2 * (index(n) + 1));
  Contraction contraction(n, sink, done + n + 1);
  std::size_t count = 0;
  if (sink != 0) heads[sink - 1] = 0;
  for (int i = 1; i <= n; ++i) {
    if (i == sink) continue;
    const double* own = gradient_.data() + index(i) * ld_;
    const double* sink_row = gradient_.data() + index(sink) * ld_;
    const double factor = sink == 0 ? 0.0 : tree_sum_[index(i)] / tree_sum_[index(sink)];
    double* row = rows + count * ld_;
    HWY_DYNAMIC_DISPATCH(inverse_row)(own, own[sink], sink_row, factor, ld_, row);
    HWY_DYNAMIC_DISPATCH(update_row)(rows, ld_, done, count, heads, inverse_p, row);
    const double* weights = weights_.data() + index(i) * ld_;
    for (int h = 0; h <= n; ++h) {
      // Where the heads drawn lead back to i, the probability is exactly 0, whatever the row says.
      const int end = contraction(h);
      const bool possible = end != i && end != Contraction::kNowhere;
      p[h] = possible ? std::max(0.0, weights[h] * (row[i] - row[h])) : 0.0;
    }
    const int head = pick(p, n + 1, stream);
    heads[i - 1] = head;
    inverse_p[count] = 1 / (row[i] - row[head]);
    done[count++] = i;
    contraction.decide(i, head);
  }
}

void Colbourn::draw_contracted(int sink, Stream& stream, Scratch& memory,
                               std::int32_t* heads) const {
  const int n = data_->table.n;
  std::int32_t* integers = memory.integers.resize(2 * (index(n) + 1));
  if (sink != 0) heads[sink - 1] = 0;
  if (data_->tame) {
    contracted_tree(n, sink, stream, memory, memory.square, memory.rows, integers, heads,
                    [this](int h, int m) { return weights_[index(m) * ld_ + index(h)]; });
  } else {
    const bool single = data_->table.root == RootRule::kSingle;
    contracted_tree(n, sink, stream, memory, memory.wide_square, memory.wide_rows, integers, heads,
                    [=, this](int h, int m) {
                      if (h == m || (single && h == 0)) return Wide(0.0);
                      return wide_weight(data_->table, h, m);
                    });
  }
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
