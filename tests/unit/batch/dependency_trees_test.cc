// SPDX-License-Identifier: Apache-2.0
//
// A batch answers as its sentences do by themselves: whatever the threads, whatever it keeps, in
// whatever order it is asked.
#include "taproot/dependency_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "property/check.h"
#include "testing/misuse.h"
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

class Batch : public testing::TestWithParam<Rules> {
 protected:
  Batch() : questions_(all_questions(GetParam())) {
    for (const Question& question : questions_) {
      expected_.push_back(alone(question, sentences_, GetParam()));
    }
  }

  static BatchOptions options(bool keep = true) {
    BatchOptions made = GetParam().options();
    made.keep = keep;
    return made;
  }

  Sentences sentences_;
  std::vector<Question> questions_;
  std::vector<std::vector<Row>> expected_;
};

TEST_P(Batch, AnswersAsItsSentencesDo) {
  for (const int threads : {1, 2, 7}) {
    for (const bool keep : {true, false}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, keep " << keep);
      Pool pool(threads);
      ASSERT_EQ(pool.threads(), threads);
      DependencyTrees d(pool, sentences_.views(), options(keep));
      for (std::size_t q = 0; q < questions_.size(); ++q) {
        expect_answers(d, questions_[q], expected_[q]);
      }
    }
  }
}

// Every question comes first once, and after every other one; the second time it may be answered
// from what was kept.
TEST_P(Batch, AnswersDoNotDependOnWhatWasAskedBefore) {
  Pool pool(2);
  for (std::size_t first = 0; first < questions_.size(); ++first) {
    SCOPED_TRACE("first " + questions_[first].name);
    DependencyTrees d(pool, sentences_.views(), options());
    expect_answers(d, questions_[first], expected_[first]);
    expect_answers(d, questions_[first], expected_[first]);
    // A stride that visits all of them in another order for each first question.
    std::size_t stride = 1 + first * 2;
    while (std::gcd(stride, questions_.size()) != 1) ++stride;
    for (std::size_t i = 1; i < questions_.size(); ++i) {
      const std::size_t q = (first + i * stride) % questions_.size();
      expect_answers(d, questions_[q], expected_[q]);
    }
    for (std::size_t q = questions_.size(); q-- > 0;) {
      expect_answers(d, questions_[q], expected_[q]);
    }
  }
}

TEST_P(Batch, MayBeAskedBySeveralThreadsAtOnce) {
  for (const bool keep : {true, false}) {
    Pool pool(2);
    for (std::size_t round = 0; round < questions_.size(); ++round) {
      DependencyTrees d(pool, sentences_.views(), options(keep));
      std::vector<std::thread> askers;
      for (std::size_t t = 0; t < 4; ++t) {
        askers.emplace_back([&, t] {
          for (std::size_t i = 0; i < 3; ++i) {
            const std::size_t q = (round + t * 7 + i * 3) % questions_.size();
            expect_answers(d, questions_[q], expected_[q]);
          }
        });
      }
      for (std::thread& asker : askers) asker.join();
    }
  }
}

TEST_P(Batch, MovesWithAllThatItHasFound) {
  Pool pool(2);
  DependencyTrees first(pool, sentences_.views(), options());
  for (std::size_t q = 0; q < questions_.size(); ++q) {
    if (q % 3 == 0) expect_answers(first, questions_[q], expected_[q]);
  }
  const double* kept = first.decode_scores(0).double_data();
  DependencyTrees second(std::move(first));
  EXPECT_EQ(second.decode_scores(0).double_data(), kept);
  DependencyTrees third(pool, {});
  EXPECT_EQ(third.size(), 0U);
  third = std::move(second);
  EXPECT_EQ(third.size(), sentences_.size());
  for (std::size_t q = 0; q < questions_.size(); ++q) {
    expect_answers(third, questions_[q], expected_[q]);
  }
}

// The memory of batches that are gone serves the next ones, longer or shorter.
TEST_P(Batch, RemembersNothingOfOtherBatches) {
  Pool pool(1);
  for (std::size_t count = 1; count <= sentences_.size(); count += 6) {
    const Sentences other(count, 1000);
    DependencyTrees d(pool, other.views(), options());
    std::vector<double> h(d.size());
    d.entropy(h);
  }
  DependencyTrees d(pool, sentences_.views(), options());
  for (std::size_t q = 0; q < questions_.size(); ++q) {
    expect_answers(d, questions_[q], expected_[q]);
  }
}

TEST_P(Batch, OfNoSentencesHasNoAnswers) {
  for (const bool keep : {true, false}) {
    Pool pool(2);
    DependencyTrees d(pool, {}, options(keep));
    EXPECT_EQ(d.size(), 0U);
    EXPECT_EQ(d.label_count(), 0);
    for (const Question& question : questions_) expect_answers(d, question, {});
    EXPECT_TRUE(d.label_marginals({}).empty());
  }
}

