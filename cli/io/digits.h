// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace taproot::cli {

static_assert(std::endian::native == std::endian::little);

/// The text of the numbers below 1000: three bytes of digits, and how many of them count.
inline constexpr auto kDigits = [] {
  std::array<std::uint32_t, 1000> words{};
  for (std::uint32_t value = 0; value < words.size(); ++value) {
    std::uint32_t length = 0;
    for (std::uint32_t rest = value; length == 0 || rest > 0; rest /= 10) {
      words[value] = words[value] << 8 | ('0' + rest % 10);
      ++length;
    }
    words[value] |= length << 24;
  }
  return words;
}();

/// The most bytes that put_number() changes.
inline constexpr std::size_t kLongestNumber = 20;

/// Writes the digits of `value` at `at`, and returns where they end. Bytes after the end may
/// change.
template <std::integral T>
char* put_number(char* at, T value) {
  if (value >= 0 && value < static_cast<T>(1000)) {
    const std::uint32_t word = kDigits[static_cast<std::size_t>(value)];
    std::memcpy(at, &word, sizeof(word));
    return at + (word >> 24);
  }
  const fmt::format_int digits(value);
  std::memcpy(at, digits.data(), digits.size());
  return at + digits.size();
}

}  // namespace taproot::cli
