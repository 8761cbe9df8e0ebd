// SPDX-License-Identifier: Apache-2.0
#include "lanes/lanes.h"

#include <algorithm>
#include <cmath>

#include "core/ln2.h"
#include "core/scaled_product.h"
#include "eliminate/prepare.h"
#include "eliminate/range.h"
#include "lanes/chart_lanes.h"
#include "lanes/lanes_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/lanes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "lanes/columns-inl.h"
#include "lanes/reverse_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Z of lane `lane`, multiplied in the order of eliminate.cc.
ScaledProduct product_of_pivots(const NodeVectors& pivot, size_t lane, int n) {
  ScaledProduct z;
  for (int k = 1; k <= n; ++k) z.multiply(pivot.at(static_cast<size_t>(k))[lane]);
  z.normalize();
  return z;
}

// Sets what came out of a sentence that has been prepared.
void conclude(const FactorData& data, const Prepared& prepared, const ScaledProduct& z,
              LaneSentence& sentence) {
  const int n = data.table.n;
  sentence.answered = range_bits(prepared.bound, z, prepared.flushed, n) <= kSafeBits;
  if (!sentence.answered) return;
  sentence.log_partition = log_scaled(z.mantissa(), z.exponent() + data.table.total_scale);
}

// Up to kLanes sentences. Those that are not ok have answers already.
void answer_lanes(LaneSentence* sentences, const FactorData* data, const Prepared* prepared,
                  size_t count, bool single, bool marginals, LanesScratch& own) {
  const FactorData* in_lane[kLanes] = {};
  size_t n = 0;
  for (size_t lane = 0; lane < count; ++lane) {
    if (!data[lane].outcome.ok()) continue;
    in_lane[lane] = &data[lane];
    n = std::max(n, static_cast<size_t>(data[lane].table.n));
  }
  if (n == 0) return;
  const size_t size = Cells::size(n);
  double* memory = own.cells.resize((marginals ? 2 : 1) * size);
  const Cells matrix{memory, Cells::leading_dimension(n)};
  Columns columns;
  read_weights(in_lane, n, matrix, columns);
  NodeVectors pivot;
  NodeVectors inverse;
  const Cells second{memory + (marginals ? size : 0), matrix.ld};  // The shares, then the gradient.
  LaneElimination(matrix, second, n, single, pivot, inverse).run();
  EdgeMatrix out[kLanes] = {};
  bool any = false;
  for (size_t lane = 0; lane < count; ++lane) {
    if (in_lane[lane] == nullptr) continue;
    conclude(data[lane], prepared[lane], product_of_pivots(pivot, lane, data[lane].table.n),
             sentences[lane]);
    if (!marginals || !sentences[lane].answered) continue;
    out[lane] = sentences[lane].marginals;
    any = true;
  }
  if (!any) return;
  LaneReversePass(matrix, inverse, n, single, second).run();
  double* transposed = own.head_rows.resize(kBlock * leading_dimension(static_cast<int>(n)));
  double* found = own.marginals.resize(kLanes * (n + 1) * (n + 1));
  write_marginals(in_lane, out, n, second, columns, transposed, found);
}

void answer_group(LaneSentence* sentences, const FactorData* data, const Prepared* prepared,
                  size_t count, bool single, bool marginals, LanesScratch& own) {
  for (size_t begin = 0; begin < count; begin += kLanes) {
    answer_lanes(sentences + begin, data + begin, prepared + begin, std::min(kLanes, count - begin),
                 single, marginals, own);
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
  LanesScratch& own = scratch.get<LanesScratch>();
  Prepared prepared[kLaneGroup];
  for (std::size_t i = 0; i < group.size(); ++i) {
    group[i].outcome = prepare(own.sentences[i], *group[i].scores, root, scratch, prepared[i]);
    group[i].answered = !group[i].outcome.ok();
  }
  HWY_DYNAMIC_DISPATCH(answer_group)
  (group.data(), own.sentences.data(), prepared, group.size(), root == RootRule::kSingle, marginals,
   own);
}

}  // namespace

void answer_in_lanes(std::span<LaneSentence> group, RootRule root, TreeFamily family,
                     bool marginals, Scratch& scratch) {
  const auto answer = family == TreeFamily::kAll ? eliminate_in_lanes : chart_in_lanes;
  answer(group, root, marginals, scratch);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
