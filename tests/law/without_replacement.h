// SPDX-License-Identifier: Apache-2.0
//
// Trees without replacement: the laws that follow from an enumeration, and samples of them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "law/statistics.h"
#include "property/check.h"
#include "taproot/without_replacement.h"
#include "testing/families.h"

namespace taproot::law {

/// As the oracle enumerates them, with their probabilities.
using Trees = std::vector<std::pair<Tree, double>>;

/// Which one of the enumerated trees? By its heads as the digits of a number.
class TreeIndex {
 public:
  explicit TreeIndex(const Trees& trees) : base_(trees.front().first.size() + 1) {
    std::size_t codes = 1;
    for (std::size_t i = 1; i < base_; ++i) codes *= base_;
    place_.assign(codes, trees.size());
    for (std::size_t t = 0; t < trees.size(); ++t) place_[code(trees[t].first)] = t;
  }

  /// trees.size() if it is none of them.
  std::size_t operator()(TreeView heads) const { return place_[code(heads)]; }

 private:
  std::size_t code(TreeView heads) const {
    std::size_t result = 0;
    for (const std::int32_t h : heads) result = result * base_ + static_cast<std::size_t>(h);
    return result;
  }

  std::size_t base_;
  std::vector<std::size_t> place_;
};

/// How often each ordered k-tuple of trees was drawn, and what that should be.
class OrderedCounts {
 public:
  OrderedCounts(const Trees& trees, std::size_t k) : trees_(trees), k_(k) {
    std::size_t tuples = 1;
    for (std::size_t i = 0; i < k; ++i) tuples *= trees.size();
    counts_.assign(tuples, 0);
  }

  void add(const std::vector<std::size_t>& drawn) {
    std::size_t tuple = 0;
    bool known = drawn.size() >= k_;
    for (std::size_t i = 0; i < k_ && known; ++i) {
      known = drawn[i] < trees_.size();
      tuple = tuple * trees_.size() + drawn[i];
    }
    ++total_;
    if (known) {
      ++counts_[tuple];
    } else {
      ++unknown_;
    }
  }

  /// p-value under p1 p2 / (1 - p1) p3 / (1 - p1 - p2) ...; 0 after a repeat or an unknown tree.
  double p_value() const {
    std::vector<double> expected(counts_.size());
    for (std::size_t tuple = 0; tuple < expected.size(); ++tuple) {
      std::vector<std::size_t> digits(k_);
      for (std::size_t i = k_, rest = tuple; i-- > 0; rest /= trees_.size()) {
        digits[i] = rest % trees_.size();
      }
      double p = total_;
      double left = 1;
      for (std::size_t i = 0; i < k_; ++i) {
        const bool again =
            std::find(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(i), digits[i]) !=
            digits.begin() + static_cast<std::ptrdiff_t>(i);
        p *= again ? 0 : trees_[digits[i]].second / left;
        left -= trees_[digits[i]].second;
      }
      expected[tuple] = p;
    }
    return unknown_ > 0 ? 0 : chi_square_p(expected, counts_);
  }

