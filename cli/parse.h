// SPDX-License-Identifier: Apache-2.0
//
// Parses numbers and the values of options. Numbers are decimal and must be in range: nothing is
// clamped, and a leading zero does not mean octal. The functions that take the name of an option
// throw InputError, with it and the text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taproot::cli {

/// Whether the whole text is a number that T can hold; `value` then is this number.
template <typename T>
bool parse_whole(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// A whole number from `least` to `most`.
std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t least,
                            std::uint64_t most);

/// A number from `least` to `most`.
double parse_real(std::string_view option, std::string_view text, double least, double most);

/// "head:modifier" or "head>modifier": an edge from ROOT (0) or a word to another word.
std::pair<int, int> parse_edge(std::string_view option, std::string_view text);

/// "a,b,...": at least one word.
std::vector<std::int32_t> parse_words(std::string_view option, std::string_view text);

/// "N": sentence N. "A:B": sentences A to B - 1, at least one; without A they begin with the first,
/// without B they end with the last.
std::pair<std::size_t, std::size_t> parse_slice(std::string_view option, std::string_view text);

}  // namespace taproot::cli
