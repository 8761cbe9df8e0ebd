// SPDX-License-Identifier: Apache-2.0
#include "formats/tree_reader.h"

#include <array>

#include "error.h"
#include "formats/formats.h"
#include "io/byte_source.h"
#include "io/standard_input.h"

namespace taproot::cli {

namespace {

// Standard input has no file name, so its first byte decides: .npz, JSON, or else CoNLL-U.
Format format_of_trees(const std::string& file) {
  if (!is_standard_input(file)) return format_of(file);
  std::array<char, 1> first{};
  open_file(file)->read(first.data(), first.size());
  return first[0] == 'P' ? Format::kNpz : first[0] == '{' ? Format::kJsonl : Format::kConllu;
}

}  // namespace

std::unique_ptr<TreeReader> TreeReader::open(const std::string& file) {
  const Format format = format_of_trees(file);
  switch (format) {
    case Format::kJsonl:
      return jsonl_reader(file);
    case Format::kNpz:
      return npz_reader(file);
    case Format::kConllu:
      return conllu_reader(file);
    case Format::kText:
      fail(
          "{}: trees cannot be read from text, which does not keep everything; use jsonl, npz or "
          "conllu",
          file);
    default:
      fail("{}: {} files do not hold trees; use jsonl, npz or conllu", file, to_string(format));
  }
}

}  // namespace taproot::cli
