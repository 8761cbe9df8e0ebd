// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/list.h"
#include "core/format.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "query/query.h"
#include "sample/conditionals/choose.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {
namespace {

// If less mass than this is left of 1, subtraction has lost eight digits or more.
constexpr double kLeastLeft = 1e-8;
// A difference a - b below kRounding * a is rounding error, and counts as 0.
constexpr double kRounding = 64 * 0x1p-52;
}  // namespace

void List::build(const Conditionals& conditionals, const FactorData& data, Scratch& scratch) {
  conditionals_ = &conditionals;
  heads_.clear();
  p_.clear();
  // The number of trees is Z with all weights 1.
  SampleScratch& own = scratch.get<SampleScratch>();
  const ScoreTable& table = data.table;
  double* scores = own.unit_scores.resize(table.size());
  std::transform(table.row(0), table.row(0) + table.size(), scores,
                 [](double s) { return s == -HUGE_VAL ? s : 0.0; });
  const ScoreView view(scores, table.n, static_cast<std::ptrdiff_t>(table.ld), 1);
  FactorData& unit = own.unit_factors;
  eliminate_into(unit, view, table.root, scratch);
  const double exponent = std::min(1100.0, unit.exponent + unit.table.total_scale);
  trees_ = std::ldexp(unit.mantissa, static_cast<int>(exponent));
}

void List::add(double p) { p_.push_back(p); }

double List::log_left() const {
  const double left = 1 - std::accumulate(p_.begin(), p_.end(), 0.0);
  return complete() || left < kLeastLeft ? -HUGE_VAL : std::log(left);
}

bool List::sample(Stream& stream, Scratch& scratch, std::int32_t* heads) {
  const std::size_t stride = node_count(conditionals_->n());
  if (log_left() == -HUGE_VAL) return false;
  heads_.resize((p_.size() + 1) * stride);
  const bool found = conditionals_->is_wide() ? sample_over<Wide>(stream, scratch)
                                              : sample_over<double>(stream, scratch);
  if (found) conditionals_->to_words(heads_.data() + p_.size() * stride, heads);
  return found;
}

template <typename T>
bool List::sample_over(Stream& stream, Scratch& scratch) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const MatrixView listed(heads_.data(), node_count(c.n()));
  PathScratch& path = scratch.get<SampleScratch>().path;
  std::int32_t* own = listed.row(p_.size());
  std::fill_n(own, node_count(c.n()), 0);  // The head of the root stays 0.
  T* p = path.law<T>().resize(ld);
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
    for (const std::size_t t : active_) mass[listed(t, i)] -= p_[t];
    for (std::size_t h = 0; h < ld; ++h) {
      if (!(mass[h] > kRounding * prefix * to_double(p[h]))) mass[h] = 0;
    }
    const double total = sum_of(mass, ld);
    if (!(total > 0)) return false;
    const int head = choose(mass, ld, total, stream);
    prefix *= to_double(p[head]);
    own[i] = head;
    std::erase_if(active_, [&](std::size_t t) { return listed(t, i) != head; });
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
