// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "input/lengths.h"
#include "taproot/labels.h"

namespace taproot::cli {

/// The label scores of one sentence, in the precision of the file: [n+1][n+1][labels].
struct LabelScores {
  int n = 0;
  int labels = 0;
  bool is_double = false;
  std::vector<float> narrow;  ///< If not is_double.
  std::vector<double> wide;   ///< If is_double.

  LabelView view() const {
    return is_double ? LabelView(wide.data(), n, labels) : LabelView(narrow.data(), n, labels);
  }
};

/// Reads label scores from an .npz archive with `label_scores`, (n+1)x(n+1)xL numbers per sentence,
/// one sentence after the other or padded, and `lengths`. L is the number of label names.
class LabelReader {
 public:
  /// There is at least one label.
  LabelReader(const std::string& file, int labels);

  /// Reads the scores of sentence `number`, which has n words. Numbers must grow from call to call.
  /// Throws InputError if there are no scores for it, or if its length is not n.
  void read(std::size_t number, int n, LabelScores& out);

 private:
  std::string file_;
  int labels_;
  RaggedArray array_;
};

/// Reads the names of labels, one per line.
std::vector<std::string> read_label_names(const std::string& file);

}  // namespace taproot::cli
