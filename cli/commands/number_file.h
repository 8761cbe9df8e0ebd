// SPDX-License-Identifier: Apache-2.0
//
// The output of the commands that write numbers: logz, entropy and marginals.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "chunk.h"
#include "formats/tree_writer.h"
#include "io/line_buffer.h"
#include "io/output_file.h"
#include "io/spill.h"

namespace taproot::cli {

/// Writes one answer per sentence: a line of JSON or text, or, in an .npz archive, numbers that are
/// NaN where a sentence failed, and `lengths`.
class NumberFile {
 public:
  /// `key` names the numbers. Throws InputError for a format that is not among `formats`.
  NumberFile(const Options& options, std::string key, std::span<const Format> formats);

  /// `values` is one number, or a matrix [n+1][n+1]. Both are NaN if the outcome is not ok.
  void sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                std::span<const double> values);
  /// Returns the exit code.
  int finish();

 private:
  void failure(const FailedRow& row);
  void matrix(std::span<const double> values, std::size_t side);

  std::string name_;
  std::string key_;
  Format format_;
  OutputFile file_;
  LineBuffer line_;
  Spill numbers_{file_.temporary()};
  Spill lengths_{file_.temporary()};
  bool failed_ = false;
};

/// Answers all sentences of a chunk: outcomes, and a number per sentence that is NaN before the
/// call.
using ScalarQuery = std::function<void(const Scores&, std::span<Outcome>, std::span<double>)>;

/// Reads the input, asks `query` and writes one number per sentence. Returns the exit code.
int write_scalars(const Options& options, const char* key, const ScalarQuery& query);

}  // namespace taproot::cli
