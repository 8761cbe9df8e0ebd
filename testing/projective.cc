// SPDX-License-Identifier: Apache-2.0
#include "testing/projective.h"

#include <algorithm>
#include <boost/multiprecision/mpfr.hpp>
#include <cmath>
#include <limits>

#include "testing/graph.h"
#include "testing/real.h"

namespace taproot::oracle {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kEnumerationDigits = 450;
using Heads = std::vector<std::int32_t>;

std::int32_t head_of(const Heads& heads, int word) {
  return heads[static_cast<std::size_t>(word - 1)];
}

struct Forest {
  std::vector<Heads> trees;
  std::vector<Real> weights;
  std::vector<Real> scores;
  Real total = 0;
};

// Call inside a PrecisionScope.
Forest grow(const Problem& problem, Root root) {
  Forest forest;
  for (auto& [heads, probability] : all_trees(problem, root)) {
    if (!is_projective(heads)) continue;
    Real score = 0;
    for (int m = 1; m <= problem.n; ++m) {
      score += Real(problem.scores[cell(problem.n, head_of(heads, m), m)]);
    }
    forest.trees.push_back(heads);
    forest.weights.push_back(exp(score));
    forest.total += forest.weights.back();
    forest.scores.push_back(std::move(score));
  }
  return forest;
}

}  // namespace

bool is_projective(const Heads& heads) {
  const int n = static_cast<int>(heads.size());
  for (int m = 1; m <= n; ++m) {
    const int h = head_of(heads, m);
    for (int between = std::min(h, m) + 1; between < std::max(h, m); ++between) {
      int node = between;
      while (node != h && node != 0) node = head_of(heads, node);
      if (node != h) return false;
    }
  }
  return true;
}

std::vector<std::pair<Heads, double>> projective_trees(const Problem& problem, Root root) {
  const PrecisionScope scope(kEnumerationDigits);
  const Forest forest = grow(problem, root);
  std::vector<std::pair<Heads, double>> trees;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    trees.emplace_back(forest.trees[t],
                       Real(forest.weights[t] / forest.total).convert_to<double>());
  }
  return trees;
}

Answer enumerate_projective(const Problem& problem, Root root) {
  const PrecisionScope scope(kEnumerationDigits);
  const Forest forest = grow(problem, root);
  if (forest.trees.empty()) return {false, kNaN, kNaN, {}, kNaN};
  Real log_total = log(forest.total);
  if (forest.trees.size() == 1) log_total = forest.scores[0];
  std::vector<Real> marginals(problem.scores.size(), Real(0));
  Real entropy = 0;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Real probability = forest.weights[t] / forest.total;
    for (int m = 1; m <= problem.n; ++m) {
      marginals[cell(problem.n, head_of(forest.trees[t], m), m)] += probability;
    }
    entropy += probability * (log_total - forest.scores[t]);
  }
  Answer answer{true, log_total.convert_to<double>(), entropy.convert_to<double>(), {}, kNaN};
  for (const Real& marginal : marginals) answer.marginals.push_back(marginal.convert_to<double>());
  return answer;
}

std::vector<double> projective_derivative(const Problem& problem, Root root,
                                          const std::vector<double>& direction) {
  const PrecisionScope scope(kEnumerationDigits);
  const Forest forest = grow(problem, root);
  if (forest.trees.empty()) return {};
  const auto edge = [&](std::size_t t, int m) {
    return cell(problem.n, head_of(forest.trees[t], m), m);
  };
  std::vector<Real> joint(problem.scores.size(), Real(0));  // E[edge * sum of directions]
  std::vector<Real> marginals(problem.scores.size(), Real(0));
  Real mean = 0;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Real probability = forest.weights[t] / forest.total;
    Real sum = 0;
    for (int m = 1; m <= problem.n; ++m) sum += Real(direction[edge(t, m)]);
    mean += probability * sum;
    for (int m = 1; m <= problem.n; ++m) {
      joint[edge(t, m)] += probability * sum;
      marginals[edge(t, m)] += probability;
    }
  }
  std::vector<double> derivative;
  for (std::size_t c = 0; c < joint.size(); ++c) {
    derivative.push_back(Real(joint[c] - marginals[c] * mean).convert_to<double>());
  }
  return derivative;
}

namespace {

namespace mp = boost::multiprecision;
// On the stack, because the chart makes hundreds of millions of them.
using Number = mp::number<mp::mpfr_float_backend<60, mp::allocate_stack>, mp::et_off>;

// Tables over pairs of nodes (i, j), i <= j, with adjoints beside the values. Head-split spans:
// `right` and `left` are complete spans whose head is the first or the last node, `open` is what
// an edge between i and j closes. ROOT is node 0 and, single-root, takes part only at the very end.
class Table {
 public:
  Table(const Problem& problem, Root root)
      : problem_(problem), single_(root == Root::kSingle), nodes_(problem.n + 1) {
    const std::size_t cells = problem.scores.size();
    for (auto* values : {&weight_, &right_, &left_, &open_}) values->assign(cells, Number(0));
    for (int h = 0; h < nodes_; ++h) {
      for (int m = 1; m < nodes_; ++m) {
        if (has_edge(problem, h, m)) weight_[at(h, m)] = exp(Number(problem.scores[at(h, m)]));
      }
    }
  }

