// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/conditionals/contraction.h"
#include "sample/conditionals/row_path.h"

namespace taproot::detail {

/// What deciding the heads of one tree needs, in double or Wide; kept in a workspace.
struct PathScratch {
  RowPath rows;
  Contraction<double> contraction_double;
  Contraction<Wide> contraction_wide;
  Buffer<double> vectors_double;
  Buffer<Wide> vectors_wide;
  Buffer<std::int32_t> heads;  ///< By node.

  template <typename T>
  Contraction<T>& contraction();
  template <typename T>
  Buffer<T>& vectors();

  static PathScratch& of(Scratch& scratch) {
    if (scratch.path == nullptr) scratch.path = std::make_shared<PathScratch>();
    return *scratch.path;
  }
};

template <>
inline Contraction<double>& PathScratch::contraction() {
  return contraction_double;
}
template <>
inline Contraction<Wide>& PathScratch::contraction() {
  return contraction_wide;
}
template <>
inline Buffer<double>& PathScratch::vectors() {
  return vectors_double;
}
template <>
inline Buffer<Wide>& PathScratch::vectors() {
  return vectors_wide;
}

}  // namespace taproot::detail
