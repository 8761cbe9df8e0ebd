// SPDX-License-Identifier: Apache-2.0
//
// Scores from files, sentence by sentence: nothing but the sentence at hand is in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "taproot/scores.h"

namespace taproot::cli {

struct ReadOptions {
  /// .npy (one (n+1)x(n+1) matrix, or a padded batch (B, N+1, N+1)) or .npz (`scores`, all matrices
  /// one after the other, and `lengths`; or one 2-D array a sentence, in the archive's order).
  std::vector<std::string> files;
  /// For padded .npy batches: an integer .npy, or numbers in text. May be empty.
  std::string lengths;
  /// The files hold weights: their log is taken (0 gives -inf, negative NaN).
  bool weights = false;
  /// Sentences first, ..., last - 1 of all files together; the others are skipped as cheaply as can
  /// be.
  std::size_t first = 0;
  std::size_t last = ~std::size_t{0};
};

/// One sentence. Its number counts over all files, whatever the slice.
struct Sentence {
  std::size_t number = 0;
  int n = 0;
  bool is_double = false;
  std::vector<float> narrow;  ///< [n+1][n+1] if not is_double
  std::vector<double> wide;   ///< [n+1][n+1] if is_double

  ScoreView view() const {
    return is_double ? ScoreView(wide.data(), n) : ScoreView(narrow.data(), n);
  }
};

/// float16, float32 or float64, either byte order, C or Fortran order, .npy versions 1.0 to 3.0,
/// stored or deflated archives. Throws InputError for anything else, for a truncated or lying file,
/// and for paths in an archive's names; never crashes, and takes no more memory than the largest
/// sentence.
class ScoreReader {
 public:
  explicit ScoreReader(ReadOptions options);
  ~ScoreReader();
  ScoreReader(ScoreReader&&) noexcept;
  ScoreReader& operator=(ScoreReader&&) noexcept;

  /// The next sentence; false at the end. Reuses the memory of `sentence`.
  bool next(Sentence& sentence);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Label scores that go with them: .npz with `label_scores`, per sentence (n+1)x(n+1)xL, one after
/// the other, and `lengths`; L is given (the number of label names).
class LabelReader {
 public:
  LabelReader(const std::string& file, int labels);
  ~LabelReader();

  /// The labels of sentence `number` (numbers must grow from call to call), which has n words.
  /// Throws InputError if there are none, or for another length.
  void read(std::size_t number, int n, std::vector<float>& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Names of labels, one a line.
std::vector<std::string> read_label_names(const std::string& file);

}  // namespace taproot::cli