 private:
  const Trees& trees_;
  std::size_t k_;
  std::vector<double> counts_;
  double total_ = 0;
  double unknown_ = 0;
};

/// The probability that each tree is among the first k: with an exponential clock of rate p(t) for
/// each tree, that its own rings before the k-th of the others, an integral over the time x = e^u.
inline std::vector<double> inclusion_probabilities(const Trees& trees, std::size_t k) {
  constexpr double kStep = 0.1;  // Trapezoids: the integrand is analytic, the error below 1e-12.
  const auto add_tree = [k](std::vector<double>& rung, double q) {
    for (std::size_t j = k; j-- > 0;) {
      rung[j] = rung[j] * (1 - q) + (j > 0 ? rung[j - 1] * q : 0);
    }
  };
  std::vector<double> pi(trees.size());
  std::vector<double> q(trees.size());
  std::vector<double> rung(k);  // P(j rang), j < k
  std::vector<double> others(k);
  for (int step = -350;; ++step) {
    const double x = std::exp(kStep * step);
    rung.assign(k, 0);
    rung[0] = 1;
    for (std::size_t t = 0; t < trees.size(); ++t) {
      q[t] = -std::expm1(-trees[t].second * x);
      add_tree(rung, q[t]);
    }
    double most = 0;
    for (std::size_t t = 0; t < trees.size(); ++t) {
      if (q[t] < 0.5) {  // Taken out again.
        for (std::size_t j = 0; j < k; ++j) {
          others[j] = (rung[j] - (j > 0 ? others[j - 1] * q[t] : 0)) / (1 - q[t]);
        }
      } else {
        others.assign(k, 0);
        others[0] = 1;
        for (std::size_t s = 0; s < trees.size(); ++s) {
          if (s != t) add_tree(others, q[s]);
        }
      }
      double below = 0;
      for (const double o : others) below += o;
      const double term = kStep * trees[t].second * x * (1 - q[t]) * below;
      pi[t] += term;
      most = std::max(most, term);
    }
    if (step > 0 && most < 1e-14) return pi;
  }
}

inline void find_trees(const oracle::Problem& problem, oracle::Root root, TreeFamily family,
                       Tree& heads, std::vector<Tree>& found) {
  const auto side = static_cast<std::size_t>(problem.n) + 1;
  if (heads.size() + 1 == side) {
    if (!is_tree(heads, rule(root))) return;
    if (family == TreeFamily::kAll || oracle::is_projective(heads)) found.push_back(heads);
    return;
  }
  const std::size_t m = heads.size() + 1;
  for (std::size_t h = 0; h < side; ++h) {
    if (h == m || problem.scores[h * side + m] == -HUGE_VAL) continue;
    heads.push_back(static_cast<std::int32_t>(h));
    find_trees(problem, root, family, heads, found);
    heads.pop_back();
  }
}

/// Every tree of the family whose edges are allowed, sorted, by trying all heads word by word. For
/// any n, if few words have a choice.
inline std::vector<Tree> allowed_trees(const oracle::Problem& problem, oracle::Root root,
                                       TreeFamily family) {
  std::vector<Tree> found;
  Tree heads;
  find_trees(problem, root, family, heads, found);
  return found;
}

/// N(0, sigma^2) on m / 2 -> m and, for every seventh word, on edges from any two others. So long
/// that a trie has its laws from rows where they are good enough (n > 30), and yet with few trees.
/// For projective trees likewise on m - 1 -> m, and on edges from two words shortly before.
inline oracle::Problem few_choices(int n, double sigma, std::uint64_t seed, TreeFamily family) {
  const bool projective = family == TreeFamily::kProjective;
  oracle::Problem problem = oracle::gaussian(n, sigma, seed);
  for (int h = 0; h <= n; ++h) {
    for (int m = 1; m <= n; ++m) {
      const bool extra =
          m % 7 == 0 && (projective ? h == m - 2 || h == m - 5
                                    : h == (5 * m + 3) % n + 1 || h == (3 * m + 1) % n + 1);
      if (h != (projective ? m - 1 : m / 2) && !extra)
        problem.scores[static_cast<std::size_t>(h * (n + 1) + m)] = -HUGE_VAL;
    }
  }
  return problem;
}

/// Samples of one problem by one algorithm; number `sentence` is independent of the others.
class WithoutReplacementSamples {
 public:
  WithoutReplacementSamples(const oracle::Problem& problem, oracle::Root root, TreeFamily family,
                            WithoutReplacementAlgorithm algorithm, std::uint64_t seed = 17)
      : f_(factored(problem, root, family)), options_{.algorithm = algorithm, .seed = seed} {}

  const WithoutReplacementSample& operator()(std::uint32_t sentence, std::size_t k) {
    sampler_.build(f_, options_, sentence, workspace_);
    sampler_.sample(k, sample_, workspace_);
    return sample_;
  }

  const Factorization& factorization() const { return f_; }

 private:
  Factorization f_;
  WithoutReplacementOptions options_;
  WithoutReplacementSampler sampler_;
  WithoutReplacementSample sample_;
  Workspace workspace_;
};

inline std::vector<std::size_t> indices(const WithoutReplacementSample& sample,
                                        const TreeIndex& index) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < sample.size(); ++i) result.push_back(index(sample[i]));
  return result;
}

struct WithoutReplacementCase {
  WithoutReplacementAlgorithm algorithm;
  oracle::Root root;
  TreeFamily family;
};

inline std::vector<WithoutReplacementCase> without_replacement_cases() {
  std::vector<WithoutReplacementCase> cases;
  for (const auto family : {TreeFamily::kAll, TreeFamily::kProjective}) {
    for (const auto algorithm :
         {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
          WithoutReplacementAlgorithm::kBeam, WithoutReplacementAlgorithm::kList}) {
      if (family == TreeFamily::kProjective && algorithm == WithoutReplacementAlgorithm::kList) {
        continue;  // It has no list.
      }
      for (const auto root : {oracle::Root::kSingle, oracle::Root::kMulti}) {
        cases.push_back({algorithm, root, family});
      }
    }
  }
  return cases;
}

inline std::string case_name(const testing::TestParamInfo<WithoutReplacementCase>& param_info) {
  const auto& [algorithm, root, family] = param_info.param;
  return std::string(to_string(algorithm)) + "_" + name(root) +
         (family == TreeFamily::kProjective ? "_projective" : "");
}

}  // namespace taproot::law
