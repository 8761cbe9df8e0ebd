// SPDX-License-Identifier: Apache-2.0
#include "io/text_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/utf8.h"

namespace taproot::cli {

static_assert(std::endian::native == std::endian::little);

void TextColumn::put(std::string_view text) {
  std::size_t codes = 0;
  for (std::size_t at = 0; at < text.size(); ++codes) detail::next_code(text, at);
  width_ = std::max(width_, codes);
  texts_.put(static_cast<std::uint32_t>(text.size()));
  texts_.write(text.data(), text.size());
  ++count_;
}

NpyArray TextColumn::array(std::string name) {
  const std::uint64_t bytes = count_ * width_ * sizeof(char32_t);
  NpyArray array{std::move(name), fmt::format("<U{}", width_), {count_}, bytes, {}, {}};
  array.rewind = [this] { rewind(); };
  array.next = [this](std::vector<char>& piece) {
    piece.resize(width_ * sizeof(char32_t));
    next(piece.data());
  };
  return array;
}

void TextColumn::next(char* to) {
  std::uint32_t size = 0;
  texts_.read(&size, sizeof(size));
  text_.resize(size);
  texts_.read(text_.data(), size);
  char* const end = to + width_ * sizeof(char32_t);
  for (std::size_t at = 0; at < text_.size(); to += sizeof(char32_t)) {
    const char32_t code = detail::next_code(text_, at);
    std::memcpy(to, &code, sizeof(code));
  }
  std::fill(to, end, '\0');
}

}  // namespace taproot::cli
