// SPDX-License-Identifier: Apache-2.0
//
// log Z and marginals, the questions of a training step. Short sentences are answered side by side
// (src/lanes). The others are factored one by one, and their factors are not kept: writing them to
// memory would take longer than making them again.
#include <algorithm>
#include <cmath>

#include "batch/batch.h"
#include "lanes/lanes.h"

namespace taproot {
namespace {

using detail::ThreadMemory;

// A batch without groups keeps its factors for the next question if they are few enough to be in a
// cache by then. What another question has left is used in any case.
constexpr std::size_t kCachedFactors = std::size_t{1} << 20;

bool keeps_factors(const DependencyTrees::Impl& d) {
  if (!d.keep || d.groups.count() > 0) return false;
  std::size_t cells = 0;
  for (const ScoreView& view : d.scores) cells += detail::side(view.n()) * detail::side(view.n());
  return d.size() == 1 || 24 * cells <= kCachedFactors;
}

// Answers sentences on the threads, and notes log Z and the outcome of each.
class Sums {
 public:
  // `marginals` has a matrix for each sentence, or is empty.
  Sums(DependencyTrees::Impl& d, std::span<const EdgeMatrix> marginals)
      : outcomes(d.size()), log_partitions(d.size(), NAN), d_(d), marginals_(marginals) {}

  void run(Pool::Impl& pool) {
    // The single sentences come first, because a long one takes longer than a group.
    const std::size_t singles = d_.groups.single().size();
    detail::for_each(pool, singles + d_.groups.count(), d_.longest,
                     [&](std::size_t i, ThreadMemory& own) {
                       if (i < singles) {
                         answer(d_.groups.single()[i], own);
                       } else {
                         answer_together(d_.groups.group(i - singles), own);
                       }
                     });
  }

  std::vector<Outcome> outcomes;
  std::vector<double> log_partitions;

 private:
  void answer(std::size_t b, ThreadMemory& own) {
    const bool kept = d_.factored.done();
    if (!kept) factorize(d_.scores[b], d_.root, d_.family, own.factorization, own.workspace);
    const Factorization& f = kept ? d_.factorizations[b].factorization : own.factorization;
    outcomes[b] = f.outcome();
    if (outcomes[b].ok()) {
      log_partitions[b] = taproot::log_partition(f);
      if (!marginals_.empty()) detail::marginals_of_factors(f, marginals_[b], own.workspace);
    } else if (!marginals_.empty()) {
      lose_marginals(b);
    }
  }

  void answer_together(std::span<const std::size_t> group, ThreadMemory& own) {
    detail::LaneSentence sentences[detail::kLaneGroup];
    for (std::size_t i = 0; i < group.size(); ++i) {
      sentences[i].scores = &d_.scores[group[i]];
      if (!marginals_.empty()) sentences[i].marginals = marginals_[group[i]];
    }
    detail::answer_in_lanes({sentences, group.size()}, d_.root, d_.family, !marginals_.empty(),
                            detail::Access::scratch(own.workspace));
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!sentences[i].answered) {
        answer(group[i], own);
        continue;
      }
      outcomes[group[i]] = sentences[i].outcome;
      if (sentences[i].outcome.ok()) {
        log_partitions[group[i]] = sentences[i].log_partition;
      } else if (!marginals_.empty()) {
        lose_marginals(group[i]);
      }
    }
  }

  void lose_marginals(std::size_t b) {
    const std::size_t side = detail::side(d_.scores[b].n());
    detail::fill(marginals_[b], side, side, NAN);
  }

  DependencyTrees::Impl& d_;
  std::span<const EdgeMatrix> marginals_;
};

}  // namespace

std::vector<Outcome> DependencyTrees::log_partition(std::span<double> out) {
  constexpr const char* kName = "log_partition";
  Impl& d = *impl_;
  if (d.device != nullptr) {
    return detail::ask_device(d, out, kName, [&] { d.device->log_partition(out); });
  }
  d.require_entries(out.size(), kName, "out");
  if (d.factored.done() || keeps_factors(d)) {
    return detail::ask_numbers(d, detail::Needs::kFactors, kName, out,
                               [](std::size_t, const Factorization& f, ThreadMemory&) {
                                 return taproot::log_partition(f);
                               });
  }
  detail::Once::Finder finder(d.summed, true);
  if (finder.mine()) {
    Sums sums(d, {});
    sums.run(d.threads(kName));
    d.log_partitions = std::move(sums.log_partitions);
    d.sum_outcomes = std::move(sums.outcomes);
    finder.found();
  }
  std::copy(d.log_partitions.begin(), d.log_partitions.end(), out.begin());
  return d.sum_outcomes;
}

std::vector<Outcome> DependencyTrees::marginals(std::span<const EdgeMatrix> out) {
  constexpr const char* kName = "marginals";
  Impl& d = *impl_;
  d.require_entries(out.size(), kName, "out");
  const auto lost = [&](std::size_t b) {
    detail::fill(out[b], detail::side(d.scores[b].n()), detail::side(d.scores[b].n()), NAN);
  };
  if (d.device != nullptr) {
    return detail::ask_device(
        d, [&] { d.device->marginals(out); }, lost);
  }
  if (d.reversed.done() || keeps_factors(d)) {
    return detail::ask(
        d, detail::Needs::kMarginals, kName,
        [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
          taproot::marginals(f, out[b], own.workspace);
        },
        lost);
  }
  Sums sums(d, out);
  sums.run(d.threads(kName));
  detail::Once::Finder finder(d.summed, true);
  if (finder.mine()) {
    d.log_partitions = std::move(sums.log_partitions);
    d.sum_outcomes = sums.outcomes;
    finder.found();
  }
  return sums.outcomes;
}

}  // namespace taproot
