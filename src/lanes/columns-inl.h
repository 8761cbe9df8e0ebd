// SPDX-License-Identifier: Apache-2.0
//
// Reading the weights of several sentences into cells by position, and writing marginals out of
// them. Cell (m, h) belongs to the edge h -> m. Each sentence has an order of its own, the one that
// elimination would give it alone. Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_COLUMNS_INL_H_
#undef TAPROOT_LANES_COLUMNS_INL_H_
#else
#define TAPROOT_LANES_COLUMNS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "eliminate/factor_data.h"
#include "eliminate/permute-inl.h"
#include "lanes/cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Eight columns of every sentence's matrix by position, row = modifier.
struct Columns {
  HWY_ALIGN double data[kLanes][kMostNodes][kBlock];
};

// columns.data[lane][m][i] = cell (m, column + i), for m = 1..n and i < kBlock.
HWY_INLINE void columns_to_cells(const Columns& columns, size_t column, size_t n,
                                 const Cells& cells) {
  const D d;
  for (size_t m = 1; m <= n; ++m) {
    for (size_t i = 0; i < kBlock; i += kLanes) {
      V square[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        square[lane] = hn::Load(d, columns.data[lane][m] + i);
      }
      transpose_lanes(square);
      for (size_t s = 0; s < kLanes; ++s) cells.set(m, column + i + s, square[s]);
    }
  }
}
HWY_INLINE void cells_to_columns(const Cells& cells, size_t column, size_t n, Columns& columns) {
  const D d;
  for (size_t m = 1; m <= n; ++m) {
    for (size_t i = 0; i < kBlock; i += kLanes) {
      V square[kLanes];
      for (size_t s = 0; s < kLanes; ++s) square[s] = cells.get(m, column + i + s);
      transpose_lanes(square);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        hn::Store(square[lane], d, columns.data[lane][m] + i);
      }
    }
  }
}

// The weights of a prepared sentence, or of none if `sentence` is null, in columns [column, column
// + kBlock). A sentence shorter than n is filled up with words that change nothing: the first word
// (for the first word, ROOT) is their only head, with weight 1, and they are nobody's.
HWY_INLINE void read_columns(const FactorData* sentence, size_t column, size_t n,
                             double (*to)[kBlock]) {
  const size_t words = sentence == nullptr ? 0 : static_cast<size_t>(sentence->table.n);
  if (words > 0) {
    const double* source[kBlock];
    for (size_t i = 0; i < kBlock; ++i) {
      const size_t h = column + i;
      const size_t row = h <= words ? static_cast<size_t>(sentence->order[h]) : words + 1;
      source[i] = sentence->weights.data() + row * sentence->table.ld;
    }
    heads_to_position(source, words, sentence->position.data(), 0, to[0], kBlock);
  }
  for (size_t m = words + 1; m <= n; ++m) {
    std::fill_n(to[m], kBlock, 0.0);
    if (column == 0) to[m][m == 1 ? 0 : 1] = 1.0;
  }
}

HWY_NOINLINE void read_weights(const FactorData* const* sentences, size_t n, const Cells& cells,
                               Columns& columns) {
  for (size_t column = 0; column <= n; column += kBlock) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      read_columns(sentences[lane], column, n, columns.data[lane]);
    }
    columns_to_cells(columns, column, n, cells);
  }
}

// The marginals of the heads at positions [column, column + kBlock) into `to`, [n+1][n+1] in
// sentence order.
HWY_INLINE void multiply_columns(const FactorData& sentence, const double* columns, size_t column,
                                 double* transposed, double* to) {
  const size_t nodes = sentence.table.nodes();
  if (column >= nodes) return;
  const size_t count = std::min(kBlock, nodes - column);
  const double* weights[kBlock];
  double* rows[kBlock];
  for (size_t i = 0; i < count; ++i) {
    const auto head = static_cast<size_t>(sentence.order[column + i]);
    weights[i] = sentence.weights.data() + head * sentence.table.ld;
    rows[i] = to + head * nodes;
  }
  multiply_heads(columns, kBlock, nodes - 1, sentence.position.data(), 0, weights, transposed,
                 sentence.table.ld, rows, count);
}

// The marginals of the sentences whose out is not null, from the gradient of log Z. They are
// collected in `found` before they are written to the caller's memory, because that is seldom in a
// cache and best written in its order. `transposed` is scratch memory.
HWY_NOINLINE void write_marginals(const FactorData* const* sentences, const EdgeMatrix* out,
                                  size_t n, const Cells& gradient, Columns& columns,
                                  double* transposed, double* found) {
  const size_t size = (n + 1) * (n + 1);
  for (size_t lane = 0; lane < kLanes; ++lane) std::fill_n(columns.data[lane][0], kBlock, 0.0);
  for (size_t column = 0; column <= n; column += kBlock) {
    cells_to_columns(gradient, column, n, columns);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      if (out[lane].data == nullptr) continue;
      multiply_columns(*sentences[lane], columns.data[lane][0], column, transposed,
                       found + lane * size);
    }
  }
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (out[lane].data == nullptr) continue;
    const size_t nodes = sentences[lane]->table.nodes();
    const double* from = found + lane * size;
    for (size_t h = 0; h < nodes; ++h) {
      std::copy_n(from + h * nodes, nodes,
                  out[lane].data + static_cast<std::ptrdiff_t>(h) * out[lane].head_stride);
    }
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_COLUMNS_INL_H_
