// SPDX-License-Identifier: Apache-2.0
#include "sample/algorithm.h"

#include <string>
#include <utility>

#include "core/check.h"

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

bool goes_with(Algorithm algorithm, RootRule root) {
  switch (algorithm) {
    case Algorithm::kAuto:
    case Algorithm::kElimination:
    case Algorithm::kColbourn:
      return true;
    case Algorithm::kWilson:
      return root == RootRule::kMulti;
    case Algorithm::kWilsonMarginal:
    case Algorithm::kWilsonReject:
    case Algorithm::kWilsonRc:
      return root == RootRule::kSingle;
  }
  return false;
}

}  // namespace

void detail::require_goes_with(Algorithm algorithm, RootRule root, TreeFamily family,
                               const char* function) {
  if (family == TreeFamily::kProjective && algorithm != Algorithm::kAuto) {
    misuse(function, std::string(to_string(algorithm)) +
                         " does not sample projective trees: use auto, which walks their chart");
  }
  if (goes_with(algorithm, root)) return;
  misuse(function, std::string(to_string(algorithm)) + " does not sample " +
                       std::string(to_string(root)) +
                       "-root trees: use auto, elimination or colbourn");
}

void detail::require_goes_with(WithoutReplacementAlgorithm algorithm, TreeFamily family,
                               const char* function) {
  require(family == TreeFamily::kAll || algorithm != WithoutReplacementAlgorithm::kList, function,
          "list does not sample projective trees: use auto, trie or beam");
}

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
