// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/check.h"
#include "taproot/cuda.h"

namespace taproot::cuda {

/// Throws unless the heads of sentences of up to max_n words fit the caller's memory.
inline void require_head_size(const CudaHeadBuffer& out, int max_n, const char* function) {
  const int bytes = out.head_bytes;
  detail::require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8, function,
                  "heads must have 1, 2, 4 or 8 bytes");
  detail::require(bytes >= 4 || max_n <= (bytes == 1 ? INT8_MAX : INT16_MAX), function,
                  "heads of 1 byte are for sentences of up to 127 words, of 2 bytes up to 32767");
}

}  // namespace taproot::cuda
