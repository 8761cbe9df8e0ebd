// SPDX-License-Identifier: Apache-2.0
//
// From the scores of several sentences to their weights, in cells (h, m) in sentence order: checks,
// scales and exponentials. Every lane gets the bits that load_scores() and fill_weights() give a
// sentence. Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_LOAD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_LOAD_LANES_INL_H_
#undef TAPROOT_LANES_LOAD_LANES_INL_H_
#else
#define TAPROOT_LANES_LOAD_LANES_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hwy/cache_control.h"
#include "lanes/cells-inl.h"
#include "scores/rows-inl.h"
#include "scores/weights-inl.h"
#include "taproot/scores.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// The scores of one sentence. A lane without a sentence has no words.
struct LaneSource {
  const double* scores = nullptr;
  std::ptrdiff_t stride = 0;  // From head to head.
  size_t words = 0;
};

// The scores of a sentence in place or, if they are float32 or have other strides, a copy of them.
HWY_INLINE LaneSource source_of(const ScoreView& view, double* copy) {
  const auto words = static_cast<size_t>(view.n());
  if (view.double_data() != nullptr && view.modifier_stride() == 1) {
    return {view.double_data(), view.head_stride(), words};
  }
  for (size_t h = 0; h <= words; ++h) copy_row(view, h, copy + h * (words + 1));
  return {copy, view.n() + 1, words};
}

