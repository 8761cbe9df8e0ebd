// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taproot/constraints.h"
#include "taproot/device.h"
#include "taproot/types.h"

namespace taproot::cli {

/// Everything that a command may be told.
struct Options {
  std::vector<std::string> files;
  std::string lengths;
  bool weights = false;
  std::size_t first = 0;
  std::size_t last = ~std::size_t{0};

  RootRule root = RootRule::kSingle;
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

  std::string output;  ///< Empty: standard output.
  std::string format;  ///< Empty: by the output's ending.
  bool quiet = false;
  bool progress = false;
};

/// Exit codes.
inline constexpr int kAllFine = 0;
inline constexpr int kSomeFailed = 1;  ///< Some sentence failed; the rest is written.
inline constexpr int kUsage = 2;       ///< Or input that cannot be read.

}  // namespace taproot::cli
