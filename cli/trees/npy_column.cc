// SPDX-License-Identifier: Apache-2.0
#include "trees/npy_column.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "error.h"
#include "trees/utf8.h"
#include "trees/zip_message.h"

namespace taproot::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kBuffer = std::size_t{1} << 18;
constexpr std::size_t kLongestHeader = std::size_t{1} << 16;
constexpr std::size_t kLongestText = 4096;

// What stands behind 'key': in the dictionary; empty if there is no such key.
std::string_view behind(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  const std::string_view rest = header.substr(at + key.size() + 3);
  return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
}

}  // namespace

bool NpyColumn::exists(zip_t* archive, const std::string& name) {
  return zip_name_locate(archive, (name + ".npy").c_str(), 0) >= 0;
}

NpyColumn::NpyColumn(zip_t* archive, const std::string& file, const std::string& name)
    : where_(fmt::format("{}, {}", file, name)) {
  const zip_int64_t found = zip_name_locate(archive, (name + ".npy").c_str(), 0);
  if (found < 0) fail("{}: there is no array '{}'", file, name);
  const auto index = static_cast<zip_uint64_t>(found);
  for (zip_uint64_t i = 0; std::cmp_less(i, zip_get_num_entries(archive, 0)); ++i) {
    const char* const other = zip_get_name(archive, i, 0);
    if (i != index && other != nullptr && name + ".npy" == other) {
      fail("{}: the array '{}' is there twice", file, name);
    }
  }
  zip_stat_t stat;
  zip_stat_init(&stat);
  file_.reset(zip_fopen_index(archive, index, 0));
  if (!file_ || zip_stat_index(archive, index, 0, &stat) != 0 ||
      (stat.valid & ZIP_STAT_SIZE) == 0) {
    fail("{} cannot be read: {}", where_, zip_strerror(archive));
  }
  parse_header(read_header());
  // Products that do not fit are larger than any file.
  std::uint64_t bytes = item_;
  for (const std::uint64_t extent : shape_) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) bytes = UINT64_MAX;
  }
  if (stat.size - header_size_ != bytes) {
    fail("{}: {} bytes of numbers, but the shape ({}) says {}", where_, stat.size - header_size_,
         fmt::join(shape_, ", "), bytes);
  }
  left_ = bytes;
}

std::string NpyColumn::read_header() {
  std::array<unsigned char, 12> start{};
  read(reinterpret_cast<char*>(start.data()), 8);
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3) {
    fail("{}: no array of NumPy's", where_);
  }
  const std::size_t digits = start[6] == 1 ? 2 : 4;
  read(reinterpret_cast<char*>(start.data()) + 8, digits);
  std::size_t size = start[8] + 256U * start[9];
  if (digits == 4) size += (start[10] + 256U * start[11]) << 16U;
  if (size > kLongestHeader) fail("{}: a header of {} bytes", where_, size);
  std::string header(size, '\0');
  read(header.data(), size);
  header_size_ = 8 + digits + size;
  return header;
}

