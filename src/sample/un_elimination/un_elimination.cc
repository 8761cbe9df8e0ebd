// SPDX-License-Identifier: Apache-2.0
#include "sample/un_elimination/un_elimination.h"

#include <algorithm>
#include <cmath>

#include "query/query.h"
#include "sample/sample_scratch.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/un_elimination/un_elimination.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "sample/conditionals/choose-inl.h"
#include "sample/un_elimination/un_eliminate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Chooses the index at which the running sum passes u * total, by scanning a block at a time.
class ScanChooser {
 public:
  explicit ScanChooser(Stream& stream) : stream_(stream) {}

  // Finds the block by comparing the sums up to each block's end, then the head within the block.
  // For sentences of up to 64 words this takes no loop.
  HWY_INLINE int pick_head(const EliminationTables<double>& t, int k, int begin) {
    const D d;
    const double target = stream_.uniform() * t.pivot(k);
    const double* HWY_RESTRICT ends = t.block_end + static_cast<size_t>(k) * t.block_ld;
    const size_t blocks = (static_cast<size_t>(k) + kBlock - 1) / kBlock;
    size_t b = 0;
    for (size_t j = 0; j < blocks; j += kLanes) {
      const size_t below = hn::CountTrue(d, hn::Le(hn::LoadU(d, ends + j), hn::Set(d, target)));
      b += below;
      if (below < kLanes) break;
    }
    if (b >= blocks) return last_positive(t.into(k), begin, k);
    const size_t j = b * kBlock;
    Block block = load(t.into(k) + j);
    if (j == 0 && begin == 1) block = without_first(block);
    if (b + 1 == blocks) block = first(static_cast<size_t>(k) - j, block);
    return static_cast<int>(j) + place(block, {target, b == 0 ? 0.0 : ends[b - 1]});
  }

  HWY_INLINE int pick(const double* weights, int begin, int end, double total) {
    const auto last = static_cast<size_t>(end);
    Scan scan{stream_.uniform() * total, 0};
    for (size_t j = 0; j < last; j += kBlock) {
      Block block = load(weights + j);
      if (j == 0 && begin == 1) block = without_first(block);
      if (j + kBlock > last) block = first(last - j, block);
      if (scan.passes(block)) return static_cast<int>(j) + place(block, scan);
    }
    return last_positive(weights, begin, end);
  }

  HWY_INLINE int pick_term(double direct, const double* a, const double* b, int begin, int end,
                           double total) {
    Scan scan{stream_.uniform() * total, direct};
    if (scan.target < direct) return -1;
    const auto first_term = static_cast<size_t>(begin);
    // Columns beyond the last word are zero, so there is no tail.
    for (size_t j = first_term / kBlock * kBlock; j < static_cast<size_t>(end); j += kBlock) {
      Block block = multiply(load(a + j), load(b + j));
      if (j < first_term) block = without_firsts(first_term - j, block);
      if (scan.passes(block)) return static_cast<int>(j) + place(block, scan);
    }
    return last_term(a, b, begin, end);
  }

 private:
  // For the case that the sum rounded to less than the target: the last index of positive weight,
  // or -1 if there is none.
  static HWY_NOINLINE int last_term(const double* a, const double* b, int begin, int end) {
    int last = end - 1;
    while (last >= begin && !(a[last] * b[last] > 0)) --last;
    return last < begin ? -1 : last;
  }

  Stream& stream_;
};

// eliminate_root_row() for one edge, to the word at `top`, of weight direct[top]; into[] and
// share[] are 0 before. Only words from `top` down are reached. The rows of a block are summed over
// all later words at once, because a word must wait for the shares of its own block only.
void root_row(const EliminationTables<double>& t, int top, const double* direct,
              double* HWY_RESTRICT into, double* HWY_RESTRICT share) {
  into[top] = direct[top];
  const auto last = static_cast<size_t>(top);
  for (size_t first = last / kBlock * kBlock;; first -= kBlock) {
    const size_t end = std::min(first + kBlock, last + 1);
    const size_t begin = std::max(first, size_t{1});
    for (size_t m = begin; m < end && end <= last; ++m) {
      Block sums = broadcast(0);
      const double* HWY_RESTRICT row = t.into(static_cast<int>(m));
      for (size_t j = end; j <= last; j += kBlock) {
        sums = multiply_add(load(row + j), load(share + j), sums);
      }
      into[m] = sum(sums);
    }
    for (size_t m = end; m-- > begin;) {
      const double* HWY_RESTRICT row = t.into(static_cast<int>(m));
      double value = into[m];
      for (size_t k = end; --k > m;) value = multiply_add(row[k], share[k], value);
      into[m] = value;
      share[m] = m > 1 ? value / t.pivot(static_cast<int>(m)) : 0;
    }
    if (first == 0) break;
  }
}

void sample_double(const EliminationTables<double>& tables, const RootColumn<double>& root,
                   Stream& stream, UnEliminationScratch<double>& scratch) {
  ScanChooser chooser(stream);
  UnElimination<double, ScanChooser>(tables, root, chooser, scratch).run();
}

