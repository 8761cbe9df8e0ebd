// SPDX-License-Identifier: Apache-2.0
#include "formats/tree_reader.h"

#include "error.h"
#include "formats/formats.h"

namespace taproot::cli {

std::unique_ptr<TreeReader> TreeReader::open(const std::string& file) {
  switch (format_of(file)) {
    case Format::kJsonl:
      return jsonl_reader(file);
    case Format::kNpz:
      return npz_reader(file);
    case Format::kConllu:
      return conllu_reader(file);
    case Format::kText:
      break;
  }
  fail(
      "{}: trees cannot be read from text, which does not keep everything; use jsonl, npz or "
      "conllu",
      file);
}

}  // namespace taproot::cli
