// SPDX-License-Identifier: Apache-2.0
//
// Un-elimination is exact: the production template over rational numbers, with a chooser that goes
// through every sequence of choices, gives every tree its probability to the last digit.
#include <gtest/gtest.h>

#include <boost/multiprecision/gmp.hpp>
#include <map>
#include <vector>

#include "eliminate/factor.h"
#include "sample/un_elimination/un_eliminate-inl.h"
#include "taproot/tree.h"

namespace taproot {
namespace {

using Rational = boost::multiprecision::number<boost::multiprecision::gmp_rational,
                                               boost::multiprecision::et_off>;
using detail::EliminationTables;
using detail::RootColumn;

// Takes prescribed choices, then first ones, and remembers how many there were at each.
class Enumerator {
 public:
  int pick_head(const EliminationTables<Rational>& t, int k, int begin) {
    return pick(t.into(k), begin, k, t.pivot(k));
  }
  int pick(const Rational* weights, int begin, int end, const Rational& total) {
    std::vector<std::pair<int, Rational>> options;
    Rational sum = 0;
    for (int i = begin; i < end; ++i) {
      sum += weights[i];
      if (weights[i] > 0) options.emplace_back(i, weights[i] / total);
    }
    EXPECT_EQ(sum, total);
    return choose(options);
  }
  int pick_term(const Rational& direct, const Rational* a, const Rational* b, int begin, int end,
                const Rational& total) {
    std::vector<std::pair<int, Rational>> options;
    if (direct > 0) options.emplace_back(-1, direct / total);
    Rational sum = direct;
    for (int l = begin; l < end; ++l) {
      sum += a[l] * b[l];
      if (a[l] * b[l] > 0) options.emplace_back(l, a[l] * b[l] / total);
    }
    EXPECT_EQ(sum, total);  // The total needs no sum: it is the entry itself.
    return choose(options);
  }

  void restart() {
    depth_ = 0;
    probability_ = 1;
  }
  const Rational& probability() const { return probability_; }
  // On to the next sequence of choices; false after the last.
  bool advance() {
    while (!taken_.empty() && ++taken_.back().first == taken_.back().second) taken_.pop_back();
    return !taken_.empty();
  }

 private:
  int choose(const std::vector<std::pair<int, Rational>>& options) {
    if (depth_ == taken_.size()) taken_.emplace_back(0, options.size());
    const auto& [index, probability] = options[taken_[depth_++].first];
    probability_ *= probability;
    return index;
  }

