// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "testing/oracle.h"

namespace taproot::law {

/// Sentences with the scores of trained parsers, and their names; `path` is that of trained.json.
inline std::vector<std::pair<std::string, oracle::Problem>> trained_sentences(
    const std::string& path) {
  std::ifstream in(path);
  const nlohmann::json file = nlohmann::json::parse(in);
  std::vector<std::pair<std::string, oracle::Problem>> sentences;
  for (const auto& sentence : file.at("sentences")) {
    oracle::Problem problem{sentence.at("n"), {}};
    for (const auto& s : sentence.at("scores")) {
      problem.scores.push_back(s.is_null() ? -HUGE_VAL : s.get<double>());
    }
    sentences.emplace_back(sentence.at("name"), std::move(problem));
  }
  return sentences;
}

}  // namespace taproot::law
