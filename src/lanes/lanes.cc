// SPDX-License-Identifier: Apache-2.0
#include "lanes/lanes.h"

#include <algorithm>
#include <cmath>

#include "core/ln2.h"
#include "core/scaled_product.h"
#include "eliminate/range.h"
#include "lanes/lanes_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/lanes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "lanes/reverse_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Z is the product of the pivots, of which all but the last are at most the sum of a column. As
// long as the product of those is at least this, no product of some of them has underflowed: the
// others are at most 1.6 * 33 < 2^6 each. (The last pivot may be large under the single-root rule.)
constexpr double kLeastProduct = 0x1p-800;

constexpr double kSafeRatio = 0x1p700;
static_assert(kSafeBits == 700);

// Whether the sentence is tame, as in eliminate.cc. False where something is not a number.
bool is_tame(double bound, double z, double flushed, int n) {
  if (!(z > 0 && std::isfinite(z) && bound <= z * kSafeRatio)) return false;
  return flushed == -HUGE_VAL || flushed_is_negligible(flushed, std::log2(bound / z), n);
}

// Sets log_partition and `answered` of the sentences, one per lane.
void conclude(const LaneSums& sums, const Scales& scales, V good, LaneSentence* sentences,
              size_t count) {
  const D d;
  HWY_ALIGN double product[kLanes];
  HWY_ALIGN double z[kLanes];
  HWY_ALIGN double bound[kLanes];
  HWY_ALIGN double flushed[kLanes];
  HWY_ALIGN double total_scale[kLanes];
  HWY_ALIGN double furthest_scale[kLanes];
  HWY_ALIGN double is_good[kLanes];
  hn::Store(sums.product, d, product);
  hn::Store(hn::Mul(sums.product, sums.last), d, z);
  hn::Store(sums.bound, d, bound);
  hn::Store(sums.flushed, d, flushed);
  hn::Store(scales.total, d, total_scale);
  hn::Store(scales.furthest, d, furthest_scale);
  hn::Store(good, d, is_good);
  for (size_t lane = 0; lane < count; ++lane) {
    LaneSentence& sentence = sentences[lane];
    sentence.answered = is_good[lane] != 0 && product[lane] >= kLeastProduct &&
                        furthest_scale[lane] - kFlushExponent < kShortRange &&
                        is_tame(bound[lane], z[lane], flushed[lane] + 1, sentence.scores->n());
    if (!sentence.answered) continue;
    ScaledProduct normal;
    normal.multiply(z[lane]);
    normal.normalize();
    sentence.log_partition = log_scaled(normal.mantissa(), normal.exponent() + total_scale[lane]);
  }
}

// Up to kLanes sentences. Where there are fewer, the first takes the other lanes, too.
template <bool kMarginals>
void answer_lanes(LaneSentence* sentences, size_t count, bool single, Buffer<double>& memory) {
  const ScoreView* views[kLanes];
  size_t lengths[kLanes];
  EdgeMatrix out[kLanes];
  size_t n = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    views[lane] = sentences[lane < count ? lane : 0].scores;
    lengths[lane] = static_cast<size_t>(views[lane]->n());
    n = std::max(n, lengths[lane]);
  }
  const size_t size = Cells::size(n);
  const size_t ld = Cells::leading_dimension(n);
  double* cells = memory.resize((kMarginals ? 3 : 1) * size);
  const Cells weights{cells, ld};
  const Cells rows{kMarginals ? cells + size : cells, ld};
  read_scores(views, n, weights);
  Scales scales;
  V good;
  choose_scales(weights, n, single, scales, good);
  if (!hn::AllTrue(D(), hn::Gt(good, hn::Zero(D())))) good = lanes_without_bad_scores(weights, n);
  NodeVectors inverse;
  conclude(LaneElimination<kMarginals>(weights, rows, n, single).run(scales, inverse), scales, good,
           sentences, count);
  if constexpr (kMarginals) {
    bool any = false;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const bool wanted = lane < count && sentences[lane].answered;
      out[lane] = wanted ? sentences[lane].marginals : EdgeMatrix{};
      any |= wanted;
    }
    if (!any) return;
    const Cells gradient{cells + 2 * size, ld};
    LaneReversePass(rows, inverse, n, single, gradient).run();
    write_marginals(weights, gradient, n, lengths, out);
  }
}

void answer_group(LaneSentence* sentences, size_t count, bool single, bool marginals,
                  Buffer<double>& memory) {
  for (size_t begin = 0; begin < count; begin += kLanes) {
    const size_t lanes = std::min(kLanes, count - begin);
    if (marginals) {
      answer_lanes<true>(sentences + begin, lanes, single, memory);
    } else {
      answer_lanes<false>(sentences + begin, lanes, single, memory);
    }
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(answer_group);

void answer_in_lanes(std::span<LaneSentence> group, RootRule root, bool marginals,
                     Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(answer_group)
  (group.data(), group.size(), root == RootRule::kSingle, marginals,
   scratch.get<LanesScratch>().cells);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
