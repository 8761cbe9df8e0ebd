// SPDX-License-Identifier: Apache-2.0
#include "io/npy_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/utf8.h"
#include "error.h"

namespace taproot::cli {
namespace {

// NumPy writes headers of 64 to some hundred bytes.
constexpr std::uint32_t kLongestHeader = 1 << 16;
// Elements that are read in one piece: memory grows in such steps.
constexpr std::size_t kPiece = 1 << 16;

template <typename Bits>
Bits load(const unsigned char* at, bool swapped) {
  Bits bits;
  std::memcpy(&bits, at, sizeof(bits));
  if constexpr (sizeof(Bits) == 2) return swapped ? __builtin_bswap16(bits) : bits;
  if constexpr (sizeof(Bits) == 4) return swapped ? __builtin_bswap32(bits) : bits;
  if constexpr (sizeof(Bits) == 8) return swapped ? __builtin_bswap64(bits) : bits;
  return bits;
}

template <typename Bits>
std::int64_t to_integer(Bits bits, bool is_signed) {
  if (is_signed) return static_cast<std::make_signed_t<Bits>>(bits);
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bits, largest));
}

std::int64_t integer_at(const unsigned char* at, const NpyHeader& header) {
  const bool is_signed = header.kind == 'i';
  switch (header.width) {
    case 1:
      return to_integer(load<std::uint8_t>(at, false), is_signed);
    case 2:
      return to_integer(load<std::uint16_t>(at, header.swapped), is_signed);
    case 4:
      return to_integer(load<std::uint32_t>(at, header.swapped), is_signed);
    default:
      return to_integer(load<std::uint64_t>(at, header.swapped), is_signed);
  }
}

template <typename T>
T element_at(const unsigned char* at, const NpyHeader& header) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return integer_at(at, header);
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (header.kind == 'u' && header.width == 8) return load<std::uint64_t>(at, header.swapped);
    return static_cast<std::uint64_t>(integer_at(at, header));
  } else if constexpr (std::is_same_v<T, double>) {
    if (header.width == 8) return std::bit_cast<double>(load<std::uint64_t>(at, header.swapped));
    return element_at<float>(at, header);
  } else if (header.width == 2) {
    return from_half(load<std::uint16_t>(at, header.swapped));
  } else {
    return std::bit_cast<float>(load<std::uint32_t>(at, header.swapped));
  }
}

}  // namespace

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    const float tiny = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -tiny : tiny;
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xffU : exponent + 112U;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

NpyReader::NpyReader(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::array<unsigned char, 12> start{};
  if (source_->read(start.data(), 8) < 8 ||
      std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    fail("{} is not an .npy array: it does not begin with the bytes \\x93NUMPY", name_);
  }
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0) {
    fail("{} has .npy version {}.{}; versions 1.0 to 3.0 are read", name_, major, start[7]);
  }
  const std::size_t size_width = major == 1 ? 2 : 4;
  if (source_->read(&start[8], size_width) < size_width) fail("{} ends within its header", name_);
  const auto header_size = load<std::uint32_t>(&start[8], false);  // The rest is zero.
  if (header_size > kLongestHeader) {
    fail("{} claims a header of {} bytes; at most {} are read", name_, header_size, kLongestHeader);
  }
  std::string text(header_size, '\0');
  if (source_->read(text.data(), text.size()) < text.size())
    fail("{} ends within its header", name_);
  header_ = parse_npy_header(name_, text);
  if (header_.kind == 0) return;  // The caller refuses the type.
  const std::uint64_t before = 8 + size_width + header_size;
  const std::uint64_t bytes = source_->size() < before ? 0 : source_->size() - before;
  if (bytes < header_.count * header_.width) {
    fail("{} is truncated: its shape {} needs {} bytes, and it has {}", name_, header_.shape_text(),
         header_.count * header_.width, bytes);
  }
  if (bytes > header_.count * header_.width) {
    fail("{} is longer than it says: its shape {} needs {} bytes, and it has {}", name_,
         header_.shape_text(), header_.count * header_.width, bytes);
  }
}

void NpyReader::require_floats() const {
  if (header_.kind == 'f') return;
  const bool objects = header_.type.ends_with('O');
  fail("{} must hold float16, float32 or float64, not {}{}; save it with .astype(numpy.float32)",
       name_, quoted(header_.type), objects ? " (Python objects)" : "");
}

void NpyReader::require_integers() const {
  if (header_.kind == 'i' || header_.kind == 'u') return;
  fail("{} must hold integers, not {}; save it with .astype(numpy.int64)", name_,
       quoted(header_.type));
}

void NpyReader::require_bools() const {
  if (header_.kind == 'b') return;
  fail("{} must hold bools, not {}; save it with .astype(bool)", name_, quoted(header_.type));
}

void NpyReader::require_texts() const {
  if (header_.kind == 'U') return;
  fail("{} must hold short texts, not {}; save it with .astype(str)", name_, quoted(header_.type));
}

