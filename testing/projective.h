// SPDX-License-Identifier: Apache-2.0
// Projective trees: by enumeration, and by a chart in multiprecision.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "testing/oracle.h"

namespace taproot::oracle {

// Whether, for every edge h -> m, all words strictly between h and m descend from h, by that
// definition. `heads` must be a tree.
bool is_projective(const std::vector<std::int32_t>& heads);

// Every projective tree with its probability among these, in lexicographic order of the heads.
// n <= 6, else std::invalid_argument.
std::vector<std::pair<std::vector<std::int32_t>, double>> projective_trees(const Problem& problem,
                                                                           Root root);

// Sums over these trees. expected_steps is NaN. n <= 6, else std::invalid_argument.
Answer enumerate_projective(const Problem& problem, Root root);

// The same for any n by a chart over 60 digits, in which nothing is subtracted: O(n^3), some
// seconds at n = 300. Without `marginals`, the answer has no marginals and the entropy is NaN.
Answer projective_chart(const Problem& problem, Root root, bool marginals = true);

// d/dt of the marginals at scores + t direction, t = 0, over projective trees: from the covariance
// of edges under enumeration. n <= 6, else std::invalid_argument; empty if there is no tree.
std::vector<double> projective_derivative(const Problem& problem, Root root,
                                          const std::vector<double>& direction);

}  // namespace taproot::oracle
