// SPDX-License-Identifier: Apache-2.0
#include "formats/tree_writer.h"

#include "error.h"
#include "formats/formats.h"

namespace taproot::cli {

std::unique_ptr<TreeWriter> TreeWriter::open(Format format, const std::string& file,
                                             IndexKind kind) {
  switch (format) {
    case Format::kJsonl:
      return jsonl_writer(file, kind);
    case Format::kNpz:
      return npz_writer(file, kind);
    case Format::kConllu:
      return conllu_writer(file, kind);
    case Format::kText:
      return text_writer(file, kind);
    default:
      fail("trees cannot be written as {}", to_string(format));
  }
}

}  // namespace taproot::cli
