// SPDX-License-Identifier: Apache-2.0
//
// Batches of problems, and what a DependencyTrees says of them, wherever it works.
#pragma once

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "taproot/taproot.h"
#include "testing/oracle.h"

namespace taproot {

/// The problems must outlive the views.
inline std::vector<ScoreView> views_of(const std::vector<oracle::Problem>& problems) {
  std::vector<ScoreView> views;
  for (const auto& p : problems) views.emplace_back(p.scores.data(), p.n);
  return views;
}

/// The same problem over and over: sentences are independent.
inline std::vector<ScoreView> copies_of(const oracle::Problem& problem, std::size_t count) {
  return std::vector<ScoreView>(count, ScoreView(problem.scores.data(), problem.n));
}

inline BatchOptions with_root(RootRule root) {
  BatchOptions options;
  options.root = root;
  return options;
}

struct Answers {
  std::vector<Outcome> outcomes;
  std::vector<double> log_partition;
  std::vector<double> entropy;
  std::vector<std::vector<double>> marginals;
};

inline Answers ask(DependencyTrees& trees) {
  Answers a;
  a.log_partition.resize(trees.size());
  a.entropy.resize(trees.size());
  std::vector<EdgeMatrix> out;
  for (std::size_t b = 0; b < trees.size(); ++b) {
    const auto side = static_cast<std::size_t>(trees.n(b)) + 1;
    a.marginals.emplace_back(side * side);
  }
  for (std::size_t b = 0; b < trees.size(); ++b) {
    out.push_back({a.marginals[b].data(), trees.n(b) + 1});
  }
  a.outcomes = trees.log_partition(a.log_partition);
  trees.marginals(out);
  trees.entropy(a.entropy);
  return a;
}

/// k trees per sentence, one after the other; none where there is no answer.
inline std::vector<std::vector<std::int32_t>> sample(DependencyTrees& trees, std::size_t k,
                                                     const SampleOptions& options = {}) {
  std::vector<std::vector<std::int32_t>> heads;
  std::vector<TreeOutput> out(trees.size());
  for (std::size_t b = 0; b < trees.size(); ++b) {
    heads.emplace_back(k * static_cast<std::size_t>(trees.n(b)), -7);
  }
  for (std::size_t b = 0; b < trees.size(); ++b) {
    out[b].heads = heads[b].data();
    out[b].stride = trees.n(b);
  }
  const std::vector<Outcome> outcomes = trees.sample(k, options, out);
  for (std::size_t b = 0; b < trees.size(); ++b) {
    if (!outcomes[b].ok()) heads[b].clear();
  }
  return heads;
}

/// log p of trees of one sentence, which is the only one of its batch.
inline std::vector<double> log_prob(DependencyTrees& trees, std::vector<std::int32_t> heads) {
  const auto n = static_cast<std::size_t>(trees.n(0));
  std::vector<double> out(heads.size() / n);
  const TreeBuffer in{heads.data(), trees.n(0)};
  double* const to = out.data();
  trees.log_prob(out.size(), {&in, 1}, {}, {&to, 1});
  return out;
}

/// NaN counts as the largest difference of all.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

/// With TAPROOT_SANITIZED set every kernel runs, on little data: compute-sanitizer takes minutes
/// where these tests take milliseconds. Laws are then looked at with few samples, which cannot
/// reject much.
inline bool sanitized() { return std::getenv("TAPROOT_SANITIZED") != nullptr; }
inline std::size_t samples(std::size_t all, std::size_t few) { return sanitized() ? few : all; }
/// All of them, or those up to `most`.
inline std::vector<int> lengths(std::vector<int> all, int most) {
  if (sanitized()) std::erase_if(all, [=](int n) { return n > most; });
  return all;
}

}  // namespace taproot