// Sentences without words need no data; alone or beside others.
TEST_P(Batch, OfSentencesWithoutWords) {
  Pool pool(2);
  const std::vector<ScoreView> views{ScoreView(static_cast<const float*>(nullptr), 0),
                                     ScoreView(static_cast<const double*>(nullptr), 0)};
  for (const Question& question : questions_) {
    DependencyTrees d(pool, views, options());
    std::vector<Row> rows(2);
    for (const Outcome& outcome : question.ask(d, rows)) {
      EXPECT_EQ(outcome.status, Status::kEmpty) << question.name;
    }
    for (const Row& row : rows) EXPECT_TRUE(is_lost(row)) << question.name;
  }
}

INSTANTIATE_TEST_SUITE_P(RootRules, Batch, testing::ValuesIn(all_rules()),
                         [](const auto& param_info) {
                           const Rules& rules = param_info.param;
                           return std::string(to_string(rules.root)) +
                                  (rules.family == TreeFamily::kProjective ? "_projective" : "");
                         });

TEST(DependencyTrees, SaysWhatItIsMadeOf) {
  const Sentences sentences(4);
  Pool pool(1);
  DependencyTrees d(pool, sentences.views());
  EXPECT_EQ(d.size(), 4U);
  EXPECT_EQ(d.root_rule(), RootRule::kSingle);
  EXPECT_EQ(d.family(), TreeFamily::kAll);
  EXPECT_EQ(DependencyTrees(pool, sentences.views(), {.projective = true}).family(),
            TreeFamily::kProjective);
  EXPECT_EQ(d.label_count(), 0);
  expect_misuse("labels", [&] { d.labels(0); });
  for (std::size_t b = 0; b < 4; ++b) {
    EXPECT_EQ(d.n(b), sentences.views()[b].n());
    EXPECT_EQ(d.id(b), b);
    EXPECT_EQ(d.decode_scores(b).double_data(), sentences.views()[b].double_data());
  }
  const std::vector<std::uint64_t> ids{9, std::uint64_t{1} << 40, 9, 0};
  DependencyTrees named(pool, sentences.views(), {.root = RootRule::kMulti, .ids = ids});
  EXPECT_EQ(named.root_rule(), RootRule::kMulti);
  for (std::size_t b = 0; b < 4; ++b) EXPECT_EQ(named.id(b), ids[b]);
}

TEST(DependencyTrees, RefusesWhatProjectiveTreesDoNotHave) {
  const Sentences sentences(4);
  Pool pool(1);
  DependencyTrees d(pool, sentences.views(), {.projective = true});
  std::vector<double> numbers(4);
  expect_misuse("expected_steps", [&] { d.expected_steps(numbers); });
  const TreeMemory memory(d, 1, false, false, false);
  for (const Algorithm algorithm :
       {Algorithm::kElimination, Algorithm::kColbourn, Algorithm::kWilsonMarginal}) {
    expect_misuse("sample", [&] { d.sample(1, {algorithm}, memory.out()); });
  }
  std::vector<WithoutReplacementSample> out(4);
  expect_misuse("sample_without_replacement", [&] {
    d.sample_without_replacement(1, {WithoutReplacementAlgorithm::kList}, out);
  });
}

// Between the families: the entropies of each, and infinity where q lacks trees of p.
TEST(DependencyTrees, ComparesTheTwoFamilies) {
  const Sentences sentences;
  Pool pool(2);
  DependencyTrees all(pool, sentences.views());
  DependencyTrees projective(pool, sentences.views(), {.projective = true});
  std::vector<double> kl(all.size()), mass(all.size()), back(all.size());
  projective.kl_divergence(all, kl);
  all.kl_divergence(projective, back);
  all.projective_mass(mass);
  for (std::size_t b = 0; b < all.size(); ++b) {
    if (!Sentences::outcome(b).ok()) continue;
    // The same scores: the trees are those of the other family, given that they are projective.
    EXPECT_NEAR(kl[b], -std::log(mass[b]), 1e-11 * std::max(1.0, kl[b])) << b;
    EXPECT_EQ(back[b], all.n(b) < 3 ? 0.0 : HUGE_VAL) << b;
  }
}

TEST(DependencyTrees, GivesTheFactorizationsThatItKeeps) {
  const Sentences sentences;
  Pool pool(2);
  DependencyTrees d(pool, sentences.views());
  for (std::size_t b = 0; b < d.size(); ++b) {
    const Factorization& f = d.factorization(b);
    EXPECT_EQ(&f, &d.factorization(b));
    EXPECT_EQ(f.outcome(), Sentences::outcome(b));
    if (f.outcome().ok()) {
      EXPECT_EQ(log_partition(f), log_partition(eliminate(sentences.views()[b])));
    }
  }
  expect_misuse("factorization", [&] { d.factorization(d.size()); });
  DependencyTrees forgetful(pool, sentences.views(), {.keep = false});
  expect_misuse("factorization", [&] { forgetful.factorization(0); });
}

