// SPDX-License-Identifier: Apache-2.0
//
// Pools: interrupts, forks, several callers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "property/check.h"
#include "testing/misuse.h"
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

struct Canceled {};

TEST(Pool, HasTheThreadsAskedFor) {
  EXPECT_EQ(Pool(3).threads(), 3);
  EXPECT_GE(Pool().threads(), 1);
  expect_misuse("Pool", [] { Pool pool(-1); });
  Pool pool(1);
  pool.set_threads(5);
  EXPECT_EQ(pool.threads(), 5);
  expect_misuse("Pool", [&] { pool.set_threads(-2); });
  EXPECT_EQ(pool.threads(), 5);
  Pool moved(std::move(pool));
  EXPECT_EQ(moved.threads(), 5);
}

// The answers of a batch, to see that a pool and a batch are as good as new.
void expect_works(DependencyTrees& d, const Sentences& sentences) {
  const std::vector<Question> questions = all_questions(d.root_rule());
  for (const Question& question : questions) {
    if (question.name == "entropy" || question.name.find("sample 7") == 0) {
      expect_answers(d, question, alone(question, sentences, d.root_rule()));
    }
  }
}

TEST(Pool, ThreadsMayChangeBetweenQuestions) {
  const Sentences sentences;
  Pool pool(1);
  for (const int threads : {3, 1, 7, 2}) {
    pool.set_threads(threads);
    DependencyTrees d(pool, sentences.views());
    expect_works(d, sentences);
  }
}

// Work that would go on for hours or for ever, and ends within seconds of being interrupted.
class Interrupted : public testing::TestWithParam<int> {
 protected:
  // Throws when it is asked for the third time while some work is expected to be interrupted.
  Interrupted()
      : pool_(GetParam(), [this] {
          EXPECT_EQ(std::this_thread::get_id(), caller_);
          if (armed_ && ++asked_ == 3) throw Canceled();
        }) {}

  // The pool and, if there is one, the batch that was interrupted work on.
  void expect_interrupted(const std::function<void()>& endless) {
    asked_ = 0;
    armed_ = true;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(endless(), Canceled);
    EXPECT_EQ(asked_, 3);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    armed_ = false;
    DependencyTrees d(pool_, sentences_.views());
    expect_works(d, sentences_);
  }

  std::thread::id caller_ = std::this_thread::get_id();
  bool armed_ = false;
  int asked_ = 0;
  Sentences sentences_;
  Pool pool_;
};

TEST_P(Interrupted, AWalkThatNeverEnds) {
  const oracle::Problem trap = oracle::attractor_pairs(12, 900, 1);
  const oracle::Problem easy = oracle::gaussian(12, 1, 1);
  // Alone; one per thread; among others, so that some other thread than the caller's may have it.
  for (const int traps : {1, 2}) {
    for (const int others : {0, 1, 40}) {
      std::vector<ScoreView> views(static_cast<std::size_t>(traps),
                                   ScoreView(trap.scores.data(), 12));
      views.insert(views.begin() + 1, static_cast<std::size_t>(others),
                   ScoreView(easy.scores.data(), 12));
      DependencyTrees d(pool_, views);
      const TreeMemory memory(d, 2, false, false, false);
      for (const Algorithm algorithm : {Algorithm::kWilsonMarginal, Algorithm::kWilsonReject}) {
        expect_interrupted([&] { d.sample(2, {algorithm, 1}, memory.out()); });
      }
      // The batch that was interrupted goes on.
      std::vector<double> log_z(d.size());
      for (const Outcome& outcome : d.log_partition(log_z)) EXPECT_TRUE(outcome.ok());
      EXPECT_EQ(log_z[0], log_partition(eliminate(views[0])));
      for (const Outcome& outcome : d.sample(2, {}, memory.out())) EXPECT_TRUE(outcome.ok());
      EXPECT_TRUE(is_tree(memory.heads(0, 1)));
    }
  }
}

// Many trees of one sentence, which threads share out.
TEST_P(Interrupted, AWalkAmongTheTreesOfOneSentence) {
  const oracle::Problem trap = oracle::attractor_pairs(12, 900, 1);
  DependencyTrees d(pool_, {ScoreView(trap.scores.data(), 12)});
  const TreeMemory memory(d, 4000, false, false, false);
  expect_interrupted([&] { d.sample(4000, {Algorithm::kWilsonMarginal}, memory.out()); });
}

TEST_P(Interrupted, AllOfABatchsTrees) {
  const oracle::Problem problem = oracle::gaussian(60, 1, 1);
  DependencyTrees d(pool_, std::vector<ScoreView>(10, ScoreView(problem.scores.data(), 60)));
  // All trees go to the same place: there are too many to keep.
  std::vector<std::int32_t> heads(600);
  std::vector<TreeOutput> out;
  for (std::size_t b = 0; b < 10; ++b) out.push_back({heads.data() + 60 * b, 0});
  expect_interrupted([&] { d.sample(std::size_t{1} << 31, {}, out); });
}

