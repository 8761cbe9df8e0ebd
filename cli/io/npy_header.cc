// SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "error.h"
#include "io/byte_source.h"
#include "parse.h"

namespace taproot::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

// Parses the few Python literals that occur: strings, True, False, and tuples of numbers.
class Literals {
 public:
  Literals(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  [[noreturn]] void refuse(std::string_view what) const {
    fail("{} has a header that is not understood at character {}: {}", name_, at_, what);
  }

  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("'{}' is missing", c));
  }
  bool at_end() {
    peek();
    return at_ == text_.size();
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse("a string is missing");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) refuse("a string does not end");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    refuse("fortran_order must be True or False");
  }

  std::uint64_t number() {
    const char first = peek();
    if (first == '-') refuse("a dimension is negative");
    if (first < '0' || first > '9') refuse("a dimension is not a number");
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (__builtin_mul_overflow(value, 10U, &value) ||
          __builtin_add_overflow(value, digit, &value)) {
        refuse("a dimension is too large");
      }
    }
    // Python 2 wrote long integers with this suffix.
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  std::vector<std::uint64_t> tuple() {
    constexpr std::size_t kMostDimensions = 32;
    std::vector<std::uint64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(number());
      if (values.size() > kMostDimensions) refuse("there are too many dimensions");
      if (accept(')')) {
        if (values.size() == 1) refuse("a tuple of one number needs a comma");
        break;
      }
      expect(',');
    }
    return values;
  }

 private:
  const std::string& name_;
  std::string_view text_;
  std::size_t at_ = 0;
};

// Sets kind, width and swapped. Types that are not read here keep kind 0, and whoever wants their
// elements refuses them with a message of its own.
void set_type(NpyHeader& header) {
  const std::string_view type = header.type;
  if (type.size() < 3 || std::string_view("<>=|").find(type[0]) == type.npos) return;
  std::size_t size = 0;
  if (!parse_whole(type.substr(2), size)) return;
  const char kind = type[1];
  constexpr std::size_t kLongestText = 4096;
  const bool power_of_two = size == 1 || size == 2 || size == 4 || size == 8;
  const bool known = kind == 'f'                  ? power_of_two && size > 1
                     : kind == 'i' || kind == 'u' ? power_of_two
                     : kind == 'b'                ? size == 1
                     : kind == 'U'                ? size >= 1 && size <= kLongestText
                                                  : false;
  const std::size_t width = kind == 'U' ? size * sizeof(char32_t) : size;
  if (!known || (type[0] == '|' && width != 1)) return;
  header.kind = kind;
  header.width = width;
  header.swapped = type[0] == '>' && width > 1;
}

}  // namespace

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string NpyHeader::shape_text() const { return cli::shape_text(shape); }

std::string write_npy_header(std::string_view type, const std::vector<std::uint64_t>& shape) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                       type, shape_text(shape));
  constexpr std::size_t kBefore = 10;  // The magic, the version and the length.
  const std::size_t size = (kBefore + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.resize(size - kBefore - 1, ' ');
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>((size - kBefore) & 0xFFU);
  header += static_cast<char>((size - kBefore) >> 8U);
  return header + dictionary + "\n";
}

NpyHeader parse_npy_header(const std::string& name, std::string_view dictionary) {
  Literals in(name, dictionary);
  NpyHeader header;
  std::optional<std::string> type;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
  in.expect('{');
  while (!in.accept('}')) {
    const std::string key = in.string();
    in.expect(':');
    if (key == "descr" && !type) {
      if (in.peek() == '[') fail("{} is an array of records, not of numbers", name);
      type = in.string();
    } else if (key == "fortran_order" && !fortran) {
      fortran = in.boolean();
    } else if (key == "shape" && !shape) {
      shape = in.tuple();
    } else {
      in.refuse(fmt::format("the key {} is unknown or appears twice", quoted(key)));
    }
    if (in.accept('}')) break;
    in.expect(',');
  }
  if (!in.at_end()) in.refuse("something follows the dictionary");
  if (!type || !fortran || !shape) {
    in.refuse(fmt::format("the key '{}' is missing",
                          !type ? "descr" : (!fortran ? "fortran_order" : "shape")));
  }
  header.type = *type;
  header.fortran = *fortran && shape->size() > 1;  // With one dimension both orders are the same.
  header.shape = std::move(*shape);
  set_type(header);
  header.count = 1;
  const std::uint64_t width = std::max<std::size_t>(header.width, 1);
  std::uint64_t bytes = 0;
  const bool none = std::find(header.shape.begin(), header.shape.end(), 0U) != header.shape.end();
  for (const std::uint64_t size : header.shape) {
    if (none) {
      header.count = 0;
    } else if (__builtin_mul_overflow(header.count, size, &header.count) ||
               __builtin_mul_overflow(header.count, width, &bytes) || bytes > (1ULL << 62)) {
      fail("{} has the impossible shape {}", name, header.shape_text());
    }
  }
  return header;
}

}  // namespace taproot::cli
