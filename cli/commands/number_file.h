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
#include "io/archive_writer.h"
#include "io/line_buffer.h"
#include "io/output_file.h"
#include "io/spill.h"

namespace taproot::cli {

/// Takes the answers to a question, sentence by sentence, and writes them.
class NumberSink {
 public:
  explicit NumberSink(const Options& options)
      : name_(options.output), format_(options.format), file_(options.output) {}
  virtual ~NumberSink() = default;

  /// `values` is one number or, for marginals, a matrix [n+1][n+1].
  virtual void sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                        std::span<const double> values) = 0;
  /// Writes the text of the sentences so far, which an error in the input then does not lose.
  void flush() { line_.flush(file_); }
  /// Completes the output after the last sentence. Returns the exit code.
  int finish();

 protected:
  /// What an .npz archive holds.
  virtual std::vector<NpyArray> arrays() = 0;

  std::string name_;
  Format format_;
  OutputFile file_;
  LineBuffer line_;
  bool failed_ = false;
};

/// Writes one answer per sentence: a line of JSON or text, or, in an .npz archive, numbers that are
/// NaN where a sentence failed, and `lengths`.
class NumberFile final : public NumberSink {
 public:
  /// `key` names the numbers.
  NumberFile(const Options& options, std::string key);

  void sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                std::span<const double> values) override;

 private:
  std::vector<NpyArray> arrays() override;
  void matrix(std::span<const double> values, std::size_t side);

  std::string key_;
  bool of_edges_;  ///< Whether a sentence has a number for every edge.
  Spill numbers_{file_.temporary()};
  Spill lengths_{file_.temporary()};
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
