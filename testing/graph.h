// SPDX-License-Identifier: Apache-2.0
// What can be said of a problem without arithmetic: is there a tree, and which edges are in one.
#pragma once

#include <cstddef>
#include <vector>

#include "testing/oracle.h"

namespace taproot::oracle {

// Throws std::invalid_argument as documented at Problem; `where` prefixes the message.
void check_problem(const Problem& problem, const char* where);

// Index of edge head -> modifier in the row-major arrays of a problem of n words.
inline std::size_t cell(int n, int head, int modifier) {
  return static_cast<std::size_t>(head) * static_cast<std::size_t>(n + 1) +
         static_cast<std::size_t>(modifier);
}

// Whether the edge exists at all: a modifier that is a word, another head, a score above -inf.
bool has_edge(const Problem& problem, int head, int modifier);

// possible[cell(head, modifier)]: is the edge in some tree? All false iff there is no tree.
// O(n^3), exact.
std::vector<bool> possible_edges(const Problem& problem, Root root);

}  // namespace taproot::oracle
