// SPDX-License-Identifier: Apache-2.0
//
// What the tests draw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taproot/taproot.h"

namespace taproot {

using Strings = std::vector<std::string>;

struct Example {
  const char* name;
  Strings words;
  Tree heads;
  Strings labels;
};

/// A crossing, and every kind of text that has broken a drawing somewhere.
inline std::vector<Example> examples() {
  return {
      {"telescope",
       {"I", "saw", "the", "man", "with", "the", "telescope", "."},
       {2, 0, 4, 2, 7, 7, 2, 2},
       {}},
      {"hearing",
       {"A", "hearing", "is", "scheduled", "on", "the", "issue", "today"},
       {2, 4, 4, 0, 7, 7, 2, 4},
       {"det", "nsubj:pass", "aux:pass", "root", "case", "det", "nmod", "obl:tmod"}},
      {"hostile",
       {"<script>alert(1)</script>", "\u05e9\u05dc\u05d5\u05dd", "\u6f22\u5b57",
        "\U0001F469\u200D\U0001F469\u200D\U0001F467", "e\u0301t\u00e9", "a\x1b[31m", "\"q'&]]>",
        "\xff\u202e"},
       {2, 0, 2, 3, 8, 5, 2, 2},
       {"</text>", "\u6f22", "a\"b", "&amp;", "\x07", "", "x", "y"}},
      {"numbers", {}, {0, 1, 0}, {}},
  };
}

/// Numbers from a fixed sequence.
class Sequence {
 public:
  explicit Sequence(std::uint32_t seed) : state_(seed) {}
  /// From 0 to below `end`.
  int below(int end) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<int>((state_ >> 8U) % static_cast<std::uint32_t>(end));
  }

 private:
  std::uint32_t state_;
};

/// Any tree, projective or not: words in random order, each below one before it.
inline Tree random_tree(int n, Sequence& random) {
  std::vector<std::int32_t> order{0};
  for (int m = 1; m <= n; ++m) {
    order.insert(order.begin() + 1 + random.below(static_cast<int>(order.size())), m);
  }
  Tree heads(static_cast<std::size_t>(n));
  for (std::size_t i = 1; i < order.size(); ++i) {
    heads[static_cast<std::size_t>(order[i]) - 1] =
        order[static_cast<std::size_t>(random.below(static_cast<int>(i)))];
  }
  return heads;
}

/// A tree without crossings over words first..last, under `above`.
inline void fill_projective(int first, int last, int above, Sequence& random, Tree& heads) {
  for (int begin = first; begin <= last;) {
    const int end = begin + random.below(last - begin + 1);
    const int head = begin + random.below(end - begin + 1);
    heads[static_cast<std::size_t>(head) - 1] = above;
    fill_projective(begin, head - 1, head, random, heads);
    fill_projective(head + 1, end, head, random, heads);
    begin = end + 1;
  }
}
inline Tree random_projective_tree(int n, Sequence& random) {
  Tree heads(static_cast<std::size_t>(n));
  const int root = 1 + random.below(n);
  heads[static_cast<std::size_t>(root) - 1] = 0;
  fill_projective(1, root - 1, root, random, heads);
  fill_projective(root + 1, n, root, random, heads);
  return heads;
}

/// The marginals of scores that prefer `heads` by `margin` nats.
inline std::vector<double> marginals_near(const Tree& heads, double margin, Sequence& random) {
  const std::size_t side = heads.size() + 1;
  std::vector<double> scores(side * side);
  for (double& score : scores) score = random.below(1000) / 500.0;
  for (std::size_t m = 1; m < side; ++m) {
    scores[static_cast<std::size_t>(heads[m - 1]) * side + m] += margin;
  }
  return marginals(eliminate({scores.data(), static_cast<int>(heads.size())}, RootRule::kMulti));
}

}  // namespace taproot
