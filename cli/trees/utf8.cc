// SPDX-License-Identifier: Apache-2.0
#include "trees/utf8.h"

namespace taproot::cli {
namespace {

bool is_scalar(char32_t code) { return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF); }

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at, bool& valid) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(at);
  const std::size_t start = at++;
  valid = true;
  if (first < 0x80) return first;
  const unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t code = first & (0x3FU >> more);
  valid = first >= 0xC2 && first <= 0xF4;
  for (unsigned i = 1; i <= more && valid; ++i) {
    const unsigned next = byte(start + i);
    valid = (next & 0xC0U) == 0x80;
    code = code << 6U | (next & 0x3FU);
  }
  // Longer than it need be: another way to write the same text.
  valid = valid && is_scalar(code) && code >= (more == 3 ? 0x10000U : more == 2 ? 0x800U : 0x80U);
  if (!valid) return kReplacement;
  at = start + 1 + more;
  return code;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  bool valid = true;
  for (std::size_t at = 0; at < text.size(); ++count) next_code_point(text, at, valid);
  return count;
}

bool append_utf8(std::string& text, char32_t code) {
  if (!is_scalar(code)) return false;
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6U);
    put(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12U);
    put(0x80 | (code >> 6U & 0x3FU));
    put(0x80 | (code & 0x3FU));
  } else {
    put(0xF0 | code >> 18U);
    put(0x80 | (code >> 12U & 0x3FU));
    put(0x80 | (code >> 6U & 0x3FU));
    put(0x80 | (code & 0x3FU));
  }
  return true;
}

}  // namespace taproot::cli
