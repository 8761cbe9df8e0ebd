// SPDX-License-Identifier: Apache-2.0
#include "formats/tree_writer.h"

#include <string_view>

#include "error.h"
#include "formats/formats.h"

namespace taproot::cli {

Format format_named(const std::string& name) {
  if (name == "jsonl") return Format::kJsonl;
  if (name == "npz") return Format::kNpz;
  if (name == "conllu") return Format::kConllu;
  if (name == "text") return Format::kText;
  fail("there is no format '{}'; choose jsonl, npz, conllu or text", name);
}

std::string_view to_string(Format format) {
  switch (format) {
    case Format::kJsonl:
      return "jsonl";
    case Format::kNpz:
      return "npz";
    case Format::kConllu:
      return "conllu";
    case Format::kText:
      return "text";
  }
  return "unknown";
}

Format format_of(const std::string& file) {
  const std::string_view name = file;
  if (name.ends_with(".npz")) return Format::kNpz;
  if (name.ends_with(".conllu")) return Format::kConllu;
  if (name.ends_with(".txt")) return Format::kText;
  return Format::kJsonl;
}

Format chosen_format(const std::string& name, const std::string& file) {
  return name.empty() ? format_of(file) : format_named(name);
}

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
  }
  fail("there is no format with the number {}", static_cast<int>(format));
}

}  // namespace taproot::cli
