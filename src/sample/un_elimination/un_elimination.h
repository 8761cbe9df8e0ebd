// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "sample/un_elimination/elimination_tables.h"

namespace taproot::detail {

/// The tables of one sentence for drawing by elimination, in double or, where its factors are,
/// wide.
class EliminationSampler {
 public:
  void build(const FactorData& data);

  /// Draws a tree into heads[0..n), single-root given the root if that is not 0. O(n^2) at most.
  void sample(int given_root, Stream& stream, Scratch& memory, std::int32_t* heads) const;

 private:
  template <typename T>
  struct Memory {
    Buffer<T> share;
    Buffer<T> direct;
    Buffer<T> block_end;
    Buffer<T> root;  // Three rows: into, share, direct.
    EliminationTables<T> tables;

    void build(const FactorData& data, const Factors<T>& f);
    RootColumn<T> root_column() const;
  };

  template <typename T>
  void draw_over(const Memory<T>& tables, int given_root, Stream& stream,
                 Buffer<std::int32_t>& integers, Buffer<T>& scalars, std::int32_t* heads) const;

  const FactorData* data_ = nullptr;
  Memory<double> double_;
  Memory<Wide> wide_;
};

}  // namespace taproot::detail
