// SPDX-License-Identifier: Apache-2.0
//
// Every question of DependencyTrees beyond log Z, marginals and entropy, wherever it is asked:
// identities between answers, and the answers of single sentences on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "property/check.h"
#include "property/everywhere.h"
#include "testing/linear_congruential.h"

namespace taproot {
namespace {

using oracle::Problem;

class Questions : public Everywhere {
 protected:
  static std::size_t side(const Problem& p) { return static_cast<std::size_t>(p.n) + 1; }
  static Factorization factored(const Problem& p, RootRule root) {
    return eliminate(ScoreView(p.scores.data(), p.n), root);
  }
  using Pair = std::vector<Outcome> (DependencyTrees::*)(DependencyTrees&, std::span<double>);
  std::vector<double> compare(Pair ask, const std::vector<Problem>& p,
                              const std::vector<Problem>& q, RootRule root) {
    DependencyTrees of_p = trees(p, root);
    DependencyTrees of_q = trees(q, root);
    std::vector<double> out(p.size(), -7);
    (of_p.*ask)(of_q, out);
    return out;
  }
};

// The same sentences with other scores, and the same edges.
std::vector<Problem> moved(std::vector<Problem> problems) {
  double x = 0;
  for (Problem& p : problems) {
    for (double& s : p.scores) s += std::sin(++x);
  }
  return problems;
}

TEST_P(Questions, RootMarginalsAreTheFirstRow) {
  const std::vector<Problem> problems = mixed_problems();
  for (const RootRule root : kRules) {
    DependencyTrees t = trees(problems, root);
    std::vector<std::vector<double>> roots;
    for (const Problem& p : problems) roots.emplace_back(p.n, -7);
    std::vector<double*> out;
    for (auto& of_sentence : roots) out.push_back(of_sentence.data());
    t.root_marginals(out);
    const Answers found = ask(t);
    for (std::size_t b = 0; b < problems.size(); ++b) {
      for (std::size_t m = 1; m < side(problems[b]); ++m) {
        if (found.outcomes[b].ok()) {
          EXPECT_NEAR(roots[b][m - 1], found.marginals[b][m], bound(1e-13, 1e-5)) << b;
        } else {
          EXPECT_TRUE(std::isnan(roots[b][m - 1]));
        }
      }
    }
  }
}

TEST_P(Questions, ExpectationIsASumOverMarginals) {
  const std::vector<Problem> problems = mixed_problems();
  for (const RootRule root : kRules) {
    DependencyTrees t = trees(problems, root);
    const Answers found = ask(t);
    std::vector<std::vector<double>> values;
    std::vector<ConstEdgeMatrix> matrices;
    for (const Problem& p : problems) {
      const std::size_t stride = side(p) + 3;
      values.emplace_back(side(p) * stride, NAN);
      for (std::size_t i = 0; i < side(p) * side(p); ++i) {
        double& v = values.back()[i / side(p) * stride + i % side(p)];
        // What is forbidden is in no tree, so that its value does not count.
        v = p.scores[i] == -HUGE_VAL ? HUGE_VAL : std::sin(static_cast<double>(i));
      }
    }
    for (std::size_t b = 0; b < problems.size(); ++b) {
      matrices.push_back({values[b].data(), static_cast<std::ptrdiff_t>(side(problems[b]) + 3)});
    }
    std::vector<double> out(problems.size(), -7);
    const std::vector<Outcome> outcomes = t.expectation(matrices, out);
    for (std::size_t b = 0; b < problems.size(); ++b) {
      ASSERT_EQ(outcomes[b], found.outcomes[b]);
      if (!outcomes[b].ok()) {
        EXPECT_TRUE(std::isnan(out[b]));
        continue;
      }
      double exact = 0;
      for (std::size_t i = 0; i < found.marginals[b].size(); ++i) {
        const double p = found.marginals[b][i];
        if (p > 0) exact += p * std::sin(static_cast<double>(i));
      }
      EXPECT_NEAR(out[b], exact, 1e-11 * problems[b].n) << b;
    }
  }
}

// A value that is not finite counts at an edge that some tree has, and nowhere else, also if the
// edge's marginal rounds to 1e-17: 1 -> 2 is allowed here, and in no tree.
TEST_P(Questions, ValuesThatAreNotFinite) {
  constexpr double kNo = -HUGE_VAL;
  const Problem problem{
      4, {0, kNo, 0, 0, kNo, 0, 0, 0, 0, 2, 0, -1, 0, -1, -1, 0, kNo, 0, 0, kNo, 0, 0, kNo, 0, 0}};
  std::vector<double> values(25, 0.0);
  std::vector<double> moved_by(25);
  for (const std::size_t cell : {std::size_t{1 * 5 + 2}, std::size_t{0 * 5 + 3}}) {
    std::fill(values.begin(), values.end(), 0.0);
    values[cell] = std::nan("");
    const bool counts = cell == 0 * 5 + 3;
    DependencyTrees t = trees_of(problem, RootRule::kSingle);
    const ConstEdgeMatrix in{values.data(), 5};
    const EdgeMatrix to{moved_by.data(), 5};
    std::vector<double> out(1);
    t.expectation({&in, 1}, out);
    t.hessian_product({&in, 1}, {&to, 1});
    EXPECT_EQ(std::isnan(out[0]), counts);
    for (const double x : moved_by) EXPECT_EQ(std::isnan(x), counts);
    if (!counts) {
      EXPECT_EQ(out[0], 0);
    }
  }
}

TEST_P(Questions, DivergencesAndTheEntropy) {
  const std::vector<Problem> p = mixed_problems();
  const std::vector<Problem> q = moved(p);
  for (const RootRule root : kRules) {
    const Answers found = answers(p, root);
    const auto cross = compare(&DependencyTrees::cross_entropy, p, q, root);
    const auto kl = compare(&DependencyTrees::kl_divergence, p, q, root);
    const auto own_cross = compare(&DependencyTrees::cross_entropy, p, p, root);
    const auto own_kl = compare(&DependencyTrees::kl_divergence, p, p, root);
    DependencyTrees itself = trees(p, root);
    std::vector<double> same(p.size());
    itself.cross_entropy(itself, same);
    for (std::size_t b = 0; b < p.size(); ++b) {
      SCOPED_TRACE(testing::Message() << "problem " << b << " n " << p[b].n);
      if (!found.outcomes[b].ok()) {
        EXPECT_TRUE(std::isnan(cross[b]) && std::isnan(kl[b]));
        continue;
      }
      const Factorization f = factored(p[b], root);
      const Factorization g = factored(q[b], root);
      const double size = std::max(1.0, found.entropy[b]);
      EXPECT_NEAR(cross[b], cross_entropy(f, g), bound(1e-11, 1e-3) * size);
      EXPECT_NEAR(kl[b], kl_divergence(f, g), bound(1e-11, 1e-3) * size);
      EXPECT_GE(kl[b], 0);
      EXPECT_NEAR(kl[b], cross[b] - found.entropy[b], bound(1e-10, 2e-3) * size);
      EXPECT_NEAR(own_cross[b], found.entropy[b], bound(1e-11, 1e-4) * size);
      EXPECT_NEAR(own_kl[b], 0, bound(1e-12, 1e-4) * size);
      EXPECT_EQ(same[b], own_cross[b]);
    }
  }
}

// +inf exactly where q forbids an edge that some tree of p has.
TEST_P(Questions, DivergencesFromMissingTrees) {
  const Problem p = oracle::gaussian(6, 1, 1);
  Problem fewer = p;
  fewer.scores[2 * 7 + 3] = -HUGE_VAL;
  Problem forced = p;  // The only head of word 3 is ROOT, so that 0 -> 1 is in no single-root tree.
  for (std::size_t h = 1; h < 7; ++h) forced.scores[h * 7 + 3] = -HUGE_VAL;
  Problem more_forced = forced;
  more_forced.scores[1] = -HUGE_VAL;
  const std::vector<Problem> left = {p, fewer, p, forced};
  const std::vector<Problem> right = {fewer, p, p, more_forced};
  const auto kl = compare(&DependencyTrees::kl_divergence, left, right, RootRule::kSingle);
  EXPECT_EQ(kl[0], HUGE_VAL);
  EXPECT_LT(kl[1], HUGE_VAL);
  EXPECT_LT(kl[2], HUGE_VAL);
  EXPECT_LT(kl[3], HUGE_VAL);
  const auto multi = compare(&DependencyTrees::kl_divergence, left, right, RootRule::kMulti);
  EXPECT_EQ(multi[3], HUGE_VAL);
}

// The Hessian is symmetric, and does not see what all heads of a word have in common.
TEST_P(Questions, HessianProducts) {
  const std::vector<Problem> problems = mixed_problems();
  for (const RootRule root : kRules) {
    DependencyTrees t = trees(problems, root);
    const auto product = [&](auto&& value) {
      std::vector<std::vector<double>> v, out;
      std::vector<ConstEdgeMatrix> in;
      std::vector<EdgeMatrix> to;
      for (const Problem& p : problems) {
        v.emplace_back(side(p) * side(p));
        out.emplace_back(side(p) * side(p), -7);
        for (std::size_t i = 0; i < v.back().size(); ++i) v.back()[i] = value(i, i % side(p));
      }
      for (std::size_t b = 0; b < problems.size(); ++b) {
        in.push_back({v[b].data(), problems[b].n + 1});
        to.push_back({out[b].data(), problems[b].n + 1});
      }
      const std::vector<Outcome> outcomes = t.hessian_product(in, to);
      for (std::size_t b = 0; b < problems.size(); ++b) {
        if (!outcomes[b].ok()) out[b].clear();
      }
      return std::pair(v, out);
    };
    const auto [v, of_v] =
        product([](std::size_t i, std::size_t) { return std::sin(static_cast<double>(i)); });
    const auto [w, of_w] =
        product([](std::size_t i, std::size_t) { return std::cos(3.0 * static_cast<double>(i)); });
    const auto [c, of_c] =
        product([](std::size_t, std::size_t m) { return static_cast<double>(m); });
    for (std::size_t b = 0; b < problems.size(); ++b) {
      if (of_v[b].empty()) continue;
      SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
      double vw = 0;
      double wv = 0;
      for (std::size_t i = 0; i < of_v[b].size(); ++i) {
        vw += v[b][i] * of_w[b][i];
        wv += w[b][i] * of_v[b][i];
        EXPECT_NEAR(of_c[b][i], 0, 1e-13 * problems[b].n * problems[b].n);
      }
      EXPECT_NEAR(vw, wv, 1e-12 * problems[b].n * problems[b].n);
    }
  }
}

struct Decoded {
  std::vector<Outcome> outcomes;
  std::vector<Tree> heads;
  std::vector<double> log_prob;
  std::vector<double> score;
};

template <typename Ask>
Decoded decode(DependencyTrees& t, Ask&& ask_for) {
  Decoded d;
  std::vector<TreeOutput> out(t.size());
  d.log_prob.resize(t.size());
  d.score.resize(t.size());
  for (std::size_t b = 0; b < t.size(); ++b) d.heads.emplace_back(t.n(b), -7);
  for (std::size_t b = 0; b < t.size(); ++b) {
    out[b] = {d.heads[b].data(), t.n(b), nullptr, &d.log_prob[b], &d.score[b], 1};
  }
  d.outcomes = ask_for(t, out);
  return d;
}

// Decoded trees are those of the CPU. Of minimum Bayes risk this is so up to the rounding of the
// marginals, so that its value is compared.
TEST_P(Questions, DecodedTrees) {
  const std::vector<Problem> problems = mixed_problems();
  for (const RootRule root : kRules) {
    DependencyTrees t = trees(problems, root);
    const Decoded best = decode(t, [](DependencyTrees& d, auto& out) { return d.argmax(out); });
    const Decoded risk = decode(t, [](DependencyTrees& d, auto& out) { return d.mbr(out); });
    for (std::size_t b = 0; b < problems.size(); ++b) {
      SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
      const ScoreView view(problems[b].scores.data(), problems[b].n);
      const Factorization f = factored(problems[b], root);
      ASSERT_EQ(best.outcomes[b], f.outcome());
      ASSERT_EQ(risk.outcomes[b], f.outcome());
      if (!f.outcome().ok()) {
        EXPECT_EQ(best.heads[b], Tree(side(problems[b]) - 1, -1));
        EXPECT_EQ(risk.heads[b], Tree(side(problems[b]) - 1, -1));
        EXPECT_TRUE(std::isnan(best.log_prob[b]) && std::isnan(best.score[b]));
        continue;
      }
      const ScoredTree exact = argmax(view, root);
      EXPECT_EQ(best.heads[b], exact.heads);
      EXPECT_EQ(best.score[b], exact.score);
      const double size = std::max(1.0, std::abs(log_prob(f, exact.heads)));
      EXPECT_NEAR(best.log_prob[b], log_prob(f, exact.heads), bound(1e-11, 1e-4) * size);
      ASSERT_TRUE(is_tree(risk.heads[b], root));
      EXPECT_NEAR(expected_attachment(f, risk.heads[b]), expected_attachment(f, mbr(f)),
                  bound(1e-13, 1e-5));
      EXPECT_EQ(risk.score[b], score(view, risk.heads[b]));
    }
  }
}

// Scores with many ties, and masks of -inf, -1e9 and -1e12 beside them: the same tree everywhere.
TEST_P(Questions, TiesAndMasks) {
  LinearCongruential random(7);
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < samples(5000, 200); ++i) {
    const int n = 1 + static_cast<int>(random.below(i % 10 == 0 ? 40 : 12));
    Problem p{n, std::vector<double>(static_cast<std::size_t>((n + 1) * (n + 1)), -HUGE_VAL)};
    const double kept = i % 3 == 0 ? 1 : i % 3 == 1 ? 0.7 : 0.3;
    for (double& s : p.scores) {
      if (static_cast<double>(random.below(1000)) >= 1000 * kept) continue;
      const auto small = static_cast<double>(random.below(3));
      const auto fine = std::ldexp(static_cast<double>(random.below(20000)), -10);
      const double mask = i % 2 == 0 ? -1e9 : -1e12;
      s = i % 5 == 0             ? 0
          : i % 5 == 1           ? small
          : i % 5 == 2           ? fine
          : random.below(3) == 0 ? mask
                                 : small;
    }
    problems.push_back(std::move(p));
  }
  for (const RootRule root : kRules) {
    DependencyTrees t = trees(problems, root);
    const Decoded best = decode(t, [](DependencyTrees& d, auto& out) { return d.argmax(out); });
    for (std::size_t b = 0; b < problems.size(); ++b) {
      Tree exact(static_cast<std::size_t>(problems[b].n), -1);
      double exact_score = 0;
      Workspace workspace;
      const Outcome outcome = argmax(ScoreView(problems[b].scores.data(), problems[b].n), root,
                                     exact, &exact_score, workspace);
      ASSERT_EQ(best.outcomes[b], outcome) << b;
      ASSERT_EQ(best.heads[b], exact) << b;
      if (outcome.ok()) {
        ASSERT_EQ(best.score[b], exact_score) << b;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Questions, all_places(), name_of);

}  // namespace
}  // namespace taproot
