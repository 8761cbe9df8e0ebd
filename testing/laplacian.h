// SPDX-License-Identifier: Apache-2.0
// The Matrix-Tree theorem in multiprecision, with error bounds.
#pragma once

#include <optional>
#include <vector>

#include "testing/oracle.h"
#include "testing/real.h"

namespace taproot::oracle {

// The distribution of a feasible problem. Scores are scaled: S'[h][m] = S[h][m] - c_m (and one more
// constant for the ROOT row if single-root), which adds `offset` to the log-weight of every tree.
struct Inference {
  std::vector<Real> scaled_scores;  // [n+1][n+1]; 0 where there is no edge
  Real offset;
  Bounded log_det;  // log-partition = offset + log_det
  Bounded entropy;
  std::vector<Bounded> marginals;  // [n+1][n+1]
  Bounded expected_steps;
};

// Evaluates at unit roundoff 10^-digits, inside a PrecisionScope with guard digits (see
// Evaluation). `possible` is possible_edges(problem, root) and must not be all false.
// Returns nullopt if the matrix is singular as far as that many digits can tell.
std::optional<Inference> infer(const Problem& problem, Root root, const std::vector<bool>& possible,
                               int digits);

// The derivative of the marginals when the scores move along `direction`; otherwise as infer().
std::optional<std::vector<Bounded>> infer_derivative(const Problem& problem, Root root,
                                                     const std::vector<bool>& possible,
                                                     const std::vector<double>& direction,
                                                     int digits);

}  // namespace taproot::oracle
