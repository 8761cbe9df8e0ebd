// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/edmonds.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// What decoders work with; kept in a workspace.
struct DecodeScratch {
  Edmonds edmonds;
  Buffer<double> columns;
  Buffer<std::int32_t> heads;  ///< [n+1], by word.

  static DecodeScratch& of(Scratch& scratch) {
    if (scratch.decode == nullptr) scratch.decode = std::make_shared<DecodeScratch>();
    return *scratch.decode;
  }
};

}  // namespace taproot::detail
