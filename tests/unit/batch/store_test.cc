// SPDX-License-Identifier: Apache-2.0
#include "batch/store.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "eliminate/factor_data.h"
#include "testing/families.h"

namespace taproot::detail {
namespace {

// Factorizations of these lengths, as a batch leaves them behind.
std::vector<KeptFactorization> factored(const std::vector<int>& lengths) {
  std::vector<KeptFactorization> kept(lengths.size());
  Workspace workspace;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const oracle::Problem problem = oracle::gaussian(lengths[b], 1, b);
    eliminate(ScoreView(problem.scores.data(), lengths[b]), RootRule::kSingle,
              kept[b].factorization, workspace);
    kept[b].longest = lengths[b];
  }
  return kept;
}

void empty_the_store() {
  while (take_factorizations(1)[0].longest > 0) {
  }
}

TEST(Store, GivesBackWhatItGotInTheSamePlaces) {
  empty_the_store();
  const std::vector<int> lengths{5, 30, 12, 7};
  std::vector<KeptFactorization> first = factored(lengths);
  std::vector<const double*> memory;
  for (KeptFactorization& kept : first) {
    memory.push_back(Access::data(kept.factorization).matrix.data());
  }
  give_back(std::move(first));
  std::vector<KeptFactorization> second = take_factorizations(6);
  ASSERT_EQ(second.size(), 6U);
  for (std::size_t b = 0; b < 6; ++b) {
    EXPECT_EQ(second[b].longest, b < 4 ? lengths[b] : 0);
    if (b < 4) {
      EXPECT_EQ(Access::data(second[b].factorization).matrix.data(), memory[b]);
    }
  }
  EXPECT_EQ(take_factorizations(1)[0].longest, 0);  // It is empty now.
}

// A batch that was never factored leaves nothing worth keeping.
TEST(Store, KeepsNoEmptyOnes) {
  empty_the_store();
  give_back(std::vector<KeptFactorization>(100));
  give_back(factored({9}));
  EXPECT_EQ(take_factorizations(1)[0].longest, 9);
  EXPECT_EQ(take_factorizations(1)[0].longest, 0);
}

// Memory beyond its limit goes back to the system.
TEST(Store, HasALimit) {
  empty_the_store();
  std::vector<KeptFactorization> large(20);
  for (KeptFactorization& kept : large) kept.longest = 1000;  // 32 MB each, or so they say.
  give_back(std::move(large));
  const std::vector<KeptFactorization> kept = take_factorizations(20);
  int count = 0;
  for (const KeptFactorization& one : kept) count += one.longest > 0 ? 1 : 0;
  EXPECT_GE(count, 2);
  EXPECT_LE(count, 4);
}

}  // namespace
}  // namespace taproot::detail
