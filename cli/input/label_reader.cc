// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <unordered_set>

#include "error.h"
#include "input/archive.h"
#include "input/lengths.h"
#include "input/score_reader.h"
#include "input/text_lines.h"

namespace taproot::cli {

class LabelReader::Impl {
 public:
  Impl(const std::string& file, int labels)
      : file_(file), array_(Archive(file), "label_scores", static_cast<std::uint64_t>(labels)) {}

  void read(std::size_t number, int n, std::vector<float>& out) {
    const auto& lengths = array_.lengths();
    if (number < array_.at()) throw std::logic_error("labels are read in order");
    if (number >= lengths.size()) {
      fail("{} has label scores for {} sentences, and none for sentence {}", file_, lengths.size(),
           number);
    }
    if (lengths[number] != n) {
      fail("{}: sentence {} has {} words, and {} in the file of scores", file_, number,
           lengths[number], n);
    }
    array_.skip(number - array_.at());
    if (!array_.values().is_double()) {
      array_.read(out);
      return;
    }
    array_.read(wide_);
    out.resize(wide_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(wide_[i]);
  }

 private:
  std::string file_;
  RaggedArray array_;
  std::vector<double> wide_;
};

LabelReader::LabelReader(const std::string& file, int labels) {
  if (labels < 1) fail("{}: there are no names of labels for these scores", file);
  impl_ = std::make_unique<Impl>(file, labels);
}
LabelReader::~LabelReader() = default;

void LabelReader::read(std::size_t number, int n, std::vector<float>& out) {
  impl_->read(number, n, out);
}

std::vector<std::string> read_label_names(const std::string& file) {
  TextLines in(file);
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (std::string line; in.next(line);) {
    if (line.empty())
      fail("{}, line {}: there is no name: give one label a line", file, in.number());
    if (line.find_first_of(" \t") != std::string::npos) {
      fail("{}, line {}: a label's name holds no blanks: give one label a line", file, in.number());
    }
    if (!seen.insert(line).second) fail("{}, line {}: {} is there twice", file, in.number(), line);
    names.push_back(line);
  }
  if (names.empty()) fail("{} is empty: give one label a line", file);
  return names;
}

}  // namespace taproot::cli
