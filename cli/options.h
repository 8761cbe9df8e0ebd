// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "formats/format.h"
#include "input/constraint_list.h"
#include "input/score_reader.h"
#include "taproot/draw.h"
#include "taproot/types.h"

namespace taproot::cli {

enum class Device : std::uint8_t { kCpu, kCuda };

/// The options of all commands that read scores.
struct Options : ReadOptions {
  std::string ids;
  std::string algorithm = "auto";
  std::size_t k = 10;
  int top = 3;  ///< How many words per sentence `edges` shows.
  std::uint64_t seed = 0;
  int threads = 0;
  Device device = Device::kCpu;

  std::string words;
  std::string labels;        ///< A file of names, one per line.
  std::string label_scores;  ///< An .npz file.
  ConstraintList constraints;

  std::string output;       ///< Empty means standard output.
  std::string format_name;  ///< Empty means by the ending of the output.
  Format format = Format::kJsonl;
  double threshold = kDrawThreshold;  ///< `show` and `report` draw edges from this probability on.
  bool has_threshold = false;  ///< Whether --threshold was given; then `marginals` lists edges.
  double floor = 0.001;        ///< A report does not hold edges below this probability.
  std::string color = "auto";  ///< auto, always or never.
  std::size_t width = 0;       ///< Cells per line; 0 means the width of the terminal.
  std::string title;           ///< The title of a report.
  RootRule root = RootRule::kSingle;
  bool projective = false;  ///< Whether only projective trees count.
  bool has_k = false;       ///< Whether -k was given; then `show` draws samples.
  bool marginals = false;   ///< Whether `show` draws the probabilities of edges.
  bool quiet = false;
  bool progress = false;
};

/// Exit codes.
inline constexpr int kAllFine = 0;
inline constexpr int kSomeFailed = 1;  ///< Some sentences failed, the others are written.
inline constexpr int kUsage = 2;       ///< Wrong usage, or input that cannot be read.

}  // namespace taproot::cli
