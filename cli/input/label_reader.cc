// SPDX-License-Identifier: Apache-2.0
#include "input/label_reader.h"

#include <stdexcept>
#include <unordered_set>

#include "error.h"
#include "io/archive.h"
#include "io/text_lines.h"

namespace taproot::cli {

LabelReader::LabelReader(const std::string& file, int labels)
    : file_(file),
      labels_(labels),
      array_(Archive(file), "label_scores", static_cast<std::uint64_t>(labels)) {}

void LabelReader::read(std::size_t number, int n, LabelScores& out) {
  const auto& lengths = array_.lengths();
  if (number < array_.at()) throw std::logic_error("labels are read in order");
  if (number >= lengths.size()) {
    fail("{} has label scores for {} sentences, but none for sentence {}", file_, lengths.size(),
         number);
  }
  if (lengths[number] != n) {
    fail("{}: sentence {} has {} words, but {} in the input", file_, number, lengths[number], n);
  }
  array_.skip(number - array_.at());
  out.n = n;
  out.labels = labels_;
  out.is_double = array_.values().is_double();
  if (out.is_double) {
    array_.read(out.wide);
  } else {
    array_.read(out.narrow);
  }
}

std::vector<std::string> read_label_names(const std::string& file) {
  TextLines in(file);
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (std::string line; in.next(line);) {
    if (line.empty()) {
      fail("{}: the line is empty; it must hold the name of one label", in.where());
    }
    if (line.find_first_of(" \t") != std::string::npos) {
      fail("{}: the name '{}' holds blanks; each line must hold the name of one label", in.where(),
           line);
    }
    if (!seen.insert(line).second) {
      fail("{}: the name '{}' appears twice", in.where(), line);
    }
    names.push_back(line);
  }
  if (names.empty()) fail("{} is empty; it must hold the names of labels, one per line", file);
  return names;
}

}  // namespace taproot::cli
