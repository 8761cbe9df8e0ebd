// SPDX-License-Identifier: Apache-2.0
//
// The output of the commands that write numbers: logz, entropy and marginals.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chunk.h"
#include "engine.h"
#include "io/line_buffer.h"
#include "io/output_file.h"
#include "io/spill.h"

namespace taproot::cli {

/// Takes the answers to a question, sentence by sentence.
class NumberSink {
 public:
  NumberSink() = default;
  virtual ~NumberSink() = default;
  NumberSink(const NumberSink&) = delete;
  NumberSink& operator=(const NumberSink&) = delete;

  /// `values` is one number or, for marginals, a matrix [n+1][n+1].
  virtual void sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                        std::span<const double> values) = 0;
  /// Writes the text of the sentences so far, which an error in the input then does not lose.
  virtual void flush() = 0;
  /// Completes the output after the last sentence. Returns the exit code.
  virtual int finish() = 0;
};

/// Writes one answer per sentence: a line of JSON or text, or, in an .npz archive, numbers that are
/// NaN where a sentence failed, and `lengths`.
class NumberFile final : public NumberSink {
 public:
  /// `key` names the numbers.
  NumberFile(const Options& options, std::string key);

  void sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                std::span<const double> values) override;
  void flush() override { line_.flush(file_); }
  int finish() override;

 private:
  void matrix(std::span<const double> values, std::size_t side);

  std::string name_;
  std::string key_;
  Format format_;
  OutputFile file_;
  LineBuffer line_;
  Spill numbers_{file_.temporary()};
  Spill lengths_{file_.temporary()};
  bool of_edges_;  ///< Whether a sentence has a number for every edge.
  bool failed_ = false;
};

/// Finds the numbers of each sentence: one, or a matrix [n+1][n+1].
using NumberQuery =
    std::function<std::vector<Outcome>(DependencyTrees&, std::vector<std::vector<double>>&)>;

/// Makes the sink, for the names of the labels, once the input is open, so that an input that is
/// missing leaves no output.
using OpenSink =
    std::function<std::unique_ptr<NumberSink>(const std::vector<std::string>& label_names)>;

/// Reads the input, asks `query` and writes the numbers of every sentence. Returns the exit code.
int write_numbers(const Options& options, const OpenSink& open, const NumberQuery& query);

/// The same for a question with one number per sentence.
int write_scalars(const Options& options, const char* key,
                  std::vector<Outcome> (DependencyTrees::*question)(std::span<double>));

/// The marginals of each sentence, [n+1][n+1].
std::vector<Outcome> find_marginals(DependencyTrees& trees,
                                    std::vector<std::vector<double>>& matrices);

}  // namespace taproot::cli
