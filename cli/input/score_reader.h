// SPDX-License-Identifier: Apache-2.0
//
// Reads scores from files, one sentence at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "taproot/scores.h"

namespace taproot::cli {

struct ReadOptions {
  /// .npy (one (n+1)x(n+1) matrix, or a padded batch (B, N+1, N+1)) or .npz (`scores`, all matrices
  /// one after the other or padded, and `lengths`; or one 2-D array per sentence, in the archive's
  /// order). "-" is standard input.
  std::vector<std::string> files;
  /// The file of the lengths of padded batches that have none beside them: an .npy of integers, or
  /// text. May be empty.
  std::string lengths;
  /// Whether the files hold weights. Their logs are taken: 0 gives -inf, a negative weight NaN.
  bool weights = false;
  /// The number of the first sentence. The others follow.
  std::size_t first_number = 0;
  /// Sentences with the numbers first, ..., last - 1 are read, the others are skipped. Of those at
  /// least one must be there, unless all sentences are asked for.
  std::size_t first = 0;
  std::size_t last = ~std::size_t{0};
};

/// A weight that is negative, infinite or NaN.
struct BadWeight {
  std::size_t cell = 0;  ///< In row-major order.
  double value = 0;
};

/// One sentence. Its number counts over all files, from first_number on, also in a slice.
struct Sentence {
  std::size_t number = 0;
  int n = 0;
  bool is_double = false;
  std::vector<float> narrow;  ///< [n+1][n+1] if not is_double
  std::vector<double> wide;   ///< [n+1][n+1] if is_double
  bool is_log_of_weights = false;
  std::vector<BadWeight> bad_weights;  ///< If is_log_of_weights.

  ScoreView view() const {
    return is_double ? ScoreView(wide.data(), n) : ScoreView(narrow.data(), n);
  }
};

/// The lengths of the padded batches of all files, one after the other.
struct PaddedLengths {
  std::string path;  ///< Empty if there is no such file; then no sentence is padded.
  std::vector<std::int32_t> values;
};

class ScoreSource;

/// Reads float16, float32 or float64 in either byte order, C or Fortran order, .npy versions 1.0 to
/// 3.0, stored or deflated archives. Throws InputError for everything else, for a file that is
/// truncated or contradicts itself, and for paths in an archive's names. Needs no more memory than
/// the largest sentence.
class ScoreReader {
 public:
  explicit ScoreReader(ReadOptions options);
  ~ScoreReader();

  /// Reads the next sentence, or returns false at the end. Reuses the memory of `sentence`.
  bool next(Sentence& sentence);
  /// The number of sentences in all files, whatever the slice.
  std::size_t total() const;
  /// The number of sentences that next() will give.
  std::size_t chosen() const;

 private:
  struct File {
    std::size_t count;
    std::size_t first_length;
  };

  void check_lengths(std::size_t used) const;
  void check_slice() const;
  void open();
  void close();
  void read(Sentence& sentence);

  ReadOptions options_;
  PaddedLengths lengths_;
  std::vector<File> files_;
  std::size_t file_ = 0;
  std::size_t in_file_ = 0;  // Sentences of the file that are read or skipped.
  std::size_t at_ = 0;       // The number of the next sentence.
  std::unique_ptr<ScoreSource> source_;
};

}  // namespace taproot::cli
