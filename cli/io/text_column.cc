// SPDX-License-Identifier: Apache-2.0
#include "io/text_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

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
  array.rewind = [this] { texts_.rewind(); };
  array.next = [this](std::vector<char>& piece) {
    std::uint32_t size = 0;
    texts_.read(&size, sizeof(size));
    text_.resize(size);
    texts_.read(text_.data(), size);
    codes_.assign(width_, 0);
    for (std::size_t at = 0, i = 0; at < text_.size(); ++i) {
      codes_[i] = detail::next_code(text_, at);
    }
    piece.resize(codes_.size() * sizeof(char32_t));
    std::memcpy(piece.data(), codes_.data(), piece.size());
  };
  return array;
}

}  // namespace taproot::cli