void sample_wide(const EliminationTables<Wide>& tables, const RootColumn<Wide>& root,
                 Stream& stream, UnEliminationScratch<Wide>& scratch) {
  PlainChooser<Wide, Stream> chooser(stream);
  UnElimination<Wide, PlainChooser<Wide, Stream>>(tables, root, chooser, scratch).run();
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(sample_double);
HWY_EXPORT(sample_wide);
HWY_EXPORT(root_row);

namespace {

// direct(m, h) = A0[h][m], by position. `row` is memory for the weights of one head.
void fill_direct(const FactorData& data, MatrixView<double> direct, double* row) {
  for (int h = 0; h <= data.table.n; ++h) {
    const double* weights = weights_of(data, data.order[h], row);
    for (int m = 1; m <= data.table.n; ++m) direct(m, h) = weights[data.order[m]];
  }
}

void fill_direct(const FactorData& data, MatrixView<Wide> direct, Wide*) {
  for (int h = 0; h <= data.table.n; ++h) {
    for (int m = 1; m <= data.table.n; ++m) {
      direct(m, h) = wide_weight(data.table, data.order[h], data.order[m]);
    }
  }
}

// Fills EliminationTables::block_end.
void fill_block_ends(const Factors<double>& f, double* ends, std::size_t block_ld) {
  for (int k = 1; k <= f.n; ++k) {
    double* row = MatrixView(ends, block_ld).row(k);
    std::fill(row, row + block_ld, HUGE_VAL);
    double sum = 0;
    for (int h = f.root == RootRule::kSingle ? 1 : 0; h < k; ++h) {
      sum += f.into(k)[h];
      row[h / 8] = sum;
    }
  }
}
void fill_block_ends(const Factors<Wide>&, Wide*, std::size_t) {}  // PlainChooser does not use it.

// The ROOT row where the word at `top` is the root, from direct[top].
void fill_root_row(const EliminationTables<double>& t, int top, const double* direct, double* into,
                   double* share) {
  HWY_DYNAMIC_DISPATCH(root_row)(t, top, direct, into, share);
}
void fill_root_row(const EliminationTables<Wide>& t, int, const Wide* direct, Wide* into,
                   Wide* share) {
  eliminate_root_row(t, direct, into, share);
}

void un_eliminate(const EliminationTables<double>& tables, const RootColumn<double>& root,
                  Stream& stream, UnEliminationScratch<double>& scratch) {
  HWY_DYNAMIC_DISPATCH(sample_double)(tables, root, stream, scratch);
}

void un_eliminate(const EliminationTables<Wide>& tables, const RootColumn<Wide>& root,
                  Stream& stream, UnEliminationScratch<Wide>& scratch) {
  HWY_DYNAMIC_DISPATCH(sample_wide)(tables, root, stream, scratch);
}

}  // namespace

template <typename T>
void EliminationSampler::Memory<T>::build(const FactorData& data, const Factors<T>& f) {
  const std::size_t ld = f.ld;
  const std::size_t size = data.table.size();
  T* share_data = share.resize(size);
  std::fill(share_data, share_data + size, T(0));
  const MatrixView shares(share_data, ld);
  for (int l = 2; l <= f.n; ++l) {
    const T inverse = T(1) / f.pivot(l);
    for (int h = 0; h < l; ++h) shares(h, l) = f.into(l)[h] * inverse;
  }
  T* columns = root.resize(3 * ld);
  fill_direct(data, {direct.resize(size), ld}, columns);
  const std::size_t block_ld = (ld / 8 + 7) / 8 * 8;
  T* ends = block_end.resize(data.table.nodes() * block_ld);
  fill_block_ends(f, ends, block_ld);
  tables = {f.n, f.root, ld, f.matrix, f.pivot_data, share_data, direct.data(), ends, block_ld};
  T* root_share = columns + ld;
  T* root_direct = root_share + ld;
  std::fill(root_share, root_share + ld, T(0));
  for (int k = 1; k <= f.n; ++k) {
    columns[k] = f.into(k)[0];
    root_share[k] = shares(0, k);
    root_direct[k] = tables.direct(0, k);
  }
}

template <typename T>
RootColumn<T> EliminationSampler::Memory<T>::root_column() const {
  const std::size_t ld = tables.ld;
  return {root.data(), root.data() + ld, root.data() + 2 * ld};
}

void EliminationSampler::build(const FactorData& data) {
  data_ = &data;
  if (data.wide) {
    wide_.build(data, data.wide_factors());
  } else {
    double_.build(data, data.factors());
  }
}

template <typename T>
void EliminationSampler::sample_over(const Memory<T>& memory, int given_root, Stream& stream,
                                     Buffer<std::int32_t>& integers, Buffer<T>& scalars,
                                     std::int32_t* heads) const {
  const std::size_t ld = memory.tables.ld;
  const std::size_t row = ld + 1;
  std::int32_t* indices = integers.resize(5 * row);
  T* own = scalars.resize(4 * ld + 1);
  UnEliminationScratch<T> scratch{indices,
                                  indices + row,
                                  indices + 2 * row,
                                  indices + 3 * row,
                                  reinterpret_cast<std::uint8_t*>(indices + 4 * row),
                                  own + 3 * ld};
  RootColumn<T> root = memory.root_column();
  if (given_root != 0) {
    T* into = own;
    T* share = own + ld;
    T* direct = own + 2 * ld;
    std::fill(into, into + 3 * ld, T(0));
    // Any positive weight gives the same trees. With the root's own weight, the range of the
    // factors is the one that elimination has checked.
    const int at = data_->position[given_root];
    direct[at] = T(0) < root.direct[at] ? root.direct[at] : T(1);
    fill_root_row(memory.tables, at, direct, into, share);
    root = {into, share, direct};
  }
  un_eliminate(memory.tables, root, stream, scratch);
  for (int k = 1; k <= memory.tables.n; ++k) {
    heads[data_->order[k] - 1] = data_->order[scratch.head[k]];
  }
}

void EliminationSampler::sample(int given_root, Stream& stream, Scratch& scratch,
                                std::int32_t* heads) const {
  SampleScratch& own = scratch.get<SampleScratch>();
  if (data_->wide) {
    sample_over(wide_, given_root, stream, own.un_elimination, own.wide_root_column, heads);
  } else {
    sample_over(double_, given_root, stream, own.un_elimination, own.root_column, heads);
  }
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
