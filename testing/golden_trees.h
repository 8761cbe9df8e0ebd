// SPDX-License-Identifier: Apache-2.0
//
// tests/golden/trees.json pins the trees that seeds give. The C++, CUDA and Python tests read it;
// the program golden_trees writes it (build the target "golden").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "taproot/taproot.h"

namespace taproot::oracle {

/// Scores in multiples of 1/8, and perhaps label scores.
struct GoldenGraph {
  std::string name;
  int n = 0;
  std::vector<double> scores;  ///< [n+1][n+1]; null in the file is -inf.
  int labels = 0;
  std::vector<double> label_scores;  ///< [n+1][n+1][labels]
};

/// What is asked, and what comes out.
struct GoldenTrees {
  std::string graph;
  RootRule root = RootRule::kSingle;
  TreeFamily family = TreeFamily::kAll;  ///< In the file if it is "projective".
  bool replacement = true;
  std::string algorithm;  ///< Of Algorithm, or of WithoutReplacementAlgorithm.
  std::uint64_t seed = 0;
  std::uint64_t id = 0;
  std::uint32_t first_tree = 0;  ///< With replacement only.
  std::size_t k = 0;

  std::vector<Tree> trees;
  std::vector<std::vector<std::int32_t>> labels;  ///< If the graph has label scores.
  std::uint64_t fallbacks = 0;   ///< With replacement: SampleStatistics::fallbacks.
  std::vector<double> log_prob;  ///< Without replacement, as are all below.
  std::vector<double> gumbel;
  double kappa = 0;  ///< null in the file is -inf.
  bool exhausted = false;
  /// Whether instruction sets without a fused multiply-add give other trees.
  bool needs_fused_multiply_add = false;

  std::string name() const;
};

struct GoldenFile {
  std::map<std::string, GoldenGraph> graphs;
  std::vector<GoldenTrees> cases;
};

/// Throws std::runtime_error if the file cannot be read or is not of that form.
GoldenFile load_golden_trees(const std::string& path);

/// The same question, answered by the library.
GoldenTrees sampled(const GoldenTrees& question, const GoldenGraph& graph);

/// Whether trees, labels and fallbacks are equal, and numbers within 1e-9. Otherwise `difference`
/// says which of them is not.
bool agree(const GoldenTrees& a, const GoldenTrees& b, std::string& difference);

}  // namespace taproot::oracle