// Words beyond a sentence's end have no edges, like a diagonal: their scores are -inf.
class LaneScores {
 public:
  // Into `cells`, for up to n words.
  LaneScores(const Cells& cells, const LaneSource* sources, size_t n) : cells_(cells), n_(n) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      source_[lane] = sources[lane];
      words_[lane] = static_cast<double>(sources[lane].words);
    }
  }

  // Whether all sentences have n words.
  bool is_even() const {
    return std::all_of(source_, source_ + kLanes,
                       [&](const LaneSource& s) { return s.words == n_; });
  }
  size_t words(size_t lane) const { return source_[lane].words; }
  V words() const { return hn::Load(D(), words_); }

  // Returns 1 for the sentences whose scores are all finite and within the limits, else 0.
  HWY_NOINLINE V load() {
    for (size_t m = 0; m <= n_; ++m) top_.set(m, hn::Set(D(), -HUGE_VAL));
    auto usual = hn::FirstN(D(), kLanes);
    const bool even = is_even();
    for (size_t h = 0; h <= n_; ++h) {
      if (even) {
        load_row<true>(h, usual);
      } else {
        load_row<false>(h, usual);
      }
    }
    return hn::IfThenElseZero(usual, hn::Set(D(), 1.0));
  }

  // Leaves a lane without a sentence.
  void remove(size_t lane) {
    source_[lane] = {};
    words_[lane] = 0;
    for (size_t m = 0; m <= n_; ++m) {
      top_.at(m)[lane] = -HUGE_VAL;
      for (size_t h = 0; h <= n_; ++h) cells_.at(h, m)[lane] = -HUGE_VAL;
    }
  }

  // As in load_scores().
  HWY_NOINLINE void choose_scales(bool single) {
    const D d;
    V root_scale = hn::Set(d, -HUGE_VAL);
    V furthest = hn::Zero(d);
    V total = hn::Zero(d);
    for (size_t m = 1; m <= n_; ++m) {
      const V root = cells_.get(0, m);
      const V chosen = column_scales(top_.get(m), root, single);
      scale_.set(m, chosen);
      root_scale = hn::Max(root_scale, root_scales(root, chosen));
      furthest = hn::Max(furthest, hn::Abs(chosen));
      total = hn::Add(total, chosen);
    }
    const auto has_root = hn::Gt(root_scale, hn::Set(d, -HUGE_VAL));
    root_scale = single ? hn::IfThenElseZero(has_root, root_scale) : hn::Zero(d);
    hn::Store(root_scale, d, root_scale_);
    hn::Store(hn::Add(total, root_scale), d, total_scale);
    hn::Store(hn::Add(furthest, hn::Abs(root_scale)), d, furthest_scale);
  }

  // Writes the weights. `sums` receives their sums over word heads, for m >= 1. Returns the largest
  // exponents of weights that were stored as 0, as fill_weights() does. No scale may be beyond the
  // argument reduction of the exponential.
  HWY_NOINLINE V exponentiate(const PartCells& weights, NodeVectors& sums) const {
    const D d;
    V flushed = hn::Set(d, -HUGE_VAL);
    for (size_t m = 1; m <= n_; ++m) {
      const V scale = hn::Add(scale_.get(m), hn::Load(d, root_scale_));
      const ScaledWeights<D> w = scaled_weights(d, cells_.get(0, m), scale);
      weights.set(0, m, w.weight);
      note_flushed(d, w, flushed);
      sums.set(m, hn::Zero(d));
    }
    const size_t n = n_;  // In registers, whatever is written.
    const PartCells to = weights;
    for (size_t h = 1; h <= n; ++h) {
      const double* row = cells_.at(h, 0);
      to.set(h, 0, hn::Zero(d));
      for (size_t m = 1; m <= n; ++m) {
        const ScaledWeights<D> w = scaled_weights(d, hn::Load(d, row + m * kLanes), scale_.get(m));
        to.set(h, m, w.weight);
        note_flushed(d, w, flushed);
        sums.set(m, hn::Add(sums.get(m), w.weight));
      }
    }
    return hn::Add(flushed, hn::Set(d, kFlushedMargin));
  }

  // From choose_scales(); see ScoreTable.
  HWY_ALIGN double total_scale[kLanes];
  HWY_ALIGN double furthest_scale[kLanes];

 private:
  // Has a row fetched, which is seldom in a cache, if there is one.
  static constexpr size_t kRowsAhead = 3;
  HWY_INLINE void fetch_row(size_t h) const {
    for (const LaneSource& s : source_) {
      if (h > s.words) continue;
      const double* row = s.scores + static_cast<std::ptrdiff_t>(h) * s.stride;
      for (size_t m = 0; m <= s.words; m += kBlock) hwy::Prefetch(row + m);
    }
  }

  // kLanes scores of a row, of nodes from m on. The row has `count` nodes, and it does not read
  // beyond them, because the caller's array may end there.
  static HWY_INLINE V part(const double* row, size_t m, size_t count) {
    const D d;
    if (m + kLanes <= count) return hn::LoadU(d, row + m);
    const V minus_inf = hn::Set(d, -HUGE_VAL);
    if (m >= count) return minus_inf;
    return hn::IfThenElse(hn::FirstN(d, count - m), load_partial(row + m, count - m), minus_inf);
  }

  template <bool kEven>
  HWY_INLINE void load_row(size_t h, hn::Mask<D>& usual) {
    const D d;
    const size_t n = n_;
    const double* rows[kLanes];
    size_t counts[kLanes];  // How many nodes a row has.
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const LaneSource& s = source_[lane];
      const bool has_row = kEven || (s.words > 0 && h <= s.words);
      rows[lane] = has_row ? s.scores + static_cast<std::ptrdiff_t>(h) * s.stride : nullptr;
      counts[lane] = has_row ? s.words + 1 : 0;
    }
    fetch_row(h + kRowsAhead);
    double* to = cells_.at(h, 0);
    for (size_t m = 0; m <= n; m += kLanes) {
      V square[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        square[lane] = part(rows[lane], m, kEven ? n + 1 : counts[lane]);
      }
      transpose_lanes(square);
      for (size_t i = 0; i < kLanes; ++i) {
        if (m + i > n) break;
        hn::Store(square[i], d, to + (m + i) * kLanes);
        if (m + i == 0 || m + i == h) continue;
        auto fine = hn::Le(hn::Abs(square[i]), hn::Set(d, kMaxScore));
        if (!kEven) {  // Where there is no edge, all is well.
          const V last = hn::Set(d, static_cast<double>(std::max(h, m + i)));
          fine = hn::Or(fine, hn::Lt(words(), last));
        }
        usual = hn::And(usual, fine);
        if (h > 0) top_.set(m + i, hn::Max(top_.get(m + i), square[i]));
      }
    }
    hn::Store(hn::Set(d, -HUGE_VAL), d, to + h * kLanes);
  }

  const Cells cells_;
  LaneSource source_[kLanes];
  HWY_ALIGN double words_[kLanes];
  size_t n_;
  NodeVectors top_;  // The largest scores over word heads.
  NodeVectors scale_;
  HWY_ALIGN double root_scale_[kLanes];
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_LOAD_LANES_INL_H_
