// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "formats/tree_writer.h"
#include "io/line_buffer.h"
#include "io/output_file.h"

namespace taproot::cli {

/// Writes that a sentence failed: as a line of JSON, or else as a comment.
void write_failure(LineBuffer& line, Format format, const FailedRow& row);

/// What the formats that are text have in common: lines are collected in memory, and go to the file
/// in large pieces. A part has no file, and keeps its lines until they are added to one that has.
class LineWriter : public TreeWriter {
 public:
  LineWriter(const std::string& file, IndexKind kind)
      : kind_(kind), file_(std::make_unique<OutputFile>(file)) {}
  explicit LineWriter(IndexKind kind) : kind_(kind) {}

  void add(TreeWriter& part) final {
    line_.flush(*file_);
    static_cast<LineWriter&>(part).line_.flush(*file_);
  }

  void finish() final {
    line_.flush(*file_);
    file_->commit();
  }

 protected:
  void flush_if_full() {
    if (file_ != nullptr) line_.flush_if_full(*file_);
  }

  IndexKind kind_;
  LineBuffer line_;

 private:
  std::unique_ptr<OutputFile> file_;
};

}  // namespace taproot::cli