  Number inside() {
    const int first = single_ ? 1 : 0;
    for (int i = nodes_ - 1; i >= first; --i) {  // By rows, from the last start to the first.
      right_[at(i, i)] = left_[at(i, i)] = 1;
      for (int j = i + 1; j < nodes_; ++j) {
        Number open = 0;
        for (int k = i; k < j; ++k) open += right_[at(i, k)] * left_[at(k + 1, j)];
        open_[at(i, j)] = open;
        Number left = 0;
        for (int k = i; k < j; ++k) {
          left += left_[at(i, k)] * open_[at(k, j)] * weight_[at(j, k)];
        }
        left_[at(i, j)] = left;
        Number right = 0;
        for (int k = i + 1; k <= j; ++k) {
          right += open_[at(i, k)] * weight_[at(i, k)] * right_[at(k, j)];
        }
        right_[at(i, j)] = right;
      }
    }
    const int n = problem_.n;
    if (!single_) return right_[at(0, n)];
    Number z = 0;
    for (int m = 1; m <= n; ++m) z += weight_[at(0, m)] * left_[at(1, m)] * right_[at(m, n)];
    return z;
  }

  // dZ / dweight, by sending adjoints back through inside(), step by step in the opposite order.
  std::vector<Number> outside() {
    const std::size_t cells = problem_.scores.size();
    std::vector<Number> weight(cells, Number(0));
    std::vector<Number> right = weight;
    std::vector<Number> left = weight;
    std::vector<Number> open = weight;
    const int n = problem_.n;
    const int first = single_ ? 1 : 0;
    if (single_) {
      for (int m = 1; m <= n; ++m) {
        weight[at(0, m)] += left_[at(1, m)] * right_[at(m, n)];
        left[at(1, m)] += weight_[at(0, m)] * right_[at(m, n)];
        right[at(m, n)] += weight_[at(0, m)] * left_[at(1, m)];
      }
    } else {
      right[at(0, n)] = 1;
    }
    for (int i = first; i < nodes_; ++i) {
      for (int j = nodes_ - 1; j > i; --j) {
        const Number of_right = right[at(i, j)];
        for (int k = i + 1; k <= j; ++k) {
          const Number part = of_right * right_[at(k, j)];
          open[at(i, k)] += part * weight_[at(i, k)];
          weight[at(i, k)] += part * open_[at(i, k)];
          right[at(k, j)] += of_right * open_[at(i, k)] * weight_[at(i, k)];
        }
        const Number of_left = left[at(i, j)];
        for (int k = i; k < j; ++k) {
          const Number part = of_left * left_[at(i, k)];
          open[at(k, j)] += part * weight_[at(j, k)];
          weight[at(j, k)] += part * open_[at(k, j)];
          left[at(i, k)] += of_left * open_[at(k, j)] * weight_[at(j, k)];
        }
        const Number of_open = open[at(i, j)];
        for (int k = i; k < j; ++k) {
          right[at(i, k)] += of_open * left_[at(k + 1, j)];
          left[at(k + 1, j)] += of_open * right_[at(i, k)];
        }
      }
    }
    return weight;
  }

  const Number& weight(std::size_t c) const { return weight_[c]; }

 private:
  std::size_t at(int i, int j) const { return cell(problem_.n, i, j); }

  const Problem& problem_;
  bool single_;
  int nodes_;
  std::vector<Number> weight_;
  std::vector<Number> right_;
  std::vector<Number> left_;
  std::vector<Number> open_;
};

}  // namespace

Answer projective_chart(const Problem& problem, Root root, bool marginals) {
  check_problem(problem, "projective_chart");
  const PrecisionScope scope(60);  // For the range of the exponents.
  Table table(problem, root);
  const Number z = table.inside();
  if (z == 0) return {false, kNaN, kNaN, {}, kNaN};
  const Number log_z = log(z);
  Answer answer{true, log_z.convert_to<double>(), kNaN, {}, kNaN};
  if (!marginals) return answer;
  const std::vector<Number> gradient = table.outside();
  Number mean_score = 0;
  for (std::size_t c = 0; c < gradient.size(); ++c) {
    const Number p = gradient[c] * table.weight(c) / z;
    answer.marginals.push_back(p.convert_to<double>());
    if (p != 0) mean_score += p * Number(problem.scores[c]);
  }
  answer.entropy = Number(log_z - mean_score).convert_to<double>();
  return answer;
}

}  // namespace taproot::oracle
