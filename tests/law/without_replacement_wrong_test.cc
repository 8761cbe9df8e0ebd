// SPDX-License-Identifier: Apache-2.0
//
// Samplers without replacement that are nearly right, beside the right ones, over the trees of a
// small problem in two levels: the head of the first word, then all others. The tests of the
// library's samplers tell them apart.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>

#include "core/random.h"
#include "law/without_replacement.h"

namespace taproot {
namespace {

using law::kAlpha;
using law::Trees;
using oracle::Root;

constexpr std::uint32_t kSamples = 50000;
constexpr std::size_t kPair = 2;

// Largest Gumbel first.
struct Drawn {
  std::vector<std::size_t> trees;
  std::vector<double> gumbel;
  double kappa = 0;
};

struct TwoLevels {
  explicit TwoLevels(const Trees& all) : trees(all), prefixes(all.front().first.size() + 1) {
    for (std::size_t t = 0; t < all.size(); ++t) {
      prefixes[static_cast<std::size_t>(all[t].first[0])].push_back(t);
    }
    std::erase_if(prefixes, [](const auto& p) { return p.empty(); });
  }

  const Trees& trees;
  std::vector<std::vector<std::size_t>> prefixes;
};

enum class BeamFault { kNone, kNoTruncation, kRootAtZero };

// Gumbels at the locations, moved so that their largest is `bound` (Kool et al. 2019).
std::vector<double> children_gumbels(const std::vector<double>& locations, double bound,
                                     bool truncate, detail::Stream& stream) {
  std::vector<double> gumbel;
  for (const double location : locations) gumbel.push_back(location + stream.gumbel());
  if (!truncate) return gumbel;
  const double largest = *std::max_element(gumbel.begin(), gumbel.end());
  for (double& g : gumbel) g = -std::log(std::exp(-bound) + (std::exp(-g) - std::exp(-largest)));
  return gumbel;
}

Drawn draw_beam(const TwoLevels& two, std::size_t k, BeamFault fault, std::uint32_t sample) {
  detail::Stream stream(detail::stream_key(3, 0), sample, detail::Purpose::kBeam);
  const double root = fault == BeamFault::kRootAtZero ? 0 : stream.gumbel();
  const bool truncate = fault != BeamFault::kNoTruncation;
  using Candidate = std::pair<double, std::size_t>;
  const auto keep_largest = [k](std::vector<Candidate>& from) {
    std::sort(from.begin(), from.end(), std::greater<>());
    from.resize(std::min(from.size(), k + 1));
  };
  std::vector<double> locations;
  for (const auto& prefix : two.prefixes) {
    double mass = 0;
    for (const std::size_t t : prefix) mass += two.trees[t].second;
    locations.push_back(std::log(mass));
  }
  std::vector<Candidate> beam;
  for (const double g : children_gumbels(locations, root, truncate, stream)) {
    beam.emplace_back(g, beam.size());
  }
  keep_largest(beam);
  std::vector<Candidate> leaves;
  for (const auto& [bound, prefix] : beam) {
    locations.clear();
    for (const std::size_t t : two.prefixes[prefix]) {
      locations.push_back(std::log(two.trees[t].second));
    }
    const auto gumbel = children_gumbels(locations, bound, truncate, stream);
    for (std::size_t i = 0; i < gumbel.size(); ++i) {
      leaves.emplace_back(gumbel[i], two.prefixes[prefix][i]);
    }
  }
  keep_largest(leaves);
  Drawn drawn;
  for (std::size_t i = 0; i < k; ++i) {
    drawn.gumbel.push_back(leaves[i].first);
    drawn.trees.push_back(leaves[i].second);
  }
  drawn.kappa = leaves[k].first;
  return drawn;
}

struct Where {
  Root root;
  TreeFamily family;
};

struct Verdict {
  double order;            // p-value of the pairs
  double gumbel;           // of the first Gumbel
  double standard_errors;  // of the sum of p / q from 1
};

Verdict judge_beam(BeamFault fault, const Where& where) {
  const Trees trees = law::trees_of(oracle::gaussian(4, 1.5, 91), where.root, where.family);
  const TwoLevels two(trees);
  law::OrderedCounts counts(trees, kPair);
  std::vector<double> first;
  std::vector<double> sums;
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    const Drawn drawn = draw_beam(two, kPair, fault, s);
    counts.add(drawn.trees);
    first.push_back(drawn.gumbel[0]);
    double sum = 0;
    for (const std::size_t t : drawn.trees) {
      sum += horvitz_thompson_weight(std::log(trees[t].second), drawn.kappa);
    }
    sums.push_back(sum);
  }
  const Verdict verdict{counts.p_value(),
                        law::ks_p(first, [](double g) { return std::exp(-std::exp(-g)); }),
                        law::standard_errors(sums, 1)};
  std::printf("beam fault %d %s: order p %.3g, gumbel p %.3g, weights %.1f standard errors\n",
              static_cast<int>(fault), name(where.root), verdict.order, verdict.gumbel,
              verdict.standard_errors);
  return verdict;
}

class WrongWithoutReplacement : public testing::TestWithParam<Where> {};

TEST_P(WrongWithoutReplacement, TheRightBeamPasses) {
  const Verdict verdict = judge_beam(BeamFault::kNone, GetParam());
  EXPECT_GT(verdict.order, kAlpha);
  EXPECT_GT(verdict.gumbel, kAlpha);
  EXPECT_LT(std::abs(verdict.standard_errors), 5);
}

// A prefix that is out of the beam takes its trees along, although theirs may be larger.
TEST_P(WrongWithoutReplacement, ABeamWithoutTruncationIsRejected) {
  EXPECT_LT(judge_beam(BeamFault::kNoTruncation, GetParam()).order, kAlpha);
}

// The order is right, the Gumbels are not, and with them every estimate.
TEST_P(WrongWithoutReplacement, ABeamWhoseRootIsFixedIsRejected) {
  const Verdict verdict = judge_beam(BeamFault::kRootAtZero, GetParam());
  EXPECT_GT(verdict.order, kAlpha);
  EXPECT_LT(verdict.gumbel, kAlpha);
  EXPECT_GT(std::abs(verdict.standard_errors), 5);
}

enum class TrieFault { kNone, kKeepsLeaf, kStaleParent };

std::vector<std::size_t> draw_trie(const TwoLevels& two, std::size_t k, TrieFault fault,
                                   std::uint32_t sample) {
  detail::Stream stream(detail::stream_key(4, 0), sample, detail::Purpose::kTree);
  const auto choose = [&](const std::vector<double>& mass) {
    double u = stream.uniform() * std::accumulate(mass.begin(), mass.end(), 0.0);
    std::size_t i = 0;
    while (i + 1 < mass.size() && u >= mass[i]) u -= mass[i++];
    return i;
  };
  std::vector<std::vector<double>> leaves;
  std::vector<double> left;
  for (const auto& prefix : two.prefixes) {
    auto& mass = leaves.emplace_back();
    for (const std::size_t t : prefix) mass.push_back(two.trees[t].second);
    left.push_back(std::accumulate(mass.begin(), mass.end(), 0.0));
  }
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t prefix = choose(left);
    const std::size_t leaf = choose(leaves[prefix]);
    drawn.push_back(two.prefixes[prefix][leaf]);
    if (fault != TrieFault::kKeepsLeaf) leaves[prefix][leaf] = 0;
    if (fault != TrieFault::kStaleParent) {
      left[prefix] = std::accumulate(leaves[prefix].begin(), leaves[prefix].end(), 0.0);
    }
  }
  return drawn;
}

