// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "error.h"
#include "input/npy.h"

namespace taproot::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

// A parser of the few Python literals that occur: strings, True, False, and tuples of numbers.
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
    if (first < '0' || first > '9') refuse("a dimension is no number");
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (__builtin_mul_overflow(value, 10U, &value) ||
          __builtin_add_overflow(value, digit, &value)) {
        refuse("a dimension is too large");
      }
    }
    // Python 2 wrote long integers so.
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

void set_type(NpyHeader& header) {
  const std::string& type = header.type;
  if (type.size() != 3 || std::string_view("<>=|").find(type[0]) == std::string_view::npos) return;
  const std::string_view widths = type[1] == 'f' ? "248" : "1248";
  if (std::string_view("fiu").find(type[1]) == std::string_view::npos ||
      widths.find(type[2]) == std::string_view::npos || (type[0] == '|' && type[2] != '1')) {
    return;
  }
  header.kind = type[1];
  header.width = static_cast<std::size_t>(type[2] - '0');
  header.swapped = type[0] == '>' && header.width > 1;
}

}  // namespace

std::string NpyHeader::shape_text() const {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
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
      if (in.peek() == '[') fail("{} is an array of records: save the scores alone", name);
      type = in.string();
    } else if (key == "fortran_order" && !fortran) {
      fortran = in.boolean();
    } else if (key == "shape" && !shape) {
      shape = in.tuple();
    } else {
      in.refuse(fmt::format("the key {} is unknown or there twice", quoted(key)));
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
  header.fortran = *fortran && shape->size() > 1;  // Otherwise both orders are the same.
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
