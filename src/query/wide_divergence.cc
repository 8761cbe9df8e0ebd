// SPDX-License-Identifier: Apache-2.0
#include "query/wide_divergence.h"
#include "query/query_scratch.h"

#include <cstdlib>

#include "scores/weights.h"

namespace taproot::detail {
namespace {

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

  WideEntry get(int head, int modifier) const {
    const std::size_t i = at(head, modifier);
    return {p_[i], q_[i], gap_[i]};
  }
  void set(int head, int modifier, const WideEntry& entry) {
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
    WideEntry pivot{0.0, 0.0, 0};
    for (int h = first; h < k; ++h) pivot = sum<kKind>(pivot, entries.get(h, k));
    total += pivot.gap;
    for (int h = 0; h < k; ++h) {
      const WideEntry edge = entries.get(h, k);
      if (edge.q.is_zero()) continue;
      const WideEntry share = share_of(edge, pivot);
      for (int m = 1; m < k; ++m) {
        const WideEntry out = entries.get(k, m);
        if (h == m || out.q.is_zero()) continue;
        entries.set(h, m, sum<kKind>(entries.get(h, m), chained(share, out)));
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
