// SPDX-License-Identifier: Apache-2.0
#include "input/ids.h"

#include <algorithm>
#include <cstddef>

#include "error.h"
#include "io/npy_reader.h"
#include "io/standard_input.h"
#include "io/text_lines.h"
#include "parse.h"

namespace taproot::cli {
namespace {

std::vector<std::uint64_t> read_npy(const std::string& path) {
  NpyReader in(open_file(path), shown_name(path));
  in.require_integers();
  const NpyHeader& header = in.header();
  if (header.shape.size() != 1) {
    fail("{} must have one dimension, and has shape {}", path, header.shape_text());
  }
  std::vector<std::uint64_t> ids;
  in.read(ids, 0, static_cast<std::size_t>(header.count));
  in.finish();
  if (header.kind == 'i') {
    const auto negative = std::ranges::find_if(
        ids, [](std::uint64_t id) { return static_cast<std::int64_t>(id) < 0; });
    if (negative != ids.end()) {
      fail("{}: id {} is {}, which is negative", path, negative - ids.begin(),
           static_cast<std::int64_t>(*negative));
    }
  }
  return ids;
}

std::vector<std::uint64_t> read_text(const std::string& path) {
  TextLines in(path);
  std::vector<std::uint64_t> ids;
  for (std::string line; in.next(line);) {
    if (!parse_whole(line, ids.emplace_back())) {
      fail("{}: {} is not a whole number from 0 to 2^64 - 1", in.where(), quoted(line));
    }
  }
  return ids;
}

}  // namespace

std::vector<std::uint64_t> read_ids(const std::string& path) {
  const std::string content = describe_content(path);
  if (content == "an .npy array") return read_npy(path);
  if (content == "a zip archive") {
    fail("{} is a zip archive; ids must be an .npy array of integers, or text", path);
  }
  return read_text(path);
}

}  // namespace taproot::cli
