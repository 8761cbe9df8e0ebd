// SPDX-License-Identifier: Apache-2.0
#include "parse.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "error.h"
#include "io/byte_source.h"

namespace taproot::cli {
namespace {

constexpr std::uint64_t kMostWords = std::uint64_t{1} << 30;

}  // namespace

std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t value = 0;
  if (!parse_whole(text, value) || value < least || value > most) {
    fail("{}: {} is not a whole number from {} to {}", option, quoted(text), least, most);
  }
  return value;
}

double parse_real(std::string_view option, std::string_view text, double least, double most) {
  double value = 0;
  if (!parse_whole(text, value) || !(value >= least && value <= most)) {
    fail("{}: {} is not a number from {} to {}", option, quoted(text), least, most);
  }
  return value;
}

std::pair<int, int> parse_edge(std::string_view option, std::string_view text) {
  const std::size_t at = text.find_first_of(":>");
  if (at == std::string_view::npos) {
    fail(
        "{}: expected HEAD:MODIFIER, two numbers such as 2:1, not {} (a shell takes an unquoted "
        "2>1 for a redirection)",
        option, quoted(text));
  }
  std::uint64_t head = 0;
  std::uint64_t modifier = 0;
  if (!parse_whole(text.substr(0, at), head) || !parse_whole(text.substr(at + 1), modifier) ||
      head > kMostWords || modifier > kMostWords) {
    fail("{}: expected HEAD:MODIFIER, two numbers such as 2:1 (0 is ROOT), not {}", option,
         quoted(text));
  }
  if (modifier == 0) fail("{}: {} gives ROOT (0) a head, which it never has", option, quoted(text));
  if (head == modifier) fail("{}: {} makes word {} its own head", option, quoted(text), head);
  return {static_cast<int>(head), static_cast<int>(modifier)};
}

std::vector<std::int32_t> parse_words(std::string_view option, std::string_view text) {
  std::vector<std::int32_t> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::uint64_t word = 0;
    if (!parse_whole(text.substr(begin, end - begin), word) || word == 0 || word > kMostWords) {
      fail("{}: expected the numbers of words, such as 1,3, not {}", option, quoted(text));
    }
    words.push_back(static_cast<std::int32_t>(word));
    begin = end + 1;
  }
  return words;
}

std::pair<std::size_t, std::size_t> parse_slice(std::string_view option, std::string_view text) {
  const std::size_t at = text.find(':');
  std::size_t first = 0;
  std::size_t last = std::numeric_limits<std::size_t>::max();
  const auto side = [&](std::string_view number, std::size_t& value) {
    return number.empty() || parse_whole(number, value);
  };
  if (at == std::string_view::npos) {
    if (!parse_whole(text, first) || first == last) {
      fail("{}: expected a number or a range A:B, for example 3 or 0:10, not {}", option,
           quoted(text));
    }
    return {first, first + 1};
  }
  if (!side(text.substr(0, at), first) || !side(text.substr(at + 1), last)) {
    fail("{}: expected a number or a range A:B, for example 3 or 0:10, not {}", option,
         quoted(text));
  }
  if (last < first) fail("{}: the range {} ends before it begins", option, quoted(text));
  if (last == first) fail("{}: the range {} is empty; B is not part of A:B", option, quoted(text));
  return {first, last};
}

}  // namespace taproot::cli