TEST_P(Interrupted, KBest) {
  const oracle::Problem problem = oracle::gaussian(30, 1, 1);
  for (const bool log_prob : {false, true}) {
    DependencyTrees d(pool_, std::vector<ScoreView>(2, ScoreView(problem.scores.data(), 30)));
    std::vector<BestTrees> out(2);
    expect_interrupted([&] { d.kbest(std::size_t{1} << 40, log_prob, out); });
    d.kbest(3, log_prob, out);
    EXPECT_EQ(out[1].heads, kbest(ScoreView(problem.scores.data(), 30), 3).heads);
  }
}

TEST_P(Interrupted, WithoutReplacement) {
  const oracle::Problem problem = oracle::gaussian(60, 1, 1);
  const ScoreView view(problem.scores.data(), 60);
  for (const WithoutReplacementAlgorithm algorithm :
       {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
        WithoutReplacementAlgorithm::kBeam, WithoutReplacementAlgorithm::kList}) {
    SCOPED_TRACE(to_string(algorithm));
    DependencyTrees d(pool_, {view, view});
    std::vector<WithoutReplacementSample> out(2);
    expect_interrupted([&] { d.sample_without_replacement(200000, {algorithm}, out); });
    d.sample_without_replacement(3, {algorithm}, out);
    EXPECT_EQ(out[0].heads, sample_without_replacement(eliminate(view), 3, {algorithm}).heads);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Interrupted, testing::Values(1, 2));

// What the interrupt throws reaches the caller as it is.
TEST(Pool, RethrowsWhatTheInterruptThrows) {
  const oracle::Problem trap = oracle::attractor_pairs(12, 900, 1);
  Pool pool(2, [] { throw std::out_of_range("enough"); });
  DependencyTrees d(pool, std::vector<ScoreView>(3, ScoreView(trap.scores.data(), 12)));
  const TreeMemory memory(d, 1, false, false, false);
  try {
    d.sample(1, {Algorithm::kWilsonMarginal}, memory.out());
    ADD_FAILURE() << "nothing thrown";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "enough");
  }
}

// A signal handler may ask questions of its own: other batches on the same pool answer, the one
// that is at work on its first question says that it cannot.
TEST(Pool, AnswersWithinAnInterrupt) {
  const Sentences sentences;
  const oracle::Problem trap = oracle::attractor_pairs(12, 900, 1);
  for (const int threads : {1, 2}) {
    std::unique_ptr<DependencyTrees> busy;
    Pool* used = nullptr;
    std::vector<double> out(2);
    int asked = 0;
    Pool pool(threads, [&] {
      if (++asked > 1) return;
      DependencyTrees other(*used, sentences.views());
      expect_works(other, sentences);
      busy->entropy(out);
    });
    used = &pool;
    busy = std::make_unique<DependencyTrees>(
        pool, std::vector<ScoreView>(2, ScoreView(trap.scores.data(), 12)));
    const TreeMemory memory(*busy, 1, false, false, false);
    EXPECT_THROW(busy->sample(1, {Algorithm::kWilsonMarginal}, memory.out()), std::runtime_error);
    EXPECT_GE(asked, 1);
    busy->entropy(out);
    EXPECT_EQ(out[0], entropy(eliminate(ScoreView(trap.scores.data(), 12))));
  }
}

// A caller that finds the pool busy works on its own thread.
TEST(Pool, ServesSeveralCallersAtOnce) {
  const Sentences sentences;
  Pool pool(3);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int again = 0; again < 5; ++again) {
        DependencyTrees d(pool, sentences.views());
        expect_works(d, sentences);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

#if !defined(__SANITIZE_THREAD__)  // Which does not follow threads into a child.

// Runs `body` in a child process and expects it to return without a failure.
template <typename Body>
void expect_child(Body&& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Pool, WorksInTheChildOfAFork) {
  const Sentences sentences;
  for (const int threads : {1, 2, 7}) {
    auto pool = std::make_unique<Pool>(threads);
    auto d = std::make_unique<DependencyTrees>(*pool, sentences.views());
    expect_works(*d, sentences);
    expect_child([&] {
      expect_works(*d, sentences);  // What the parent found is there.
      DependencyTrees fresh(*pool, sentences.views());
      expect_works(fresh, sentences);
      expect_child([&] { expect_works(fresh, sentences); });  // The child's child, too.
      expect_works(fresh, sentences);
      d = nullptr;
      pool = nullptr;  // And the parent's threads are nobody's to join.
    });
    expect_works(*d, sentences);
    DependencyTrees fresh(*pool, sentences.views());
    expect_works(fresh, sentences);
  }
}

// A child that destroys a pool that it never used.
TEST(Pool, IsDestroyedInTheChildOfAFork) {
  const Sentences sentences;
  auto pool = std::make_unique<Pool>(2);
  {
    DependencyTrees d(*pool, sentences.views());
    expect_works(d, sentences);
  }
  expect_child([&] { pool = nullptr; });
  DependencyTrees d(*pool, sentences.views());
  expect_works(d, sentences);
}

#endif

}  // namespace
}  // namespace taproot
