// SPDX-License-Identifier: Apache-2.0
#include "input/score_reader.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>
#include <utility>

#include "error.h"
#include "input/lengths.h"
#include "input/score_source.h"
#include "io/standard_input.h"

namespace taproot::cli {
namespace {

// Replaces weights by their logs, and keeps bad ones so that a message can name them.
void take_logs(Sentence& sentence) {
  sentence.is_log_of_weights = true;
  sentence.bad_weights.clear();
  if (!sentence.is_double) {
    sentence.wide.assign(sentence.narrow.begin(), sentence.narrow.end());
    sentence.narrow.clear();
    sentence.is_double = true;
  }
  for (std::size_t cell = 0; cell < sentence.wide.size(); ++cell) {
    double& value = sentence.wide[cell];
    if (!(value >= 0) || std::isinf(value)) sentence.bad_weights.push_back({cell, value});
    value = std::log(value);
  }
}

}  // namespace

ScoreReader::ScoreReader(ReadOptions options) : options_(std::move(options)) {
  if (options_.files.empty()) fail("no input file is named");
  if (!options_.lengths.empty()) lengths_ = {options_.lengths, read_lengths(options_.lengths)};
  // Open every file now, so that an error in the last one does not come after hours of work. Close
  // them again, because there may be more files than a process may hold open.
  std::size_t lengths_used = 0;
  for (const std::string& path : options_.files) {
    source_ = open_scores(path, lengths_, lengths_used);
    files_.push_back({source_->count(), lengths_used});
    lengths_used += source_->lengths_used();
  }
  if (files_.size() > 1) source_.reset();
  check_lengths(lengths_used);
  check_slice();
  at_ = options_.first_number;
}

ScoreReader::~ScoreReader() = default;

std::size_t ScoreReader::total() const {
  std::size_t sum = 0;
  for (const File& file : files_) sum += file.count;
  return sum;
}

std::size_t ScoreReader::chosen() const {
  const std::size_t begin = options_.first_number;
  const std::size_t end = begin + total();
  const std::size_t first = std::clamp(options_.first, begin, end);
  return std::clamp(options_.last, first, end) - first;
}

bool ScoreReader::next(Sentence& sentence) {
  for (; file_ < files_.size(); close()) {
    if (std::max(at_, options_.first) >= options_.last) return false;
    const std::size_t left = files_[file_].count - in_file_;
    const std::size_t unwanted = at_ < options_.first ? options_.first - at_ : 0;
    if (unwanted >= left) {
      at_ += left;
      continue;
    }
    open();
    if (unwanted > 0) {
      source_->skip(unwanted);
      at_ += unwanted;
      in_file_ += unwanted;
    }
    sentence.number = at_++;
    ++in_file_;
    read(sentence);
    return true;
  }
  return false;
}

void ScoreReader::check_lengths(std::size_t used) const {
  if (lengths_.path.empty() || used == lengths_.values.size()) return;
  fail(
      "{} has {} lengths, but there are {} sentences in padded batches without lengths of their "
      "own; only those take lengths from a file",
      lengths_.path, lengths_.values.size(), used);
}

// An answer about no sentence would look like one about a file without sentences.
void ScoreReader::check_slice() const {
  const bool all = options_.first == 0 && options_.last == ~std::size_t{0};
  if (all || chosen() > 0) return;
  const std::size_t count = total();
  const std::size_t begin = options_.first_number;
  const std::string wanted =
      options_.last == options_.first + 1 ? fmt::format("sentence {} is", options_.first)
      : options_.last == ~std::size_t{0}
          ? fmt::format("sentences {}: are", options_.first)
          : fmt::format("sentences {}:{} are", options_.first, options_.last);
  if (count == 0) fail("{} not in the input, which has no sentences", wanted);
  fail("{} not in the input, whose {} sentences are numbered {} to {}", wanted, count, begin,
       begin + count - 1);
}

void ScoreReader::open() {
  if (source_) return;
  const std::string& path = options_.files[file_];
  source_ = open_scores(path, lengths_, files_[file_].first_length);
  if (source_->count() != files_[file_].count)
    fail("{} changed while it was read", shown_name(path));
}

void ScoreReader::close() {
  source_.reset();
  in_file_ = 0;
  ++file_;
}

void ScoreReader::read(Sentence& sentence) {
  try {
    source_->read(sentence);
    if (options_.weights) take_logs(sentence);
    return;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  fail("{}: sentence {} with {} words does not fit into memory", shown_name(options_.files[file_]),
       sentence.number, sentence.n);
}

}  // namespace taproot::cli
