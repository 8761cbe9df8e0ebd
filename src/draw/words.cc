// SPDX-License-Identifier: Apache-2.0
#include "draw/words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "draw/width_table.h"
#include "taproot/draw.h"

namespace taproot::detail {
namespace {

constexpr char32_t kJoiner = 0x200D;
constexpr char32_t kEmojiForm = 0xFE0F;

template <std::size_t size>
bool is_in(const CodeRange (&table)[size], char32_t code) {
  const auto* const after =
      std::upper_bound(std::begin(table), std::end(table), code,
                       [](char32_t value, const CodeRange& range) { return value < range.first; });
  return after != std::begin(table) && code <= std::prev(after)->last;
}

bool is_skin_tone(char32_t code) { return code >= 0x1F3FB && code <= 0x1F3FF; }

bool is_zero_width(char32_t code) {
  return (code >= 0x200B && code <= 0x200F) || (code >= 0x2060 && code <= 0x2064) ||
         code == 0xFEFF || (code >= 0xE0000 && code <= 0xE0FFF) || is_in(kZeroWidth, code);
}

// Whether a code point must not reach a page or a terminal, because it is invisible or changes how
// the rest is displayed. Joiners and variation selectors may, because scripts and emoji need them.
bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C ||
         (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code & 0xFFFEU) == 0xFFFE ||
         (code >= 0xFDD0 && code <= 0xFDEF) ||
         (code >= 0xE0000 && code <= 0xE0FFF && !(code >= 0xE0100 && code <= 0xE01EF));
}

// The number of cells of a code point, given the code point before it (0 if there is none).
std::size_t cells_of(char32_t code, char32_t before) {
  if (is_zero_width(code)) return code == kEmojiForm && before >= 0x80 && !is_in(kWide, before);
  // Terminals draw an emoji after a joiner, or a skin tone, as one with the emoji before it.
  if (before == kJoiner && code > 0x2000) return 0;
  if (is_skin_tone(code) && before > 0x2000) return 0;
  return is_in(kWide, code) ? 2 : 1;
}

// The advance widths of ASCII in hundredths of an em, in a rather wide font (DejaVu Sans).
constexpr std::array<unsigned char, 95> kAdvance = {
    32, 41, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 39, 34, 39, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84};

}  // namespace

std::size_t cell_width(std::string_view shown) {
  std::size_t cells = 0;
  char32_t before = 0;
  for (std::size_t at = 0; at < shown.size();) {
    const char32_t code = next_code(shown, at);
    cells += cells_of(code, before);
    before = code;
  }
  return cells;
}

bool is_right_to_left(std::string_view shown) {
  for (std::size_t at = 0; at < shown.size();) {
    const char32_t code = next_code(shown, at);
    if ((code >= 0x590 && code <= 0x8FF) || (code >= 0xFB1D && code <= 0xFDFF) ||
        (code >= 0xFE70 && code <= 0xFEFE) || (code >= 0x10800 && code <= 0x10FFF) ||
        (code >= 0x1E800 && code <= 0x1EFFF)) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> split_cells(std::string_view shown, std::size_t cells) {
  std::vector<std::string> pieces(1);
  std::size_t used = 0;
  char32_t before = 0;
  for (std::size_t at = 0; at < shown.size();) {
    const char32_t code = next_code(shown, at);
    const std::size_t more = cells_of(code, before);
    if (more > 0 && used > 0 && used + more > cells) {
      pieces.emplace_back();
      used = 0;
    }
    append_code(pieces.back(), code);
    used += more;
    before = code;
  }
  return pieces;
}

double em_width(std::string_view shown) {
  double ems = 0;
  char32_t before = 0;
  for (std::size_t at = 0; at < shown.size();) {
    const char32_t code = next_code(shown, at);
    if (code >= 0x20 && code < 0x7F) {
      ems += kAdvance[code - 0x20] / 100.0;
    } else {
      const std::size_t cells = cells_of(code, before);
      ems += cells == 2 ? (code >= 0x1F000 ? 1.35 : 1.0) : 0.66 * static_cast<double>(cells);
    }
    before = code;
  }
  return ems;
}

std::vector<std::string> shown_words(std::span<const std::string> words, std::size_t n) {
  std::vector<std::string> shown(n);
  for (std::size_t i = 0; i < n; ++i) {
    shown[i] = words.empty() ? std::to_string(i + 1) : shown_text(words[i]);
  }
  return shown;
}

}  // namespace taproot::detail

namespace taproot {

std::string shown_text(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = detail::next_code(text, at);
    if (!detail::is_control(code)) {
      detail::append_code(shown, code);
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      shown += "<U+";
      for (int shift = code > 0xFFFFF ? 20 : code > 0xFFFF ? 16 : 12; shift >= 0; shift -= 4) {
        shown += kDigits[code >> shift & 0xFU];
      }
      shown += '>';
    }
  }
  return shown;
}

}  // namespace taproot