void NpyReader::require_shape(const std::vector<std::uint64_t>& shape) const {
  if (header_.shape != shape) {
    fail("{} must have shape {}, and has {}", name_, shape_text(shape), header_.shape_text());
  }
  if (header_.fortran) {
    fail("{} is in Fortran order; save it in C order, with numpy.ascontiguousarray", name_);
  }
}

void NpyReader::require_plausible(std::uint64_t bytes) const {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 30;
  constexpr double kSuspicious = 200;
  if (bytes > kLarge && source_->expansion() > kSuspicious) {
    fail(
        "{} expands {:.0f}-fold, to {} bytes for one sentence, like a zip bomb; if it is not one, "
        "save it uncompressed with numpy.savez",
        name_, source_->expansion(), bytes);
  }
}

void NpyReader::fail_early() const {
  fail("{} is truncated: it ends after {} of {} elements", name_, read_, header_.count);
}

void NpyReader::take(void* out, std::size_t bytes) {
  const std::size_t got = source_->read(out, bytes);
  read_ += got / header_.width;
  if (got < bytes) fail_early();
}

template <typename T>
void NpyReader::read(std::vector<T>& out, std::size_t at, std::size_t count) {
  if (header_.kind == 0)
    fail("{} has elements of the unknown type {}", name_, quoted(header_.type));
  const bool as_is = std::is_floating_point_v<T> && !header_.swapped && header_.width == sizeof(T);
  for (const std::size_t end = at + count; at < end;) {
    const std::size_t piece = std::min(kPiece, end - at);
    if (as_is) {
      if (out.size() < at + piece) out.resize(at + piece);
      take(out.data() + at, piece * sizeof(T));
    } else {
      raw_.resize(piece * header_.width);
      take(raw_.data(), raw_.size());
      if (out.size() < at + piece) out.resize(at + piece);
      for (std::size_t i = 0; i < piece; ++i) {
        out[at + i] = element_at<T>(raw_.data() + i * header_.width, header_);
      }
    }
    at += piece;
  }
}

template void NpyReader::read(std::vector<float>&, std::size_t, std::size_t);
template void NpyReader::read(std::vector<double>&, std::size_t, std::size_t);
template void NpyReader::read(std::vector<std::int64_t>&, std::size_t, std::size_t);
template void NpyReader::read(std::vector<std::uint64_t>&, std::size_t, std::size_t);

template <typename T>
void NpyReader::read_corner(std::vector<T>& out, std::size_t side, std::uint64_t padded_side,
                            std::uint64_t depth) {
  const std::size_t row = side * static_cast<std::size_t>(depth);
  for (std::size_t i = 0; i < side; ++i) {
    read(out, i * row, row);
    skip((padded_side - side) * depth);
  }
  skip((padded_side - side) * padded_side * depth);
  out.resize(side * row);
}

template void NpyReader::read_corner(std::vector<float>&, std::size_t, std::uint64_t,
                                     std::uint64_t);
template void NpyReader::read_corner(std::vector<double>&, std::size_t, std::uint64_t,
                                     std::uint64_t);

void NpyReader::read_texts(std::vector<std::string>& out, std::size_t count) {
  raw_.resize(count * header_.width);
  take(raw_.data(), raw_.size());
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string& text = out[i];
    text.clear();
    const unsigned char* const begin = raw_.data() + i * header_.width;
    std::size_t size = header_.width / sizeof(char32_t);
    const auto code = [&](std::size_t at) {
      return static_cast<char32_t>(
          load<std::uint32_t>(begin + at * sizeof(char32_t), header_.swapped));
    };
    while (size > 0 && code(size - 1) == 0) --size;  // Padding.
    for (std::size_t at = 0; at < size; ++at) {
      if (!detail::is_code_point(code(at))) {
        fail("{} holds a text with the number {:#x}, which is not a character", name_,
             static_cast<std::uint32_t>(code(at)));
      }
      detail::append_code(text, code(at));
    }
  }
}

void NpyReader::skip(std::uint64_t count) {
  const std::uint64_t got = source_->skip(count * header_.width);
  read_ += got / header_.width;
  if (got < count * header_.width) fail_early();
}

void NpyReader::finish() {
  char more = 0;
  if (source_->read(&more, 1) > 0) {
    fail("{} is longer than it says: bytes follow its last element", name_);
  }
}

NpyReader open_array(const Archive& archive, const std::string& array) {
  const Archive::Entry* entry = archive.find(array);
  if (entry == nullptr) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, archive.entries().size()); ++i) {
      names += (i == 0 ? "" : ", ") + quoted(archive.entries()[i].name);
    }
    fail("{} has no array '{}'; it has {}", archive.path(), array, names.empty() ? "none" : names);
  }
  return {archive.open(*entry), archive.path() + ": " + array};
}

}  // namespace taproot::cli
