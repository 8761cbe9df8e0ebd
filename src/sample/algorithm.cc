// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "core/check.h"
#include "taproot/sample.h"

namespace taproot {
namespace {

constexpr std::pair<Algorithm, std::string_view> kNames[] = {
    {Algorithm::kAuto, "auto"},
    {Algorithm::kElimination, "elimination"},
    {Algorithm::kWilson, "wilson"},
    {Algorithm::kWilsonMarginal, "wilson-marginal"},
    {Algorithm::kWilsonReject, "wilson-reject"},
    {Algorithm::kColbourn, "colbourn"},
    {Algorithm::kWilsonRc, "wilson-rc"},
};

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  for (const auto& [known, name] : kNames) {
    if (known == algorithm) return name;
  }
  return "unknown";
}

Algorithm algorithm_named(std::string_view name) {
  std::string all;
  for (const auto& [algorithm, known] : kNames) {
    if (known == name) return algorithm;
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  detail::misuse("algorithm_named", "no sampler is called '" + std::string(name) + "': " + all);
}

}  // namespace taproot
