// SPDX-License-Identifier: Apache-2.0
//
// UTF-8 as RFC 3629 defines it. This is the one header of src/ that the command line includes too:
// both must agree on which bytes are text.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace taproot::detail {

/// U+FFFD, which stands for a byte that is not part of a character.
inline constexpr char32_t kReplacement = 0xFFFD;

/// Whether a character can have this number: it is not a surrogate and at most U+10FFFF.
constexpr bool is_code_point(char32_t code) {
  return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
}

/// Decodes the code point that begins at text[at] and moves `at` behind it. For a byte that does
/// not belong to one it returns false, sets `code` to kReplacement and moves `at` by one. Forms
/// that are longer than necessary are refused: they are another way to write the same text.
inline bool decode_utf8(std::string_view text, std::size_t& at, char32_t& code) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(at);
  const std::size_t start = at++;
  code = first;
  if (first < 0x80) return true;
  code = kReplacement;
  if (first < 0xC2 || first > 0xF4) return false;
  const unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t value = first & (0x3FU >> more);
  for (unsigned i = 1; i <= more; ++i) {
    if ((byte(start + i) & 0xC0U) != 0x80) return false;
    value = value << 6U | (byte(start + i) & 0x3FU);
  }
  const char32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
  if (value < least || !is_code_point(value)) return false;
  at = start + 1 + more;
  code = value;
  return true;
}

/// The same where it does not matter whether a replacement was in the text.
inline char32_t next_code(std::string_view text, std::size_t& at) {
  char32_t code = 0;
  decode_utf8(text, at, code);
  return code;
}

/// Appends a code point, for which is_code_point() must hold.
inline void append_code(std::string& text, char32_t code) {
  const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::array<unsigned, 4> kMark = {0, 0xC0, 0xE0, 0xF0};
  text.push_back(static_cast<char>(kMark[more] | code >> (6 * more)));
  for (unsigned i = more; i-- > 0;) {
    text.push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3F)));
  }
}

}  // namespace taproot::detail
