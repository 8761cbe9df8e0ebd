// SPDX-License-Identifier: Apache-2.0
#include "taproot/batch.h"

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "property/check.h"
#include "testing/families.h"

namespace taproot {
namespace {

// Sentences of many lengths, three of them without an answer.
class Batch : public testing::Test {
 protected:
  Batch() {
    for (int i = 0; i < 40; ++i) {
      problems_.push_back(oracle::gaussian(1 + i * 7 % 31, 3, static_cast<std::uint64_t>(i)));
    }
    problems_[5].scores.assign(problems_[5].scores.size(), -HUGE_VAL);
    problems_[17].scores[1] = std::nan("");
    std::vector<ScoreView> views;
    for (const auto& problem : problems_) views.emplace_back(problem.scores.data(), problem.n);
    views[23] = ScoreView(problems_[23].scores.data(), 0);
    scores_.emplace(views, RootRule::kSingle);
  }

  static Status expected_status(std::size_t sentence) {
    return sentence == 5    ? Status::kNoTree
           : sentence == 17 ? Status::kBadScore
           : sentence == 23 ? Status::kEmpty
                            : Status::kOk;
  }

  std::vector<oracle::Problem> problems_;
  std::optional<Scores> scores_;
};

TEST_F(Batch, AnswersAreThoseOfTheSentencesWhateverTheThreads) {
  constexpr double kUntouched = -12345;
  for (const int threads : {1, 2, 7}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    const std::size_t size = scores_->size();
    std::vector<Outcome> outcomes(size);
    std::vector<double> log_z(size, kUntouched);
    std::vector<double> h(size, kUntouched);
    std::vector<double> steps(size, kUntouched);
    std::vector<double> tries(size, kUntouched);
    std::vector<double> log_p(size, kUntouched);
    std::vector<std::vector<double>> p(size);
    std::vector<std::vector<double>> roots(size);
    std::vector<EdgeMatrix> p_out;
    std::vector<std::span<double>> roots_out;
    std::vector<Tree> chains(size);
    std::vector<TreeView> heads;
    for (std::size_t b = 0; b < size; ++b) {
      const int n = problems_[b].n;
      p[b].assign(problems_[b].scores.size(), kUntouched);
      roots[b].assign(static_cast<std::size_t>(n), kUntouched);
      p_out.push_back({p[b].data(), n + 1});
      roots_out.emplace_back(roots[b]);
      for (int m = 0; m < n; ++m) chains[b].push_back(m);
      heads.emplace_back(chains[b]);
    }
    log_partition(pool, *scores_, outcomes, log_z);
    entropy(pool, *scores_, outcomes, h);
    expected_steps(pool, *scores_, outcomes, steps);
    expected_tries(pool, *scores_, outcomes, tries);
    log_prob(pool, *scores_, heads, outcomes, log_p);
    marginals(pool, *scores_, outcomes, p_out);
    root_marginals(pool, *scores_, outcomes, roots_out);
    for (std::size_t b = 0; b < size; ++b) {
      ASSERT_EQ(outcomes[b].status, expected_status(b)) << b;
      if (!outcomes[b].ok()) {
        EXPECT_EQ(log_z[b], kUntouched);
        EXPECT_EQ(h[b], kUntouched);
        EXPECT_EQ(p[b][0], kUntouched);
        continue;
      }
      const Factorization f = factored(problems_[b], oracle::Root::kSingle);
      EXPECT_EQ(log_z[b], log_partition(f));
      EXPECT_EQ(h[b], entropy(f));
      EXPECT_EQ(steps[b], expected_steps(f));
      EXPECT_EQ(tries[b], expected_tries(f));
      EXPECT_EQ(log_p[b], log_prob(f, chains[b]));
      EXPECT_EQ(p[b], marginals(f));
      EXPECT_EQ(roots[b], root_marginals(f));
    }
    EXPECT_EQ(outcomes[17], (Outcome{Status::kBadScore, 0, 1}));
  }
}

TEST_F(Batch, ExpectationsAndDivergencesOfTwoBatches) {
  std::vector<oracle::Problem> others;
  std::vector<ScoreView> views;
  std::vector<std::span<const double>> values;
  for (std::size_t b = 0; b < problems_.size(); ++b) {
    others.push_back(oracle::gaussian(problems_[b].n, 2, 100 + b));
  }
  others[7].scores.assign(others[7].scores.size(), -HUGE_VAL);
  for (std::size_t b = 0; b < others.size(); ++b) {
    views.emplace_back(others[b].scores.data(), b == 23 ? 0 : others[b].n);
    values.emplace_back(others[b].scores);
  }
  const Scores q(views, RootRule::kSingle);
  for (const int threads : {1, 3}) {
    Pool pool(threads);
    std::vector<Outcome> outcomes(q.size());
    std::vector<double> mean(q.size());
    std::vector<double> cross(q.size());
    std::vector<double> kl(q.size());
    expectation(pool, *scores_, values, outcomes, mean);
    cross_entropy(pool, *scores_, q, outcomes, cross);
    kl_divergence(pool, *scores_, q, outcomes, kl);
    for (std::size_t b = 0; b < q.size(); ++b) {
      ASSERT_EQ(outcomes[b].status, b == 7 ? Status::kNoTree : expected_status(b)) << b;
      if (!outcomes[b].ok()) continue;
      const Factorization fp = factored(problems_[b], oracle::Root::kSingle);
      const Factorization fq = factored(others[b], oracle::Root::kSingle);
      EXPECT_EQ(mean[b], expectation(fp, values[b]));
      EXPECT_EQ(cross[b], cross_entropy(fp, fq));
      EXPECT_EQ(kl[b], kl_divergence(fp, fq));
    }
  }
  Pool pool(1);
  std::vector<Outcome> outcomes(q.size());
  std::vector<double> out(q.size());
  const Scores multi(views, RootRule::kMulti);
  const Scores fewer(std::vector<ScoreView>(views.begin(), views.end() - 1));
  std::rotate(views.begin(), views.begin() + 1, views.end());
  const Scores shifted(views);
  EXPECT_THROW(kl_divergence(pool, *scores_, multi, outcomes, out), std::invalid_argument);
  EXPECT_THROW(kl_divergence(pool, *scores_, fewer, outcomes, out), std::invalid_argument);
  EXPECT_THROW(kl_divergence(pool, *scores_, shifted, outcomes, out), std::invalid_argument);
}

// A visitor may run tasks of its own: no other sentence begins in its factorization meanwhile.
TEST_F(Batch, VisitorsMayRunTasksOfTheirOwn) {
  Pool pool(3);
  std::vector<Outcome> outcomes(scores_->size());
  std::vector<double> before(scores_->size());
  std::vector<double> after(scores_->size());
  for_each_factorization(pool, *scores_, outcomes,
                         [&](std::size_t b, const Factorization& f, Workspace&) {
                           before[b] = log_partition(f);
                           std::atomic<int> sum = 0;
                           tbb::parallel_for(0, 1000, [&](int i) { sum += i; });
                           after[b] = log_partition(f);
                         });
  EXPECT_EQ(before, after);
}

TEST_F(Batch, FactorizationsThatTheCallerKeeps) {
  for (const int threads : {1, 3}) {
    Pool pool(threads);
    std::vector<Factorization> kept(scores_->size());
    for_each_index(pool, kept.size(), [&](std::size_t b, Workspace& workspace) {
      eliminate((*scores_)[b], scores_->root_rule(), kept[b], workspace);
    });
    std::vector<Outcome> outcomes(kept.size());
    std::vector<double> log_z(kept.size());
    log_partition(pool, *scores_, outcomes, log_z);
    for (std::size_t b = 0; b < kept.size(); ++b) {
      EXPECT_EQ(kept[b].outcome(), outcomes[b]);
      if (outcomes[b].ok()) {
        EXPECT_EQ(log_partition(kept[b]), log_z[b]);
      }
    }
  }
}

TEST_F(Batch, WhatAVisitorThrowsIsRethrown) {
  for (const int threads : {1, 3}) {
    Pool pool(threads);
    std::vector<Outcome> outcomes(scores_->size());
    EXPECT_THROW(for_each_factorization(pool, *scores_, outcomes,
                                        [](std::size_t b, const Factorization&, Workspace&) {
                                          if (b == 11) throw std::runtime_error("stop");
                                        }),
                 std::runtime_error);
    std::vector<double> out(scores_->size());
    log_partition(pool, *scores_, outcomes, out);  // And the pool works on.
    EXPECT_EQ(out[0], log_partition(factored(problems_[0], oracle::Root::kSingle)));
  }
}

TEST_F(Batch, MisuseThrows) {
  Pool pool(1);
  std::vector<Outcome> outcomes(scores_->size());
  std::vector<double> out(scores_->size());
  EXPECT_THROW(Pool(-1), std::invalid_argument);
  EXPECT_THROW(log_partition(pool, *scores_, std::span(outcomes).first(3), out),
               std::invalid_argument);
  EXPECT_THROW(log_partition(pool, *scores_, outcomes, std::span(out).first(3)),
               std::invalid_argument);
  EXPECT_THROW(marginals(pool, *scores_, outcomes, {}), std::invalid_argument);
  const std::vector<std::span<double>> short_rows(scores_->size());
  EXPECT_THROW(root_marginals(pool, *scores_, outcomes, short_rows), std::invalid_argument);
  EXPECT_THROW(log_prob(pool, *scores_, {}, outcomes, out), std::invalid_argument);
}

TEST_F(Batch, EmptyBatch) {
  Pool pool(2);
  const Scores none(std::vector<ScoreView>{});
  log_partition(pool, none, {}, {});
  EXPECT_EQ(none.size(), 0U);
}

}  // namespace
}  // namespace taproot