TEST_P(WrongWithoutReplacement, TriesThatForgetAreRejected) {
  const Trees trees =
      law::trees_of(oracle::gaussian(4, 1.5, 92), GetParam().root, GetParam().family);
  const TwoLevels two(trees);
  for (const auto fault : {TrieFault::kNone, TrieFault::kKeepsLeaf, TrieFault::kStaleParent}) {
    law::OrderedCounts counts(trees, kPair);
    for (std::uint32_t s = 0; s < kSamples; ++s) counts.add(draw_trie(two, kPair, fault, s));
    const double p = counts.p_value();
    std::printf("trie fault %d %s: order p %.3g\n", static_cast<int>(fault), name(GetParam().root),
                p);
    if (fault == TrieFault::kNone) {
      EXPECT_GT(p, kAlpha);
    } else {
      EXPECT_LT(p, kAlpha);
    }
  }
}

// One sample in five sorted by probability is enough.
TEST_P(WrongWithoutReplacement, ASortedSampleIsRejected) {
  const auto problem = oracle::gaussian(4, 1.5, 93);
  const Trees trees = law::trees_of(problem, GetParam().root, GetParam().family);
  const law::TreeIndex index(trees);
  law::WithoutReplacementSamples draws(problem, GetParam().root, GetParam().family,
                                       WithoutReplacementAlgorithm::kAuto);
  for (const std::uint32_t every : {0U, 5U}) {
    law::OrderedCounts counts(trees, kPair);
    for (std::uint32_t s = 0; s < kSamples; ++s) {
      auto drawn = indices(draws(s, kPair), index);
      if (every > 0 && s % every == 0 && trees[drawn[0]].second < trees[drawn[1]].second) {
        std::swap(drawn[0], drawn[1]);
      }
      counts.add(drawn);
    }
    const double p = counts.p_value();
    std::printf("one in %u sorted, %s: order p %.3g\n", every, name(GetParam().root), p);
    EXPECT_EQ(p > kAlpha, every == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WrongWithoutReplacement,
                         testing::Values(Where{Root::kSingle, TreeFamily::kAll},
                                         Where{Root::kMulti, TreeFamily::kAll},
                                         Where{Root::kSingle, TreeFamily::kProjective},
                                         Where{Root::kMulti, TreeFamily::kProjective}),
                         [](const auto& param_info) {
                           return std::string(name(param_info.param.root)) + "_" +
                                  std::string(to_string(param_info.param.family));
                         });

}  // namespace
}  // namespace taproot
