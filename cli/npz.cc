// SPDX-License-Identifier: Apache-2.0
#include "npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace taproot::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw std::runtime_error(fmt::format(format, std::forward<Args>(args)...));
}

// A one-dimensional array of a .npy file: its element type, as NumPy writes it, and its bytes.
struct Array {
  std::string type;
  std::string bytes;

  template <typename T>
  std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

// The value of `key` in the header's dictionary, up to the comma or bracket that ends it.
std::string header_value(const std::string& header, const std::string& key,
                         const std::string& end) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) return {};
  const std::size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
  if (begin == std::string::npos) return {};
  return header.substr(begin, header.find_first_of(end, begin) - begin);
}

Array parse_npy(const std::string& name, std::string bytes) {
  constexpr std::size_t kMagic = 6;
  if (bytes.size() < 12 || bytes.compare(0, kMagic, "\x93NUMPY", kMagic) != 0) {
    fail("{} is no .npy array", name);
  }
  const bool long_header = bytes[kMagic] >= 2;
  std::uint32_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + kMagic + 2, long_header ? 4 : 2);
  const std::size_t header_begin = kMagic + 2 + (long_header ? 4 : 2);
  if (header_size > bytes.size() - header_begin) fail("{} ends within its header", name);
  const std::string header = bytes.substr(header_begin, header_size);
  Array array{header_value(header, "descr", ","), bytes.substr(header_begin + header_size)};
  const std::string shape = header_value(header, "shape", ")");
  std::size_t count = 0;
  char open = 0;
  char comma = 0;
  std::string more;
  std::istringstream in(shape);
  if (!(in >> open >> count >> comma) || open != '(' || comma != ',' || (in >> more)) {
    fail("{} must have one dimension, and has shape {})", name, shape);
  }
  const bool known = array.type.size() == 5 && (array.type[3] == '4' || array.type[3] == '8');
  const std::size_t width = known && array.type[3] == '8' ? 8 : 4;
  if (!known || array.type[1] != '<') fail("{} has the unknown type {}", name, array.type);
  if (array.bytes.size() / width != count || array.bytes.size() % width != 0) {
    fail("{} promises {} elements and has {}", name, count, array.bytes.size() / width);
  }
  return array;
}

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;

Array read_member(const std::string& path, zip_t* archive, const char* member) {
  zip_stat_t stat;
  if (zip_stat(archive, member, 0, &stat) != 0) fail("{} has no array {}", path, member);
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen(archive, member, 0),
                                                                &zip_fclose);
  if (!file) fail("{}: {} cannot be read: {}", path, member, zip_strerror(archive));
  // Grown as bytes really arrive: what the archive says of its size may be a lie.
  std::string bytes;
  std::vector<char> chunk(1 << 16);
  zip_int64_t got = 0;
  while ((got = zip_fread(file.get(), chunk.data(), chunk.size())) > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    if (bytes.size() > stat.size) fail("{}: {} is longer than it says", path, member);
  }
  if (got < 0) fail("{}: {} is damaged: {}", path, member, zip_file_strerror(file.get()));
  return parse_npy(path + ": " + member, std::move(bytes));
}

std::vector<std::int32_t> to_lengths(const std::string& path, const Array& array) {
  if (array.type == "'<i4'") return array.as<std::int32_t>();
  if (array.type != "'<i8'") fail("{}: lengths must be integers, not {}", path, array.type);
  std::vector<std::int32_t> lengths;
  for (const std::int64_t n : array.as<std::int64_t>()) {
    if (n < 0 || n > std::numeric_limits<std::int32_t>::max()) fail("{}: length {}", path, n);
    lengths.push_back(static_cast<std::int32_t>(n));
  }
  return lengths;
}

}  // namespace

Scores ScoreFile::view(RootRule root) const {
  return std::visit(
      [&](const auto& data) {
        using Real = typename std::decay_t<decltype(data)>::value_type;
        return Scores::concatenated(std::span<const Real>(data), lengths, root);
      },
      scores);
}

ScoreFile read_npz(const std::string& path) {
  int error = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &error), &zip_discard);
  if (!archive) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, error);
    const std::string text = zip_error_strerror(&reason);
    zip_error_fini(&reason);
    fail("{} cannot be opened: {}", path, text);
  }
  ScoreFile file;
  file.lengths = to_lengths(path, read_member(path, archive.get(), "lengths.npy"));
  const Array scores = read_member(path, archive.get(), "scores.npy");
  if (scores.type == "'<f4'") {
    file.scores = scores.as<float>();
  } else if (scores.type == "'<f8'") {
    file.scores = scores.as<double>();
  } else {
    fail("{}: scores must be float32 or float64, not {}", path, scores.type);
  }
  try {
    file.view(RootRule::kSingle);
  } catch (const std::invalid_argument& mismatch) {
    fail("{}: lengths and scores disagree: {}", path, mismatch.what());
  }
  return file;
}

std::vector<std::vector<std::string>> read_words(const std::string& path) {
  std::ifstream in(path);
  if (!in) fail("{} cannot be opened: {}", path, std::strerror(errno));
  std::vector<std::vector<std::string>> sentences;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    auto& sentence = sentences.emplace_back();
    for (std::string word; words >> word;) sentence.push_back(word);
  }
  return sentences;
}

}  // namespace taproot::cli
