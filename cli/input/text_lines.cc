// SPDX-License-Identifier: Apache-2.0
#include "input/text_lines.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "error.h"

namespace taproot::cli {
namespace {

// By RFC 3629: no surrogates, nothing beyond U+10FFFF, no longer form than needed.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t size = first < 0x80 ? 1 : (first < 0xe0 ? 2 : (first < 0xf0 ? 3 : 4));
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || size > text.size() - i) return false;
    std::uint32_t code = size == 1 ? first : first & (0x7fU >> size);
    for (std::size_t j = 1; j < size; ++j) {
      const auto byte = static_cast<unsigned char>(text[i + j]);
      if ((byte & 0xc0U) != 0x80U) return false;
      code = code << 6 | (byte & 0x3fU);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (surrogate || code > 0x10ffff || (size == 3 && code < 0x800) ||
        (size == 4 && code < 0x10000)) {
      return false;
    }
    i += size;
  }
  return true;
}

}  // namespace

TextLines::TextLines(const std::string& path) : path_(path) {
  // A directory opens like a file, and then reads as an empty one.
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    fail("{} is a directory: name a file", path);
  }
  in_.open(path, std::ios::binary);
  if (!in_) fail("{} cannot be opened: {}", path, std::strerror(errno));
}

bool TextLines::next(std::string& line) {
  if (!std::getline(in_, line)) {
    if (in_.bad()) fail("{} cannot be read after line {}", path_, number_);
    return false;
  }
  ++number_;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  if (line.find('\0') != std::string::npos) {
    fail("{}, line {}: there is a zero byte: this is no text", path_, number_);
  }
  if (!is_utf8(line)) fail("{}, line {}: this is no UTF-8: convert the file first", path_, number_);
  return true;
}

}  // namespace taproot::cli
