// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/list.h"
#include "core/format.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "query/query.h"
#include "sample/conditionals/choose.h"
#include "sample/conditionals/path_scratch.h"

namespace taproot::detail {
namespace {

// Below this, what is left of 1 has lost eight digits and more to subtraction.
constexpr double kLeastLeft = 1e-8;
// A difference of less than this part of what it was taken from is rounding.
constexpr double kRounding = 64 * 0x1p-52;

}  // namespace

void List::build(const Conditionals& conditionals, const FactorData& data, Scratch& scratch) {
  conditionals_ = &conditionals;
  heads_.clear();
  p_.clear();
  // How many trees there are: Z with all weights 1.
  const ScoreTable& table = data.table;
  const std::size_t size = (static_cast<std::size_t>(table.n) + 1) * table.ld;
  double* scores = scratch.probabilities.resize(size);
  std::transform(table.row(0), table.row(0) + size, scores,
                 [](double s) { return s == -HUGE_VAL ? s : 0.0; });
  const ScoreView view(scores, table.n, static_cast<std::ptrdiff_t>(table.ld), 1);
  eliminate_into(scratch.other, view, table.root, scratch);
  trees_ = std::ldexp(
      scratch.other.mantissa,
      static_cast<int>(std::min(1100.0, scratch.other.exponent + scratch.other.table.total_scale)));
}

void List::add(double p) { p_.push_back(p); }

double List::log_left() const {
  const double left = 1 - std::accumulate(p_.begin(), p_.end(), 0.0);
  return complete() || left < kLeastLeft ? -HUGE_VAL : std::log(left);
}

bool List::sample(Stream& stream, Scratch& scratch, std::int32_t* heads) {
  const auto stride = static_cast<std::size_t>(conditionals_->n()) + 1;
  if (log_left() == -HUGE_VAL) return false;
  heads_.resize((p_.size() + 1) * stride);
  const bool drawn = conditionals_->is_wide() ? draw_over<Wide>(stream, scratch)
                                              : draw_over<double>(stream, scratch);
  if (drawn) {
    // The root's own head is 0, whatever the choice at 0 was.
    std::int32_t* own = heads_.data() + p_.size() * stride;
    std::vector<std::int32_t> tree(own, own + stride);
    if (conditionals_->single()) tree[static_cast<std::size_t>(own[0])] = 0;
    conditionals_->to_words(tree.data(), heads);
  }
  return drawn;
}

template <typename T>
bool List::draw_over(Stream& stream, Scratch& scratch) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const auto stride = static_cast<std::size_t>(c.n()) + 1;
  PathScratch& path = PathScratch::of(scratch);
  std::int32_t* own = heads_.data() + p_.size() * stride;
  std::fill(own, own + stride, 0);
  T* p = path.vectors<T>().resize(ld);
  double* mass = mass_.resize(ld);
  active_.resize(p_.size());
  std::iota(active_.begin(), active_.end(), std::size_t{0});
  const double left = std::exp(log_left());
  double prefix = 1;
  int sink = 0;
  bool rows = false;
  const auto start = [&] {
    path.contraction<T>().start(c, sink);
    rows = row_error(c.visits(sink), 1) <= kListError * left;
    if (rows) path.rows.start(c, sink);
  };
  if (!c.single()) start();
  for (int i = c.single() ? 0 : 1; i <= c.n(); ++i) {
    if (i > 0 && i == sink) continue;
    if (i == 0) {
      std::copy_n(c.roots<T>(), ld, p);
    } else {
      if constexpr (std::is_same_v<T, double>) {
        if (rows) {
          path.rows.compute(i);
          path.rows.probabilities(i, p);
          rows = path.rows.error() <= kListError * left;
        }
      }
      if (!rows) path.contraction<T>().probabilities(i, own, p);
    }
    for (std::size_t h = 0; h < ld; ++h) mass[h] = prefix * to_double(p[h]);
    for (const std::size_t t : active_) {
      mass[heads_[t * stride + static_cast<std::size_t>(i)]] -= p_[t];
    }
    for (std::size_t h = 0; h < ld; ++h) {
      if (!(mass[h] > kRounding * prefix * to_double(p[h]))) mass[h] = 0;
    }
    const double total = sum_of(mass, ld);
    if (!(total > 0)) return false;
    const int head = choose(mass, ld, total, stream);
    prefix *= to_double(p[head]);
    own[i] = head;
    std::erase_if(active_, [&](std::size_t t) {
      return heads_[t * stride + static_cast<std::size_t>(i)] != head;
    });
    if (i == 0) {
      sink = head;
      start();
    } else if (rows) {
      path.rows.decide(i, head);
    }
  }
  return active_.empty();
}

}  // namespace taproot::detail
