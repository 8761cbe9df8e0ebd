// SPDX-License-Identifier: Apache-2.0
#include "lanes/lanes.h"

#include <algorithm>
#include <cstdint>

#include "core/ln2.h"
#include "core/scaled_product.h"
#include "eliminate/eliminate_scratch.h"
#include "eliminate/range.h"
#include "lanes/chart_lanes.h"
#include "lanes/lanes_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/lanes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "lanes/load_lanes-inl.h"
#include "lanes/order_lanes-inl.h"
#include "lanes/reverse_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Finds out what is wrong with the sentences that are not `usual`, or which words may be last if
// they have forbidden edges. Those that have no answer are removed.
HWY_NOINLINE void look_at_unusual(LaneSentence* sentences, size_t count, V usual, RootRule root,
                                  Scratch& scratch, LaneScores& scores, NodeVectors& last) {
  HWY_ALIGN double is_usual[kLanes];
  hn::Store(usual, D(), is_usual);
  FactorData& data = scratch.get<LanesScratch>().sentences[0];
  for (size_t lane = 0; lane < count; ++lane) {
    if (is_usual[lane] != 0) continue;
    LaneSentence& sentence = sentences[lane];
    sentence.outcome = load_scores(*sentence.scores, root, data.table);
    ReachScratch& reach = scratch.get<EliminateScratch>().reach;
    std::uint8_t* may_be_last = data.last.resize(data.table.nodes());
    if (sentence.outcome.ok() && !find_last_words(data.table, reach, may_be_last)) {
      sentence.outcome = {Status::kNoTree};
    }
    sentence.answered = !sentence.outcome.ok();
    if (sentence.answered) {
      scores.remove(lane);
      continue;
    }
    for (int m = 1; m <= data.table.n; ++m) last.at(static_cast<size_t>(m))[lane] = may_be_last[m];
  }
}

// Z of lane `lane`, multiplied in the order of eliminate.cc.
ScaledProduct product_of_pivots(const NodeVectors& pivot, size_t lane, size_t n) {
  ScaledProduct z;
  for (size_t k = 1; k <= n; ++k) z.multiply(pivot.at(k)[lane]);
  z.normalize();
  return z;
}

// Has the caller's memory fetched, which is seldom in a cache, while the gradient is computed.
HWY_INLINE void fetch_output(const EdgeMatrix* out, const size_t* nodes) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (out[lane].data == nullptr) continue;
    for (size_t h = 0; h < nodes[lane]; ++h) {
      const double* row = out[lane].data + static_cast<std::ptrdiff_t>(h) * out[lane].head_stride;
      for (size_t m = 0; m < nodes[lane]; m += kBlock) hwy::Prefetch(row + m);
    }
  }
}

// Up to kLanes sentences.
void answer_lanes(LaneSentence* sentences, size_t count, RootRule root, bool marginals,
                  Scratch& scratch) {
  const D d;
  LanesScratch& own = scratch.get<LanesScratch>();
  size_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    n = std::max(n, static_cast<size_t>(sentences[i].scores->n()));
    sentences[i].outcome = {};
    sentences[i].answered = false;
  }
  LaneSource sources[kLanes] = {};
  double* copies = own.scores.resize(kLanes * (n + 1) * (n + 1));
  for (size_t i = 0; i < count; ++i) {
    sources[i] = source_of(*sentences[i].scores, copies + i * (n + 1) * (n + 1));
  }
  const bool single = root == RootRule::kSingle;
  const size_t size = Cells::size(n);
  double* memory = own.cells.resize((marginals ? 3 : 2) * size);
  const Cells matrix{memory, Cells::leading_dimension(n)};
  const PartCells weights{memory + size, n + 1, size / kLanes * PartCells::kWidth};
  LaneScores scores(matrix, sources, n);  // The matrix comes when the scores are no longer needed.
  NodeVectors last;                       // Words that may be eliminated last.
  for (size_t m = 1; m <= n; ++m) last.set(m, hn::Set(d, 1.0));
  const V usual = scores.load();
  if (!hn::AllTrue(d, hn::Ne(usual, hn::Zero(d)))) {
    look_at_unusual(sentences, count, usual, root, scratch, scores, last);
  }
  scores.choose_scales(single);
  for (size_t lane = 0; lane < count; ++lane) {
    if (scores.furthest_scale[lane] - kFlushExponent >= kShortRange) scores.remove(lane);
  }
  NodeVectors sums;
  HWY_ALIGN double flushed[kLanes];
  hn::Store(scores.exponentiate(weights, sums), d, flushed);
  LaneOrder order(weights, matrix, n);
  order.choose(single, sums, last, scores.words());
  size_t words[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) words[lane] = scores.words(lane);
  order.to_positions(words);
  NodeVectors pivot;
  NodeVectors inverse;
  // The shares, then the gradient.
  const Cells second{memory + (marginals ? 2 * size : 0), matrix.ld};
  LaneElimination(matrix, second, n, single, pivot, inverse).run();
  EdgeMatrix out[kLanes] = {};
  size_t nodes[kLanes];
  bool any = false;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    nodes[lane] = words[lane] + 1;
    if (words[lane] == 0) continue;
    const ScaledProduct z = product_of_pivots(pivot, lane, words[lane]);
    LaneSentence& sentence = sentences[lane];
    const double bits =
        range_bits(order.bound[lane], z, flushed[lane], static_cast<int>(words[lane]));
    sentence.answered = bits <= kSafeBits;
    if (!sentence.answered) continue;
    sentence.log_partition = log_scaled(z.mantissa(), z.exponent() + scores.total_scale[lane]);
    if (!marginals) continue;
    out[lane] = sentence.marginals;
    any = true;
  }
  if (!any) return;
  fetch_output(out, nodes);
  LaneReversePass(matrix, inverse, n, single, second).run();
  order.to_marginals(second);
  write_cells(nodes, out, n, weights);
}

void answer_group(LaneSentence* sentences, size_t count, RootRule root, bool marginals,
                  Scratch& scratch) {
  for (size_t begin = 0; begin < count; begin += kLanes) {
    answer_lanes(sentences + begin, std::min(kLanes, count - begin), root, marginals, scratch);
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(answer_group);

namespace {

void eliminate_in_lanes(std::span<LaneSentence> group, RootRule root, bool marginals,
                        Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(answer_group)(group.data(), group.size(), root, marginals, scratch);
}

}  // namespace

void answer_in_lanes(std::span<LaneSentence> group, RootRule root, TreeFamily family,
                     bool marginals, Scratch& scratch) {
  const auto answer = family == TreeFamily::kAll ? eliminate_in_lanes : chart_in_lanes;
  answer(group, root, marginals, scratch);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
