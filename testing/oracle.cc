// SPDX-License-Identifier: Apache-2.0
#include "testing/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "testing/graph.h"
#include "testing/laplacian.h"
#include "testing/real.h"

namespace taproot::oracle {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has_tree(const std::vector<bool>& possible) {
  return std::find(possible.begin(), possible.end(), true) != possible.end();
}

bool is_tree(const Problem& problem, Root root, const std::vector<std::int32_t>& heads) {
  const int n = problem.n;
  if (root == Root::kSingle && std::count(heads.begin(), heads.end(), 0) != 1) return false;
  for (int m = 1; m <= n; ++m) {
    if (!has_edge(problem, heads[static_cast<std::size_t>(m - 1)], m)) return false;
    int node = m;
    for (int steps = 0; node != 0; ++steps) {
      if (steps > n) return false;
      node = heads[static_cast<std::size_t>(node - 1)];
    }
  }
  return true;
}

// -sum p log q, less the entropy of p if `relative`.
double compare(const Problem& p, const Problem& q, Root root, bool relative, const char* where) {
  check_problem(p, where);
  check_problem(q, where);
  if (p.n != q.n) throw std::invalid_argument(std::string("[") + where + "] p.n and q.n differ");
  const std::vector<bool> possible_p = possible_edges(p, root);
  const std::vector<bool> possible_q = possible_edges(q, root);
  if (!has_tree(possible_p) || !has_tree(possible_q)) return kNaN;
  // If q allowed every edge of a tree of p, that tree would be one of q's: a missing edge is the
  // only way to +inf.
  for (std::size_t c = 0; c < possible_p.size(); ++c) {
    if (possible_p[c] && !possible_q[c]) return kInfinity;
  }
  return certify([&](int digits) -> std::optional<std::vector<Bounded>> {
    const std::optional<Inference> ip = infer(p, root, possible_p, digits);
    if (!ip) return std::nullopt;
    const std::optional<Inference> iq = infer(q, root, possible_q, digits);
    if (!iq) return std::nullopt;
    Bounded sum = iq->log_det;
    for (std::size_t c = 0; c < possible_p.size(); ++c) {
      if (!possible_p[c]) continue;
      sum.value -= ip->marginals[c].value * iq->scaled_scores[c];
      sum.error += ip->marginals[c].error * abs(iq->scaled_scores[c]);
    }
    if (relative) {
      sum.value -= ip->entropy.value;
      sum.error += ip->entropy.error;
    }
    return std::vector<Bounded>{sum};
  })[0];
}

}  // namespace

Answer matrix_tree(const Problem& problem, Root root) {
  check_problem(problem, "matrix_tree");
  const std::vector<bool> possible = possible_edges(problem, root);
  if (!has_tree(possible)) return {false, kNaN, kNaN, {}, kNaN};
  const std::vector<double> rounded =
      certify([&](int digits) -> std::optional<std::vector<Bounded>> {
        std::optional<Inference> inference = infer(problem, root, possible, digits);
        if (!inference) return std::nullopt;
        std::vector<Bounded> results = std::move(inference->marginals);
        results.push_back({inference->offset + inference->log_det.value, inference->log_det.error});
        results.push_back(inference->entropy);
        results.push_back(inference->expected_steps);
        return results;
      });
  const std::size_t cells = problem.scores.size();
  return {true, rounded[cells], rounded[cells + 1],
          std::vector<double>(rounded.data(), rounded.data() + cells), rounded[cells + 2]};
}

std::vector<double> marginals_derivative(const Problem& problem, Root root,
                                         const std::vector<double>& direction) {
  check_problem(problem, "marginals_derivative");
  if (direction.size() != problem.scores.size()) {
    throw std::invalid_argument("[marginals_derivative] direction must have (n+1)^2 entries");
  }
  const std::vector<bool> possible = possible_edges(problem, root);
  if (!has_tree(possible)) return {};
  return certify(
      [&](int digits) { return infer_derivative(problem, root, possible, direction, digits); });
}

double log_prob(const Problem& problem, Root root, const std::vector<std::int32_t>& heads) {
  check_problem(problem, "log_prob");
  const int n = problem.n;
  if (heads.size() != static_cast<std::size_t>(n) ||
      std::any_of(heads.begin(), heads.end(), [n](std::int32_t h) { return h < 0 || h > n; })) {
    throw std::invalid_argument("[log_prob] heads must be n numbers in [0, n]");
  }
  const std::vector<bool> possible = possible_edges(problem, root);
  if (!has_tree(possible)) return kNaN;
  if (!is_tree(problem, root, heads)) return -kInfinity;
  return certify([&](int digits) -> std::optional<std::vector<Bounded>> {
    const std::optional<Inference> inference = infer(problem, root, possible, digits);
    if (!inference) return std::nullopt;
    Bounded sum{-inference->log_det.value, inference->log_det.error};
    for (int m = 1; m <= n; ++m) {
      sum.value += inference->scaled_scores[cell(n, heads[static_cast<std::size_t>(m - 1)], m)];
    }
    return std::vector<Bounded>{sum};
  })[0];
}

double expected_tries(const Problem& problem) {
  check_problem(problem, "expected_tries");
  const std::vector<bool> single = possible_edges(problem, Root::kSingle);
  const std::vector<bool> multi = possible_edges(problem, Root::kMulti);
  if (!has_tree(multi)) return kNaN;
  if (!has_tree(single)) return kInfinity;
  return certify([&](int digits) -> std::optional<std::vector<Bounded>> {
    const std::optional<Inference> one = infer(problem, Root::kSingle, single, digits);
    if (!one) return std::nullopt;
    const std::optional<Inference> any = infer(problem, Root::kMulti, multi, digits);
    if (!any) return std::nullopt;
    const Real ratio = exp((any->offset - one->offset) + (any->log_det.value - one->log_det.value));
    return std::vector<Bounded>{{ratio, 2 * ratio * (any->log_det.error + one->log_det.error)}};
  })[0];
}

double cross_entropy(const Problem& p, const Problem& q, Root root) {
  return compare(p, q, root, false, "cross_entropy");
}

double kl_divergence(const Problem& p, const Problem& q, Root root) {
  return compare(p, q, root, true, "kl_divergence");
}

}  // namespace taproot::oracle
