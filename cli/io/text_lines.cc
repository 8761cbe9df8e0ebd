// SPDX-License-Identifier: Apache-2.0
#include "io/text_lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/utf8.h"
#include "error.h"
#include "io/standard_input.h"

namespace taproot::cli {
namespace {

bool is_utf8(std::string_view text) {
  char32_t code = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!detail::decode_utf8(text, at, code)) return false;
  }
  return true;
}

}  // namespace

TextLines::TextLines(const std::string& path) : path_(shown_name(path)) {
  // A folder can be opened like a file, and then reads as an empty one.
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    fail("{} is a folder, not a file", path_);
  }
  in_.open(openable(path), std::ios::binary);
  if (!in_) fail("{} cannot be opened: {}", path_, std::strerror(errno));
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
  bool plain = true;  // Most lines hold nothing but ASCII, which a short loop shows.
  for (const char c : line) plain &= static_cast<unsigned char>(c - 1) < 0x7F;
  if (plain) return true;
  if (line.find('\0') != std::string::npos) {
    fail("{}: the line holds a zero byte, so this is not text", where());
  }
  if (!is_utf8(line)) {
    fail("{}: the line is not UTF-8; convert the file first", where());
  }
  return true;
}

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\v\f\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace taproot::cli
