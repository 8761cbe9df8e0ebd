// SPDX-License-Identifier: Apache-2.0
#include "lanes/chart_lanes.h"

#include <algorithm>
#include <cmath>

#include "core/ln2.h"
#include "core/probability.h"
#include "lanes/lanes_scratch.h"
#include "projective/fill_chart.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/chart_lanes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "lanes/inside_lanes-inl.h"
#include "lanes/outside_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// kLanes scaled weights of one sentence, edges from h to the nodes from m on, and 0 beyond its end.
HWY_INLINE V scaled_weights(const LaneChart& chart, size_t h, size_t m) {
  const D d;
  if (h > chart.n() || chart.data == nullptr || m >= chart.data->table.ld) return hn::Zero(d);
  const double* row = chart.data->weights.data() + h * chart.data->table.ld;
  const V w = hn::Mul(hn::LoadU(d, row + m), hn::LoadU(d, chart.factors + m));
  return h > 0 ? w : hn::Mul(w, hn::Set(d, chart.factors[0]));
}

// Cell (h, m) becomes the scaled weight of h -> m in every sentence.
HWY_NOINLINE void read_charts(const LaneChart* charts, size_t n, const Cells& cells) {
  for (size_t h = 0; h <= n; ++h) {
    for (size_t m = 0; m <= n; m += kLanes) {
      V square[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        square[lane] = scaled_weights(charts[lane], h, m);
      }
      transpose_lanes(square);
      for (size_t s = 0; s < kLanes; ++s) cells.set(h, m + s, square[s]);
    }
  }
}

// Z of every sentence. `last_right` receives kRight from every node to the sentence's last one.
HWY_NOINLINE V totals(const LaneChart* charts, const ChartCells& c, NodeVectors& last_right) {
  for (size_t m = c.first; m <= c.n; ++m) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const size_t n = charts[lane].n();
      last_right.at(m)[lane] = m <= n ? c.complete.at(m, n)[lane] : 0.0;
    }
  }
  if (c.first == 0) return last_right.get(0);
  V z = hn::Zero(D());
  for (size_t m = 1; m <= c.n; ++m) {
    const V left = hn::Mul(c.weights.get(0, m), c.complete.get(m, 1));
    z = hn::Add(z, hn::Mul(left, last_right.get(m)));
  }
  return z;
}

// Fills the seeds from 1 / Z, as in projective/outside.cc and, under the single-root rule, replaces
// the weights of ROOT's edges by their marginals.
HWY_NOINLINE void fill_seeds(const LaneChart* charts, const ChartCells& c, V z,
                             const NodeVectors& last_right, LaneSeeds& seeds) {
  const D d;
  const V zero = hn::Zero(d);
  HWY_ALIGN double last[kLanes];
  seeds.shortest = c.n;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    last[lane] = static_cast<double>(charts[lane].n());
    if (charts[lane].n() > 0) seeds.shortest = std::min(seeds.shortest, charts[lane].n());
  }
  seeds.last = hn::Load(d, last);
  const V seed = hn::Div(hn::Set(d, 1.0), z);
  for (size_t m = c.first; m <= c.n; ++m) {
    if (c.first == 0) {
      seeds.right.set(m, m == 0 ? seed : zero);
      seeds.left.set(m, zero);
      continue;
    }
    const V root = c.weights.get(0, m);
    const V left = c.complete.get(m, 1);
    const V weight = hn::Mul(seed, root);
    seeds.right.set(m, hn::Mul(weight, left));
    seeds.left.set(m, hn::Mul(weight, last_right.get(m)));
    const V p = hn::Div(hn::Mul(hn::Mul(root, left), last_right.get(m)), z);
    c.weights.set(0, m, at_most_one(p));
  }
}

