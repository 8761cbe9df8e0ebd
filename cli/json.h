// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace taproot::cli {

/// A string in quotes, with what JSON does not allow in one escaped.
inline void append_json(std::string_view text, fmt::memory_buffer& out) {
  out.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        fmt::format_to(std::back_inserter(out), "\\\"");
        break;
      case '\\':
        fmt::format_to(std::back_inserter(out), "\\\\");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
}

}  // namespace taproot::cli