TEST(DependencyTrees, RefusesOptionsThatDoNotFit) {
  const Sentences sentences(3);
  Pool pool(2);
  const auto refuse = [&](const BatchOptions& options) {
    expect_misuse("DependencyTrees", [&] { DependencyTrees(pool, sentences.views(), options); });
  };
  refuse({.constraints = std::vector<Constraints>(2)});
  refuse({.ids = {1, 2, 3, 4}});
  const std::vector<double> data(40 * 40 * 2);
  const auto labels = [&](std::size_t b, int count) {
    return LabelView(data.data(), sentences.views()[b].n(), count);
  };
  refuse({.labels = {labels(0, 1)}});
  refuse({.labels = {labels(0, 1), labels(0, 1), labels(2, 1)}});  // A length differs.
  refuse({.labels = {labels(0, 1), labels(1, 2), labels(2, 1)}});  // Or a number of labels.
  std::vector<Constraints> constraints(3);
  constraints[1].force(0, sentences.views()[1].n() + 1);
  expect_misuse("Constraints::apply",
                [&] { DependencyTrees(pool, sentences.views(), {.constraints = constraints}); });
}

TEST(DependencyTrees, RefusesOutputsThatDoNotHaveOneEntryPerSentence) {
  const Sentences sentences(3);
  Pool pool(1);
  DependencyTrees d(pool, sentences.views());
  std::vector<double> out(2);
  const std::vector<ConstEdgeMatrix> values(2);
  const std::vector<ConstEdgeMatrix> enough(3);
  std::vector<WithoutReplacementSample> samples(4);
  std::vector<BestTrees> best(4);
  const std::vector<TreeOutput> trees(2);
  const std::vector<TreeOutput> labeled(3, {.labels = reinterpret_cast<std::int32_t*>(&out)});
  expect_misuse("log_partition", [&] { d.log_partition(out); });
  expect_misuse("entropy", [&] { d.entropy(out); });
  expect_misuse("expected_tries", [&] { d.expected_tries(out); });
  expect_misuse("expected_steps", [&] { d.expected_steps(out); });
  expect_misuse("expectation", [&] { d.expectation(values, out); });
  expect_misuse("expectation", [&] { d.expectation(enough, out); });
  expect_misuse("marginals", [&] { d.marginals({}); });
  expect_misuse("hessian_product", [&] { d.hessian_product(values, {}); });
  expect_misuse("hessian_product", [&] { d.hessian_product(enough, {}); });
  expect_misuse("root_marginals", [&] { d.root_marginals({}); });
  expect_misuse("label_marginals", [&] { d.label_marginals({}); });
  expect_misuse("log_prob", [&] { d.log_prob(1, {}, {}, {}); });
  expect_misuse("sample", [&] { d.sample(1, {}, trees); });
  expect_misuse("sample_without_replacement",
                [&] { d.sample_without_replacement(1, {}, samples); });
  expect_misuse("argmax", [&] { d.argmax(trees); });
  expect_misuse("mbr", [&] { d.mbr(trees); });
  expect_misuse("kbest", [&] { d.kbest(1, false, best); });
  // Labels cannot be asked for where there are none.
  expect_misuse("sample", [&] { d.sample(1, {}, labeled); });
  expect_misuse("argmax", [&] { d.argmax(labeled); });
  expect_misuse("mbr", [&] { d.mbr(labeled); });
}

// The first of the batch's questions may be asked again when it was not answered.
TEST(DependencyTrees, GoesOnAfterAMisuse) {
  const Sentences sentences;
  for (const int threads : {1, 2}) {
    Pool pool(threads);
    DependencyTrees d(pool, sentences.views());
    std::vector<std::vector<std::int32_t>> heads;
    std::vector<TreeBuffer> buffers;
    std::vector<double> values(d.size());
    std::vector<double*> out;
    for (std::size_t b = 0; b < d.size(); ++b) {
      heads.emplace_back(words(d, b), b == 11 ? 99 : 0);
      buffers.push_back({heads[b].data(), 0});
      out.push_back(&values[b]);
    }
    EXPECT_THROW(d.log_prob(1, buffers, {}, out), std::invalid_argument);
    heads[11].assign(words(d, 11), 0);
    const std::vector<Outcome> outcomes = d.log_prob(1, buffers, {}, out);
    for (std::size_t b = 0; b < d.size(); ++b) EXPECT_EQ(outcomes[b], Sentences::outcome(b));
    EXPECT_EQ(values[0], log_prob(eliminate(sentences.views()[0]), Tree{0}));
  }
}

}  // namespace
}  // namespace taproot
