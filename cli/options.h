// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taproot/constraints.h"
#include "taproot/cuda.h"
#include "taproot/types.h"

namespace taproot::cli {

/// Everything that a command may be told.
struct Options {
  std::vector<std::string> files;
  std::string lengths;
  std::size_t first = 0;
  std::size_t last = ~std::size_t{0};

  std::string algorithm = "auto";
  std::size_t k = 10;
  int top = 3;  ///< Words that `edges` shows of each sentence.
  std::uint64_t seed = 0;
  int threads = 0;
  Device device = Device::kCpu;

  std::string words;
  std::string labels;        ///< Names, one a line.
  std::string label_scores;  ///< .npz
  Constraints constraints;

  std::string output;          ///< Empty: standard output.
  std::string format;          ///< Empty: by the output's ending.
  double threshold = 0.05;     ///< Of edges that `show` and `report` draw.
  double floor = 0.001;        ///< Edges below it are not in a report at all.
  std::string color = "auto";  ///< auto, always or never.
  std::size_t width = 0;       ///< Of the terminal; 0: what it says.
  std::string title;           ///< Of a report.
  RootRule root = RootRule::kSingle;
  bool weights = false;    ///< The files hold weights, not their logs.
  bool has_k = false;      ///< Whether -k was given: `show` draws samples then.
  bool marginals = false;  ///< `show` the probabilities of edges.
  bool quiet = false;
  bool progress = false;
};

/// Exit codes.
inline constexpr int kAllFine = 0;
inline constexpr int kSomeFailed = 1;  ///< Some sentence failed; the rest is written.
inline constexpr int kUsage = 2;       ///< Or input that cannot be read.

}  // namespace taproot::cli
