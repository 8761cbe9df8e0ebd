// SPDX-License-Identifier: Apache-2.0
// The golden answers that the C++, CUDA and Python tests share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testing/oracle.h"

namespace taproot::oracle {

// No answer: the problem has no tree under that rule. expected_steps is NaN: the file lacks it.
struct GoldenCase {
  std::string name;
  Problem problem;
  std::optional<Answer> single_root;
  std::optional<Answer> multi_root;
};

// Reads golden.json (a null score is -inf, a null answer is none). Throws std::runtime_error if the
// file cannot be read or is not of that form.
std::vector<GoldenCase> load_golden(const std::string& path);

}  // namespace taproot::oracle