void NpyColumn::parse_header(const std::string& header) {
  std::string_view type = behind(header, "descr");
  const std::string_view order = behind(header, "fortran_order");
  std::string_view shape = behind(header, "shape");
  const std::size_t end = type.empty() ? 0 : type.find('\'', 1);
  if (type.empty() || type[0] != '\'' || end == std::string_view::npos) {
    fail("{}: the header does not say what is in it", where_);
  }
  type = type.substr(1, end - 1);
  std::size_t size = 0;
  if (type.size() > 2) std::from_chars(type.data() + 2, type.data() + type.size(), size);
  type_ = type.size() > 1 ? type[1] : '?';
  const bool is_number = (type_ == 'i' || type_ == 'f') && (size == 4 || size == 8);
  const bool is_text = type_ == 'U' && size <= kLongestText;
  if (!type.starts_with('<') || (!is_number && !is_text)) {
    fail("{}: items of type {}, not int32, int64, float32, float64 or short text, little-endian",
         where_, type);
  }
  item_ = type_ == 'U' ? size * sizeof(char32_t) : size;
  const std::size_t close = shape.find(')');
  if (!order.starts_with("False") && !order.starts_with("True"))
    fail("{}: a broken header", where_);
  if (!shape.starts_with('(') || close == std::string_view::npos) {
    fail("{}: a header without a shape", where_);
  }
  shape = shape.substr(1, close - 1);
  while (!shape.empty()) {
    shape.remove_prefix(std::min(shape.find_first_not_of(", "), shape.size()));
    if (shape.empty()) break;
    std::uint64_t extent = 0;
    const auto result = std::from_chars(shape.data(), shape.data() + shape.size(), extent);
    if (result.ec != std::errc()) fail("{}: a header with a broken shape", where_);
    shape.remove_prefix(static_cast<std::size_t>(result.ptr - shape.data()));
    shape_.push_back(extent);
  }
  if (order.starts_with("True") && shape_.size() > 1) {
    fail("{}: it is in Fortran order; save it in C order (numpy.ascontiguousarray)", where_);
  }
}

void NpyColumn::require_shape(const std::vector<std::uint64_t>& shape) const {
  if (shape_ == shape) return;
  fail("{}: its shape is ({}), not ({})", where_, fmt::join(shape_, ", "), fmt::join(shape, ", "));
}

void NpyColumn::require_type(char type, const char* in_words) const {
  if (type_ != type) fail("{}: it does not hold {}", where_, in_words);
}

void NpyColumn::read(char* to, std::size_t size) {
  while (size > 0) {
    const zip_int64_t count = zip_fread(file_.get(), to, size);
    if (count < 0) {
      fail("{} cannot be read: {}", where_, zip_message(zip_file_get_error(file_.get())));
    }
    if (count == 0) fail("{}: it ends too early", where_);
    to += count;
    size -= static_cast<std::size_t>(count);
  }
}

// libzip compares the checksum when the end is read, not with the last byte.
void NpyColumn::read_end() {
  char more = 0;
  const zip_int64_t count = zip_fread(file_.get(), &more, 1);
  if (count < 0) {
    fail("{} cannot be read: {}", where_, zip_message(zip_file_get_error(file_.get())));
  }
  if (count > 0) fail("{}: it is longer than it says", where_);
}

const char* NpyColumn::take() {
  if (at_ == buffer_.size()) {
    const std::uint64_t whole = std::max<std::uint64_t>(kBuffer / item_, 1) * item_;
    buffer_.resize(std::min(left_, whole));
    if (buffer_.empty()) fail("{}: it ends too early", where_);
    read(buffer_.data(), buffer_.size());
    left_ -= buffer_.size();
    at_ = 0;
    if (left_ == 0) read_end();
  }
  const char* const item = buffer_.data() + at_;
  at_ += item_;
  return item;
}

template <typename T>
T NpyColumn::taken() {
  T value;
  std::memcpy(&value, take(), sizeof(value));
  return value;
}

std::int64_t NpyColumn::next_integer() {
  return item_ == 4 ? taken<std::int32_t>() : taken<std::int64_t>();
}

double NpyColumn::next_double() {
  return item_ == 4 ? static_cast<double>(taken<float>()) : taken<double>();
}

void NpyColumn::next_text(std::string& text) {
  text.clear();
  if (item_ == 0) return;
  const char* const item = take();
  std::size_t end = item_;
  const auto code = [&](std::size_t at) {
    char32_t value = 0;
    std::memcpy(&value, item + at, sizeof(value));
    return value;
  };
  while (end > 0 && code(end - sizeof(char32_t)) == 0) end -= sizeof(char32_t);  // Padding.
  for (std::size_t at = 0; at < end; at += sizeof(char32_t)) {
    if (!append_utf8(text, code(at)))
      fail("{}: a text with something that is no character", where_);
  }
}

}  // namespace taproot::cli
