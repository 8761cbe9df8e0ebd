// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "core/check.h"
#include "taproot/without_replacement.h"

namespace taproot {
namespace {

constexpr std::pair<WithoutReplacementAlgorithm, std::string_view> kNames[] = {
    {WithoutReplacementAlgorithm::kAuto, "auto"},
    {WithoutReplacementAlgorithm::kTrie, "trie"},
    {WithoutReplacementAlgorithm::kBeam, "beam"},
    {WithoutReplacementAlgorithm::kList, "list"},
};

}  // namespace

std::string_view to_string(WithoutReplacementAlgorithm algorithm) {
  for (const auto& [known, name] : kNames) {
    if (known == algorithm) return name;
  }
  return "unknown";
}

WithoutReplacementAlgorithm without_replacement_algorithm_named(std::string_view name) {
  std::string all;
  for (const auto& [algorithm, known] : kNames) {
    if (known == name) return algorithm;
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  detail::misuse("without_replacement_algorithm_named",
                 "no sampler without replacement is called '" + std::string(name) + "': " + all);
}

}  // namespace taproot
