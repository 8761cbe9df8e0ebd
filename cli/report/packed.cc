// SPDX-License-Identifier: Apache-2.0
#include "report/packed.h"

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "io/base64.h"

namespace taproot::cli {

std::string packed(std::string_view text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<std::uint8_t> bytes(size);
  const auto* const data = reinterpret_cast<const Bytef*>(text.data());
  if (compress2(bytes.data(), &size, data, static_cast<uLong>(text.size()), 7) != Z_OK) {
    throw std::runtime_error("zlib could not deflate a sentence");
  }
  return base64(std::span(bytes).first(size));
}

}  // namespace taproot::cli
