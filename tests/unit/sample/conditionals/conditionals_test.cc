// SPDX-License-Identifier: Apache-2.0
//
// The two forms of a head's law given the heads before it: contraction against enumeration, rows
// against contraction and their own error bound.
#include "sample/conditionals/conditionals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/random.h"
#include "property/check.h"
#include "sample/conditionals/contraction.h"
#include "sample/conditionals/row_path.h"
#include "testing/families.h"
#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

using oracle::Problem;
using oracle::Root;

struct Sentence {
  Factorization f;
  Workspace workspace;
  Conditionals conditionals;

  Sentence(const Problem& problem, Root root) : f(factored(problem, root)) {
    conditionals.build(Access::data(f), Access::scratch(workspace));
    conditionals.widen(Access::scratch(workspace));
  }
};

// Mass of the oracle's trees whose nodes before i have these heads, by the head of i.
std::vector<double> enumerated_law(const Conditionals& c,
                                   const std::vector<std::pair<Tree, double>>& trees, int sink,
                                   int i, const std::vector<std::int32_t>& heads) {
  std::vector<double> law(static_cast<std::size_t>(c.n()) + 1);
  double total = 0;
  for (const auto& [tree, p] : trees) {
    std::vector<std::int32_t> nodes(static_cast<std::size_t>(c.n()) + 1);
    c.to_nodes(tree.data(), nodes.data());
    bool agrees = sink == 0 || nodes[static_cast<std::size_t>(sink)] == 0;
    for (int k = 1; k < i; ++k) {
      const auto at = static_cast<std::size_t>(k);
      agrees &= k == sink || nodes[at] == heads[at];
    }
    if (!agrees) continue;
    law[static_cast<std::size_t>(nodes[static_cast<std::size_t>(i)])] += p;
    total += p;
  }
  for (double& p : law) p /= total;
  return law;
}

template <typename T>
void expect_enumerated(const Problem& problem, Root root) {
  Sentence sentence(problem, root);
  const Conditionals& c = sentence.conditionals;
  const auto trees = oracle::all_trees(problem, root);
  for (const auto& [tree, probability] : trees) {
    std::vector<std::int32_t> heads(static_cast<std::size_t>(c.n()) + 1);
    c.to_nodes(tree.data(), heads.data());
    int sink = 0;
    if (root == Root::kSingle) {
      for (int i = 1; i <= c.n(); ++i) sink = heads[static_cast<std::size_t>(i)] == 0 ? i : sink;
    }
    Contraction<T> contraction;
    contraction.start(c, sink);
    std::vector<T> p(c.ld());
    for (int i = 1; i <= c.n(); ++i) {
      if (i == sink) continue;
      contraction.probabilities(i, heads.data(), p.data());
      const std::vector<double> exact = enumerated_law(c, trees, sink, i, heads);
      for (int h = 0; h <= c.n(); ++h) {
        const double truth = exact[static_cast<std::size_t>(h)];
        EXPECT_NEAR(to_double(p[static_cast<std::size_t>(h)]), truth, 1e-12 * truth);
      }
    }
  }
}

TEST(Contraction, HasTheEnumeratedLawToTheLastDigits) {
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    for (const Problem& problem : {oracle::gaussian(4, 3, 1), oracle::attractor_pairs(4, 25, 2),
                                   oracle::sparse(4, 0.8, 5), oracle::heavy_tailed(4, 3)}) {
      if (!factored(problem, root).outcome().ok()) continue;
      for_each_target([&] { expect_enumerated<double>(problem, root); });
      expect_enumerated<Wide>(problem, root);
    }
  }
}

// A call for a word before the last one begins afresh.
TEST(Contraction, GoesBack) {
  Sentence sentence(oracle::gaussian(20, 2, 1), Root::kMulti);
  const Conditionals& c = sentence.conditionals;
  std::vector<std::int32_t> heads(21, 0);
  std::vector<double> first(c.ld());
  std::vector<double> again(c.ld());
  Contraction<double> contraction;
  contraction.start(c, 0);
  contraction.probabilities(3, heads.data(), first.data());
  contraction.probabilities(11, heads.data(), again.data());
  contraction.probabilities(3, heads.data(), again.data());
  EXPECT_EQ(first, again);
}

// The largest error of the row form as a part of its bound, along trees drawn by the law (rare =
// false) or with heads by lot, which has prefixes of any improbability. Only where rows would be
// used: 1e-9 and less.
double worst_error(const Problem& problem, Root root, bool rare) {
  Sentence sentence(problem, root);
  const Conditionals& c = sentence.conditionals;
  double worst = 0;
  for (std::uint32_t s = 0; s < (c.n() > 50 ? 20U : 100U); ++s) {
    Stream stream(stream_key(1, 0), s, Purpose::kTree);
    int sink = 0;
    while (c.single() && !(sink > 0 && c.roots<double>()[sink] > 0)) {
      sink = 1 + static_cast<int>(stream.uniform() * c.n());
    }
    if (!(row_error(c.visits(sink), 1) <= 1e-9)) continue;
    RowPath rows;
    Contraction<double> contraction;
    rows.start(c, sink);
    contraction.start(c, sink);
    std::vector<std::int32_t> heads(static_cast<std::size_t>(c.n()) + 1);
    std::vector<double> p(c.ld());
    std::vector<double> exact(c.ld());
    for (int i = 1; i <= c.n(); ++i) {
      if (i == sink) continue;
      rows.compute(i);
      rows.probabilities(i, p.data());
      if (!(rows.error() <= 1e-9)) break;
      contraction.probabilities(i, heads.data(), exact.data());
      double running = 0;
      int count = 0;
      int head = 0;
      bool chosen = false;
      const double u = stream.uniform();
      for (std::size_t h = 0; h < p.size(); ++h) {
        worst = std::max(worst, std::abs(p[h] - exact[h]) / rows.error());
        if (!(exact[h] > 0)) continue;
        running += exact[h];
        if (rare ? stream.uniform() * ++count < 1 : !chosen) head = static_cast<int>(h);
        chosen |= running > u;
      }
      heads[static_cast<std::size_t>(i)] = head;
      rows.decide(i, head);
    }
  }
  return worst;
}

TEST(RowPath, ErrsLessThanItSays) {
  std::vector<std::pair<std::string, Problem>> problems;
  for (const int n : {8, 20, 40, 100}) {
    const auto add = [&](const std::string& label, const Problem& problem) {
      problems.emplace_back(label + std::to_string(n), problem);
    };
    const auto seed = static_cast<std::uint64_t>(n);
    add("uniform-", oracle::uniform(n));
    for (const double sigma : {1.0, 3.0, 6.0, 10.0}) {
      add("gaussian-", oracle::gaussian(n, sigma, seed));
    }
    for (const double gap : {2.0, 5.0, 8.0, 12.0}) {
      add("pairs-", oracle::attractor_pairs(n, gap, seed));
      add("rings-", oracle::rings(n, 3, gap, seed));
    }
    add("wide-", oracle::wide_range(n, 8, seed));
    add("few-heads-", oracle::near_empty_columns(n, seed));
  }
  double worst = 0;
  for (const auto& [label, problem] : problems) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      for (const bool rare : {false, true}) {
        const double error = worst_error(problem, root, rare);
        EXPECT_LT(error, 1) << label << " " << name(root) << (rare ? " rare" : "");
        worst = std::max(worst, error);
      }
    }
  }
  EXPECT_GT(worst, 1e-3);  // The bound says something.
}

}  // namespace
}  // namespace taproot::detail
