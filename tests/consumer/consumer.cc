// SPDX-License-Identifier: Apache-2.0
//
// What a user's program may do: everything here must link and run against an installed library,
// static or shared.
#include <taproot/taproot.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

void single_sentence(const std::vector<double>& scores) {
  const taproot::Factorization f = taproot::eliminate({scores.data(), 3});
  expect(std::abs(taproot::log_partition(f) - std::log(9.0)) < 1e-12, "nine single-root trees");
  const std::vector<taproot::Tree> trees = taproot::sample(f, 5);
  taproot::Attachment attachment;
  for (const taproot::Tree& tree : trees) attachment += taproot::evaluate(tree, trees[0]);
  expect(attachment.trees == 5 && attachment.words == 15, "attachments add up");
}

void batch(const std::vector<double>& scores) {
  const std::vector<double> nothing(16, -HUGE_VAL);
  taproot::Pool pool(2, [] {});
  taproot::DependencyTrees d(
      pool, {taproot::ScoreView(scores.data(), 3), taproot::ScoreView(nothing.data(), 3)},
      {.root = taproot::RootRule::kMulti, .ids = {7, 8}});
  std::vector<double> log_z(2);
  const std::vector<taproot::Outcome> outcomes = d.log_partition(log_z);
  expect(outcomes[0].ok() && std::abs(log_z[0] - std::log(16.0)) < 1e-12, "sixteen trees");
  expect(outcomes[1].status == taproot::Status::kNoTree && std::isnan(log_z[1]), "an outcome");
  std::vector<std::int32_t> heads(2 * 10 * 3);
  const std::vector<taproot::TreeOutput> out{{heads.data(), 3}, {heads.data() + 30, 3}};
  taproot::SampleStatistics all;
  for (int i = 0; i < 2; ++i) {
    taproot::SampleStatistics once;
    d.sample(10, {.seed = 1}, out, &once);
    all += once;
  }
  expect(all.trees == 20, "statistics add up");
  expect(taproot::is_tree(taproot::TreeView(heads).first(3)) && heads[30] == -1, "sampled trees");
}

// Exceptions keep their types on the way out of the library.
void errors(const std::vector<double>& scores) {
  const std::vector<double> bad(16, std::nan(""));
  try {
    taproot::argmax(taproot::ScoreView(bad.data(), 3));
    expect(false, "an error");
  } catch (const taproot::SentenceError& error) {
    expect(error.outcome() == taproot::Outcome{taproot::Status::kBadScore, 0, 1}, "its outcome");
    expect(error.what() == taproot::describe(error.outcome(), 0), "its message");
  }
  try {
    taproot::Cuda cuda;
    expect(taproot::cuda_available(), "a device");
  } catch (const std::runtime_error&) {
    expect(!taproot::cuda_available(), "no device");
  }
  try {
    taproot::log_prob(taproot::eliminate({scores.data(), 3}), taproot::Tree{0});
    expect(false, "misuse");
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

int main() {
  const std::vector<double> scores(16, 0.0);
  single_sentence(scores);
  batch(scores);
  errors(scores);
  std::printf("taproot %s: %d failures\n", TAPROOT_VERSION, failures);
  return failures == 0 ? 0 : 1;
}
