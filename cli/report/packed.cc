// SPDX-License-Identifier: Apache-2.0
#include "report/packed.h"

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace taproot::cli {

std::string packed(std::string_view text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<std::uint8_t> bytes(size);
  const auto* const data = reinterpret_cast<const Bytef*>(text.data());
  if (compress2(bytes.data(), &size, data, static_cast<uLong>(text.size()), 7) != Z_OK) {
    throw std::runtime_error("zlib could not deflate a sentence");
  }
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((size + 2) / 3 * 4);
  for (std::size_t at = 0; at < size; at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8U | (at + i < size ? bytes[at + i] : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i > size ? '=' : kLetters[three >> (18 - 6 * i) & 63U];
    }
  }
  return out;
}

}  // namespace taproot::cli
