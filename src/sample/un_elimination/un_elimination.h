// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "sample/un_elimination/elimination_tables.h"

namespace taproot::detail {

/// The tables of one sentence for sampling by un-elimination. They are over Wide if the factors of
/// the sentence are, and in double otherwise.
class EliminationSampler {
 public:
  void build(const FactorData& data);

  /// Samples a tree into heads[0..n). If given_root is not 0, samples from the trees with this
  /// root, single-root. At most O(n^2).
  void sample(int given_root, Stream& stream, Scratch& scratch, std::int32_t* heads) const;

 private:
  template <typename T>
  struct Memory {
    Buffer<T> share;
    Buffer<T> direct;
    Buffer<T> block_end;
    Buffer<T> root;  // [3][ld]: the members into, share and direct of a RootColumn.
    EliminationTables<T> tables;

    void build(const FactorData& data, const Factors<T>& f);
    RootColumn<T> root_column() const;
  };

  template <typename T>
  void sample_over(const Memory<T>& tables, int given_root, Stream& stream,
                   Buffer<std::int32_t>& integers, Buffer<T>& scalars, std::int32_t* heads) const;

  const FactorData* data_ = nullptr;
  Memory<double> double_;
  Memory<Wide> wide_;
};

}  // namespace taproot::detail
