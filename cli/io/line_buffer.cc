// SPDX-License-Identifier: Apache-2.0
#include "io/line_buffer.h"

#include "core/utf8.h"

namespace taproot::cli {

void LineBuffer::json(std::string_view piece) {
  byte('"');
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t start = at;
    char32_t code = 0;
    const bool valid = detail::decode_utf8(piece, at, code);
    if (code == '"' || code == '\\') {
      byte('\\');
      byte(static_cast<char>(code));
    } else if (code < 0x20 || !valid) {  // With stray bytes the line would not be JSON.
      text(fmt::format("\\u{:04x}", static_cast<unsigned>(code)));
    } else {
      text(piece.substr(start, at - start));
    }
  }
  byte('"');
}

}  // namespace taproot::cli