  std::vector<std::pair<std::size_t, std::size_t>> taken_;  // (option, number of options)
  std::size_t depth_ = 0;
  Rational probability_ = 1;
};

struct Weights {
  int n;
  std::vector<int> values;  // [h][m]
  int operator()(int h, int m) const {
    return h == m ? 0 : values[static_cast<std::size_t>(h * (n + 1) + m)];
  }
};

using Law = std::map<Tree, Rational>;

// By definition; given_root 0 means any.
Law enumerated(const Weights& w, RootRule root, int given_root) {
  Law law;
  Rational total = 0;
  Tree heads(static_cast<std::size_t>(w.n), 0);
  while (true) {
    Rational product = 1;
    for (int m = 1; m <= w.n; ++m) product *= w(heads[static_cast<std::size_t>(m - 1)], m);
    const bool wanted = given_root == 0 || heads[static_cast<std::size_t>(given_root - 1)] == 0;
    if (product > 0 && wanted && is_tree(heads, root)) {
      law[heads] = product;
      total += product;
    }
    std::size_t i = 0;
    while (i < heads.size() && ++heads[i] > w.n) heads[i++] = 0;
    if (i == heads.size()) break;
  }
  for (auto& [tree, p] : law) p /= total;
  return law;
}

// Words keep their order as positions, so that every order of elimination occurs over the graphs.
Law un_eliminated(const Weights& w, RootRule root, int given_root) {
  const auto ld = static_cast<std::size_t>(w.n) + 2;
  std::vector<Rational> matrix(ld * ld);
  std::vector<Rational> direct(ld * ld);
  for (int m = 1; m <= w.n; ++m) {
    for (int h = 0; h <= w.n; ++h) {
      const std::size_t at = static_cast<std::size_t>(m) * ld + static_cast<std::size_t>(h);
      matrix[at] = direct[at] = w(h, m);
    }
  }
  std::vector<Rational> pivot(ld);
  std::vector<Rational> share(ld * ld);
  std::vector<Rational> temporary(ld);
  detail::factor_simply(matrix.data(), ld, w.n, root, pivot.data(), temporary.data());
  for (int l = 2; l <= w.n; ++l) {
    for (int h = 0; h < l; ++h) {
      share[static_cast<std::size_t>(h) * ld + static_cast<std::size_t>(l)] =
          matrix[static_cast<std::size_t>(l) * ld + static_cast<std::size_t>(h)] /
          pivot[static_cast<std::size_t>(l)];
    }
  }
  const EliminationTables<Rational> tables{
      w.n, root, ld, matrix.data(), pivot.data(), share.data(), direct.data(), nullptr, 0};
  std::vector<Rational> root_direct(ld);
  std::vector<Rational> root_into(ld);
  std::vector<Rational> root_share(ld);
  for (int m = 1; m <= w.n; ++m) {
    root_direct[static_cast<std::size_t>(m)] =
        given_root == 0 ? Rational(w(0, m)) : Rational(m == given_root ? 1 : 0);
  }
  detail::eliminate_root_row(tables, root_direct.data(), root_into.data(), root_share.data());
  const RootColumn<Rational> column{root_into.data(), root_share.data(), root_direct.data()};
  std::vector<std::int32_t> head(ld);
  std::vector<std::int32_t> first(ld);
  std::vector<std::int32_t> next(ld);
  std::vector<std::int32_t> children(ld);
  std::vector<std::uint8_t> mark(ld);
  std::vector<Rational> weight(ld);
  detail::UnEliminationScratch<Rational> scratch{head.data(),     first.data(), next.data(),
                                                 children.data(), mark.data(),  weight.data()};
  Enumerator enumerator;
  Law law;
  do {
    enumerator.restart();
    detail::HWY_NAMESPACE::UnElimination<Rational, Enumerator>(tables, column, enumerator, scratch)
        .run();
    law[Tree(head.begin() + 1, head.begin() + 1 + w.n)] += enumerator.probability();
  } while (enumerator.advance());
  return law;
}

std::vector<Weights> graphs() {
  return {{1, {0, 3, 0, 0}},
          {2, {0, 1, 2, 0, 0, 3, 0, 5, 0}},
          {3, {0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0}},
          {3, {0, 7, 1, 2, 0, 0, 3, 5, 0, 2, 0, 11, 0, 4, 1, 0}},
          {3, {0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0}},     // The paper's Figure 1.
          {3, {0, 0, 2, 0, 0, 0, 3, 1, 0, 4, 0, 1, 0, 1, 9, 0}},     // One possible root.
          {3, {0, 1, 1, 1, 0, 0, 90, 1, 0, 80, 0, 1, 0, 1, 1, 0}}};  // A pair that attracts.
}

void expect_the_law(const Weights& w, RootRule root, int given_root) {
  const Law exact = enumerated(w, root, given_root);
  if (exact.empty()) return;
  EXPECT_EQ(un_eliminated(w, root, given_root), exact);
}

TEST(UnElimination, IsExactTreeByTree) {
  for (const Weights& w : graphs()) {
    // The last word must be a possible root under the single-root rule.
    const bool first_may_be_root = w(0, 1) > 0;
    if (first_may_be_root) expect_the_law(w, RootRule::kSingle, 0);
    expect_the_law(w, RootRule::kMulti, 0);
  }
}

TEST(UnElimination, IsExactGivenAnyRoot) {
  for (const Weights& w : graphs()) {
    for (int r = 1; r <= w.n; ++r) {
      if (w(0, 1) > 0 && w(0, r) > 0) expect_the_law(w, RootRule::kSingle, r);
    }
  }
}

TEST(UnElimination, IsExactForFourWords) {
  const Weights w{4, {0, 2, 1, 1, 3, 0, 0, 1, 2, 0, 0, 3, 0, 1, 1, 0, 0, 2, 0, 1, 0, 1, 1, 0, 0}};
  expect_the_law(w, RootRule::kSingle, 0);
  expect_the_law(w, RootRule::kMulti, 0);
  expect_the_law(w, RootRule::kSingle, 4);
}

}  // namespace
}  // namespace taproot
