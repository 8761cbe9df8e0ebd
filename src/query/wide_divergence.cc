// SPDX-License-Identifier: Apache-2.0
#include "query/wide_divergence.h"
#include "query/query_scratch.h"

#include <cstdlib>

#include "scores/weights.h"

namespace taproot::detail {
namespace {

// While words are eliminated, an edge comes to stand for many ways from its head to its modifier.
// `p` and `q` are its weights, and `gap` is the mean under p, over these ways, of the log of a
// way's share in q or, for the KL divergence, of that share over the way's share in p.
struct Entry {
  Wide p = 0.0;
  Wide q = 0.0;
  double gap = 0;
};

// Whether b is too small beside a to matter, also when it is multiplied by a log (below 2^60).
bool is_negligible(const Entry& a, const Entry& b) {
  constexpr std::int64_t kBits = 64;
  return (b.p.is_zero() || (!a.p.is_zero() && a.p.exponent() - b.p.exponent() > 2 * kBits)) &&
         (b.q.is_zero() || (!a.q.is_zero() && a.q.exponent() - b.q.exponent() > kBits));
}

template <Divergence kKind>
double part_of_gap(const Entry& part, const Wide& p, const Wide& q) {
  if (part.p.is_zero()) return 0;
  const Wide share = part.p / p;
  Wide ratio = part.q / q;
  if constexpr (kKind == Divergence::kRelativeEntropy) ratio = ratio / share;
  return to_double(share) * (part.gap + log_of(ratio));
}

template <Divergence kKind>
Entry sum(const Entry& a, const Entry& b) {
  if (is_negligible(a, b)) return a;
  Entry both{a.p + b.p, a.q + b.q, 0};
  if (!both.p.is_zero()) {
    both.gap = part_of_gap<kKind>(a, both.p, both.q) + part_of_gap<kKind>(b, both.p, both.q);
  }
  return both;
}

// The entries of all edges by position, row = modifier, in the workspace's memory.
class Entries {
 public:
  Entries(const FactorData& p, const FactorData& q, Scratch& scratch) : ld_(p.table.ld) {
    QueryScratch& own = scratch.get<QueryScratch>();
    p_ = own.wide_tangents.resize(2 * p.table.size());
    q_ = p_ + p.table.size();
    gap_ = own.tangents.resize(p.table.size());
    for (int m = 1; m <= p.table.n; ++m) {
      for (int h = 0; h <= p.table.n; ++h) {
        const int head = p.order[h];
        const int modifier = p.order[m];
        // An edge that q forbids is in no tree of p, so p may forbid it, too.
        const bool allowed = q.table.allows(head, modifier);
        set(h, m,
            {allowed ? wide_weight(p.table, head, modifier) : Wide(0.0),
             wide_weight(q.table, head, modifier), 0});
      }
    }
  }

  Entry get(int head, int modifier) const {
    const std::size_t i = at(head, modifier);
    return {p_[i], q_[i], gap_[i]};
  }
  void set(int head, int modifier, const Entry& entry) {
    const std::size_t i = at(head, modifier);
    p_[i] = entry.p;
    q_[i] = entry.q;
    gap_[i] = entry.gap;
  }

 private:
  std::size_t at(int head, int modifier) const {
    return static_cast<std::size_t>(modifier) * ld_ + static_cast<std::size_t>(head);
  }

  std::size_t ld_;
  Wide* p_;
  Wide* q_;
  double* gap_;
};

// The mean under p of log q(tree), or of log q(tree) - log p(tree): a tree's probability is the
// product over the pivots of the share that its way has in each of them.
template <Divergence kKind>
double mean_log(const FactorData& p, const FactorData& q, Scratch& scratch) {
  Entries entries(p, q, scratch);
  const int first = p.table.root == RootRule::kSingle ? 1 : 0;
  double total = 0;
  for (int k = p.table.n; k >= 2; --k) {
    Entry pivot;
    for (int h = first; h < k; ++h) pivot = sum<kKind>(pivot, entries.get(h, k));
    total += pivot.gap;
    for (int h = 0; h < k; ++h) {
      Entry share = entries.get(h, k);
      if (share.q.is_zero()) continue;
      share = {share.p / pivot.p, share.q / pivot.q, share.gap - pivot.gap};
      for (int m = 1; m < k; ++m) {
        const Entry out = entries.get(k, m);
        if (h == m || out.q.is_zero()) continue;
        const Entry way{share.p * out.p, share.q * out.q, share.gap + out.gap};
        entries.set(h, m, sum<kKind>(entries.get(h, m), way));
      }
    }
  }
  return total + entries.get(0, 1).gap;
}

}  // namespace

double wide_divergence(const FactorData& p, const FactorData& q, Divergence kind,
                       Scratch& scratch) {
  return kind == Divergence::kCrossEntropy ? -mean_log<Divergence::kCrossEntropy>(p, q, scratch)
                                           : -mean_log<Divergence::kRelativeEntropy>(p, q, scratch);
}

}  // namespace taproot::detail
