// SPDX-License-Identifier: Apache-2.0
#include "testing/golden.h"

#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace taproot::oracle {
namespace {

using nlohmann::json;

std::vector<double> read_square(const json& rows, int n) {
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  std::vector<double> cells;
  for (const json& row : rows) {
    if (row.size() != side) throw std::runtime_error("[load_golden] a row has the wrong length");
    for (const json& value : row) {
      cells.push_back(value.is_null() ? -HUGE_VAL : value.get<double>());
    }
  }
  if (cells.size() != side * side) throw std::runtime_error("[load_golden] wrong number of rows");
  return cells;
}

std::optional<Answer> read_answer(const json& answer, int n) {
  if (answer.is_null()) return std::nullopt;
  return Answer{true, answer.at("log_partition").get<double>(), answer.at("entropy").get<double>(),
                read_square(answer.at("marginals"), n), std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace

std::vector<GoldenCase> load_golden(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("[load_golden] cannot open " + path);
  try {
    const json document = json::parse(file);
    std::vector<GoldenCase> cases;
    for (const json& entry : document.at("cases")) {
      const int n = entry.at("n").get<int>();
      cases.push_back(
          {entry.at("name").get<std::string>(), Problem{n, read_square(entry.at("scores"), n)},
           read_answer(entry.at("single_root"), n), read_answer(entry.at("multi_root"), n)});
    }
    return cases;
  } catch (const json::exception& error) {
    throw std::runtime_error("[load_golden] " + path + ": " + error.what());
  }
}

}  // namespace taproot::oracle