// Sets what came out of a sentence, as in fill_double() of projective/fill_chart.cc without a
// common factor.
void conclude(const LaneChart& chart, double z, LaneSentence& sentence) {
  if (!(z > 0) || !std::isfinite(z)) return;
  const ScoreTable& table = chart.data->table;
  const double bits = -std::log2(z);
  sentence.answered = bits <= kSafeBits && covers_flushed(chart.flushed, bits, table.n);
  int exponent = 0;
  const double mantissa = std::frexp(z, &exponent);
  sentence.log_partition = log_scaled(mantissa, exponent + chart.taken + table.total_scale);
}

// Up to kLanes sentences. Those that are not ok have answers already.
void answer_lanes(LaneSentence* sentences, const LaneChart* charts, size_t count, bool single,
                  bool marginals, LanesScratch& own) {
  LaneChart in_lane[kLanes] = {};
  size_t n = 0;
  for (size_t lane = 0; lane < count; ++lane) {
    in_lane[lane] = charts[lane];
    n = std::max(n, charts[lane].n());
  }
  if (n == 0) return;
  const size_t ld = Cells::leading_dimension(n);
  const size_t size = Cells::size(n);
  double* memory = own.cells.resize((marginals ? 5 : 2) * size);
  const auto cells = [&](size_t i) { return Cells{memory + i * size, ld}; };
  const ChartCells chart{single ? size_t{1} : size_t{0}, n, cells(0), cells(1),
                         cells(marginals ? 2 : 0)};
  read_charts(in_lane, n, chart.weights);
  LaneInside(chart).run();
  NodeVectors last_right;
  const V z = totals(in_lane, chart, last_right);
  HWY_ALIGN double z_of[kLanes];
  hn::Store(z, D(), z_of);
  EdgeMatrix out[kLanes] = {};
  size_t nodes[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) nodes[lane] = in_lane[lane].n() + 1;
  bool any = false;
  for (size_t lane = 0; lane < count; ++lane) {
    if (in_lane[lane].data == nullptr) continue;
    conclude(in_lane[lane], z_of[lane], sentences[lane]);
    if (!marginals || !sentences[lane].answered) continue;
    out[lane] = sentences[lane].marginals;
    any = true;
  }
  if (!any) return;
  LaneSeeds seeds;
  fill_seeds(in_lane, chart, z, last_right, seeds);
  LaneOutside(chart, seeds, cells(3), cells(4)).run();
  write_cells(nodes, out, n, chart.weights);
}

void answer_charts(LaneSentence* sentences, const LaneChart* charts, size_t count, bool single,
                   bool marginals, LanesScratch& own) {
  for (size_t begin = 0; begin < count; begin += kLanes) {
    answer_lanes(sentences + begin, charts + begin, std::min(kLanes, count - begin), single,
                 marginals, own);
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(answer_charts);

void chart_in_lanes(std::span<LaneSentence> group, RootRule root, bool marginals,
                    Scratch& scratch) {
  LanesScratch& own = scratch.get<LanesScratch>();
  const std::size_t most = leading_dimension(kMostLaneWords);
  double* factors = own.factors.resize(kLaneGroup * most);
  double* sums = own.column_sums.resize(most);
  LaneChart charts[kLaneGroup];
  for (std::size_t i = 0; i < group.size(); ++i) {
    FactorData& data = own.sentences[i];
    const ScoreTable& table = data.table;
    group[i].outcome = load_scores(*group[i].scores, root, data.table);
    group[i].answered = !group[i].outcome.ok();
    if (group[i].answered) continue;
    double* weights = data.weights.resize(table.size());
    charts[i].data = &data;
    charts[i].flushed = std::max(fill_weights(table, 0, 1, weights),
                                 fill_weights(table, 1, table.n + 1, weights + table.ld, sums));
    double* own_factors = factors + i * most;
    std::fill(own_factors, own_factors + table.ld, 0.0);  // Those beyond the last word are read.
    charts[i].factors = own_factors;
    charts[i].taken = scale_columns(table, weights, sums, own_factors);
  }
  HWY_DYNAMIC_DISPATCH(answer_charts)
  (group.data(), charts, group.size(), root == RootRule::kSingle, marginals, own);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
