// SPDX-License-Identifier: Apache-2.0
#include "input/lengths.h"

#include <algorithm>
#include <string_view>

#include "error.h"
#include "io/standard_input.h"
#include "io/text_lines.h"
#include "parse.h"

namespace taproot::cli {
namespace {

// A hundred megabytes of zeros compress to almost nothing, so the number of lengths has a limit.
constexpr std::uint64_t kMostSentences = std::uint64_t{1} << 27;

std::int32_t checked(const std::string& name, std::size_t index, std::int64_t n) {
  if (n < 0) fail("{}: length {} is {}, which is negative", name, index, n);
  if (n > kMostWords) {
    fail("{}: length {} is {}; sentences have at most {} words", name, index, n, kMostWords);
  }
  return static_cast<std::int32_t>(n);
}

std::vector<std::int32_t> read_text(const std::string& path) {
  TextLines in(path);
  std::vector<std::int32_t> lengths;
  for (std::string line; in.next(line);) {
    std::string_view rest = line;
    for (std::string_view word; !(word = next_word(rest)).empty();) {
      std::int64_t n = 0;
      if (!parse_whole(word, n)) {
        fail("{}: length {} is {}, not a whole number from 0 to {}", in.path(), lengths.size(),
             quoted(word), kMostWords);
      }
      lengths.push_back(checked(in.path(), lengths.size(), n));
    }
  }
  return lengths;
}

}  // namespace

std::vector<std::int32_t> read_lengths(NpyReader& in) {
  in.require_integers();
  const NpyHeader& header = in.header();
  if (header.shape.size() != 1) {
    fail("{} must have one dimension, and has shape {}", in.name(), header.shape_text());
  }
  if (header.count > kMostSentences) {
    fail("{} has {} lengths; at most {} sentences are read from one file", in.name(), header.count,
         kMostSentences);
  }
  constexpr std::size_t kPiece = 1 << 14;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> piece;
  while (lengths.size() < header.count) {
    const std::size_t count = std::min<std::size_t>(kPiece, header.count - lengths.size());
    in.read(piece, 0, count);
    for (std::size_t i = 0; i < count; ++i) {
      lengths.push_back(checked(in.name(), lengths.size(), piece[i]));
    }
  }
  in.finish();
  return lengths;
}

std::vector<std::int32_t> read_lengths(const std::string& path) {
  const std::string content = describe_content(path);
  if (content == "an .npy array") {
    NpyReader in(open_file(path), shown_name(path));
    return read_lengths(in);
  }
  if (content == "a zip archive") {
    fail("{} is a zip archive; lengths must be an .npy array of integers, or text", path);
  }
  return read_text(path);
}

RaggedArray::RaggedArray(const Archive& archive, const std::string& array, std::uint64_t depth)
    : values_(open_array(archive, array)), depth_(depth) {
  values_.require_floats();
  const NpyHeader& header = values_.header();
  const auto& shape = header.shape;
  const bool rows = depth > 1 && shape.size() == 2 && shape[1] == depth;
  const bool padded = (depth > 1 ? shape.size() == 4 && shape[3] == depth : shape.size() == 3) &&
                      shape[1] == shape[2] && shape[1] > 0;
  if (shape.size() != 1 && !rows && !padded) {
    const std::string last = depth > 1 ? fmt::format(", {}", depth) : "";
    fail(
        "{} must have one dimension (all sentences one after the other) or be padded (B, N+1, "
        "N+1{}), and has shape {}",
        values_.name(), last, header.shape_text());
  }
  if (shape.size() > 1 && header.fortran) {
    fail("{} is in Fortran order; save it in C order, with numpy.ascontiguousarray",
         values_.name());
  }
  if (padded) side_ = shape[1];
  NpyReader in = open_array(archive, "lengths");
  lengths_ = read_lengths(in);
  padded ? check_padded() : check();
}

void RaggedArray::check() const {
  std::uint64_t sum = 0;
  const std::uint64_t count = values_.header().count;
  // No overflow: a step adds at most 2^32 cells times fewer than 2^31 labels, and the sum before it
  // is at most `count` < 2^62.
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    sum += size(i);
    if (sum > count) {
      fail("{} has {} elements, too few for its lengths; they end within sentence {} of {} words",
           values_.name(), count, i, lengths_[i]);
    }
  }
  if (sum < count) {
    fail("{} has {} elements, too many for its {} lengths, which need {}", values_.name(), count,
         lengths_.size(), sum);
  }
}

void RaggedArray::check_padded() const {
  const NpyHeader& header = values_.header();
  if (lengths_.size() != header.shape[0]) {
    fail("{} has {} sentences (shape {}), but there are {} lengths beside it", values_.name(),
         header.shape[0], header.shape_text(), lengths_.size());
  }
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    if (cells(lengths_[i]) <= side_ * side_) continue;
    fail("length {} of {} is {}, outside 0..{}, because its shape is {}; {}", i, values_.name(),
         lengths_[i], side_ - 1, header.shape_text(), kLengthsCountWords);
  }
}

void RaggedArray::skip(std::size_t sentences) {
  std::uint64_t count = 0;
  for (; sentences > 0; --sentences, ++at_) {
    count += side_ > 0 ? side_ * side_ * depth_ : size(at_);
  }
  if (count > 0) values_.skip(count);
}

template <typename T>
void RaggedArray::read(std::vector<T>& out) {
  const auto count = static_cast<std::size_t>(size(at_));
  values_.require_plausible(count * sizeof(T));
  if (side_ > 0) {
    values_.read_corner(out, static_cast<std::size_t>(lengths_[at_]) + 1, side_, depth_);
  } else {
    values_.read(out, 0, count);
    out.resize(count);
  }
  if (++at_ == lengths_.size()) values_.finish();
}

template void RaggedArray::read(std::vector<float>&);
template void RaggedArray::read(std::vector<double>&);

}  // namespace taproot::cli
