// SPDX-License-Identifier: Apache-2.0
#include "sample/chart/chart_sampler.h"

#include "sample/chart/chart_cell.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {
namespace {

// scan_alternatives() over any scalar.
template <typename T, typename Weight>
int scan(int count, const T& target, Weight&& weight) {
  T running = T(0);
  int last = 0;
  for (int e = 0; e < count; ++e) {
    const T w = weight(e);
    if (!(T(0) < w)) continue;
    last = e;
    running = running + w;
    if (target < running) break;
  }
  return last;
}

// In double a sum that does not change is as good as a weight of zero.
template <typename Weight>
int scan(int count, double target, Weight&& weight) {
  return scan_alternatives(count, target, weight);
}

template <typename T>
void sample_over(const ChartView<const T>& c, Stream& stream, Scratch& scratch,
                 std::int32_t* heads) {
  const ChartShape& shape = c.shape();
  const int first = shape.first;
  // At most one cell waits for each word.
  ChartCell* stack = scratch.get<SampleScratch>().cells.resize(2 * shape.rows() + 2);
  ChartCell* top = stack;
  const auto attach = [&](int modifier, int head) {
    heads[modifier + first - 1] = head < 0 ? 0 : head + first;
  };
  const auto push = [&](const ChartCell& cell) { *top++ = cell; };
  start_walk(shape, attach, push);
  while (top != stack) {
    const ChartCell cell = *--top;
    const T u = stream.uniform();
    int e = 0;
    if (cell.kind == ChartCell::kRoot) {
      e = scan(shape.size, u * c.total(), [&](int m) { return c.root_term(m); });
    } else {
      constexpr ChartTable kTables[] = {kRight, kRight, kLeft, kSplit};
      const T total = c(kTables[cell.kind], cell.d, cell.i);
      e = scan(cell.d, u * total, products_of(c, cell));
    }
    take_choice(shape, cell, e, attach, push);
  }
}

}  // namespace

void sample_from_chart(const Chart& chart, Stream& stream, Scratch& scratch, std::int32_t* heads) {
  chart.with_view([&](const auto& c) { sample_over(c, stream, scratch, heads); });
}

}  // namespace taproot::detail
