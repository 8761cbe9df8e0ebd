// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/conditionals/contraction.h"
#include "sample/conditionals/row_path.h"

namespace taproot::detail {

/// The memory for deciding the heads of one tree, in double or over Wide.
struct PathScratch {
  RowPath rows;
  Contraction<double> contraction_double;
  Contraction<Wide> contraction_wide;
  Buffer<double> law_double;   ///< The probabilities of the next head, and masses beside them.
  Buffer<Wide> law_wide;       ///< The same over Wide.
  Buffer<std::int32_t> heads;  ///< [n+1]: the heads decided so far, by node.

  template <typename T>
  Contraction<T>& contraction();
  template <typename T>
  Buffer<T>& law();
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
inline Buffer<double>& PathScratch::law() {
  return law_double;
}
template <>
inline Buffer<Wide>& PathScratch::law() {
  return law_wide;
}

}  // namespace taproot::detail
