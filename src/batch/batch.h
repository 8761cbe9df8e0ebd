// SPDX-License-Identifier: Apache-2.0
//
// The inside of DependencyTrees, and how its questions go through a batch.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "batch/device_batch.h"
#include "batch/edge_matrices.h"
#include "batch/once.h"
#include "batch/pool.h"
#include "batch/store.h"
#include "lanes/groups.h"
#include "query/query.h"
#include "taproot/dependency_trees.h"

namespace taproot {

struct DependencyTrees::Impl {
  /// Takes all of the options but the constraints, which are only checked.
  Impl(std::vector<ScoreView> scores, BatchOptions& options);
  ~Impl();

  Pool::Impl* pool = nullptr;                   ///< Null on a device.
  std::unique_ptr<detail::DeviceBatch> device;  ///< Null on a pool.
  RootRule root;
  TreeFamily family;
  bool keep;
  int longest = 0;
  std::vector<ScoreView> scores;         ///< For inference: labels summed out.
  std::vector<ScoreView> decode_scores;  ///< Empty where those are the same.
  std::vector<LabelView> labels;
  std::vector<std::uint64_t> ids;           ///< Empty: positions.
  std::vector<std::vector<double>> memory;  ///< Of the views that are not the caller's.
  detail::LaneGroups groups;                ///< For log Z and marginals on a pool.

  // What was found so far.
  detail::Once factored;
  std::vector<detail::KeptFactorization> factorizations;
  detail::Once summed;  ///< log Z, from log_partition() or marginals().
  std::vector<double> log_partitions;
  std::vector<Outcome> sum_outcomes;
  detail::Once reversed;  ///< The factorizations keep their marginals.
  struct SamplerTables {
    detail::Once built;
    std::atomic<int> asked = 0;
    std::vector<Sampler> samplers;
  };
  static constexpr std::size_t kAlgorithms = 7;
  std::array<SamplerTables, kAlgorithms> tables;

  std::size_t size() const { return scores.size(); }
  std::uint64_t id(std::size_t b) const { return ids.empty() ? b : ids[b]; }
  bool labeled() const { return !labels.empty(); }
  std::size_t words(std::size_t b) const { return static_cast<std::size_t>(scores[b].n()); }
  const ScoreView& for_decoding(std::size_t b) const {
    return decode_scores.empty() ? scores[b] : decode_scores[b];
  }

  /// Throws unless this is on a pool.
  Pool::Impl& threads(const char* function) const;
  /// Throws unless an output has one entry per sentence.
  void require_entries(std::size_t entries, const char* function, const char* what) const;

  /// The factorization of sentence b, which is kept or made here and now in `own`.
  const Factorization& factor(std::size_t b, bool make, detail::ThreadMemory& own);
};

namespace detail {

/// What a question reads.
enum class Needs : std::uint8_t { kFactors, kMarginals };

/// answer(b, factorization, memory) for every sentence that has a tree, lost(b) for the others.
/// In a batch that keeps what it finds, the first question that needs factors or marginals makes
/// them on the way.
template <typename Answer, typename Lost>
std::vector<Outcome> ask(DependencyTrees::Impl& d, Needs needs, const char* function,
                         Answer&& answer, Lost&& lost) {
  Pool::Impl& pool = d.threads(function);
  Once::Finder factors(d.factored, d.keep);
  Once::Finder marginals(d.reversed, d.keep && needs == Needs::kMarginals);
  if (factors.mine() && d.factorizations.empty()) d.factorizations = take_factorizations(d.size());
  std::vector<Outcome> outcomes(d.size());
  const auto visit = [&](std::size_t b, ThreadMemory& own) {
    const Factorization& f = d.factor(b, factors.mine(), own);
    outcomes[b] = f.outcome();
    if (!outcomes[b].ok()) return lost(b);
    if (marginals.mine()) keep_marginals(d.factorizations[b].factorization, own.workspace);
    answer(b, f, own);
  };
  for_each(pool, d.size(), d.longest, std::cref(visit));
  factors.found();
  marginals.found();
  return outcomes;
}

/// One number per sentence: query(b, factorization, memory).
template <typename Query>
std::vector<Outcome> ask_numbers(DependencyTrees::Impl& d, Needs needs, const char* function,
                                 std::span<double> out, Query&& query) {
  d.require_entries(out.size(), function, "out");
  return ask(
      d, needs, function,
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) { out[b] = query(b, f, own); },
      [&](std::size_t b) { out[b] = NAN; });
}

/// Asks the device a question, and calls lost(b) for the sentences that have no answer.
template <typename Ask, typename Lost>
std::vector<Outcome> ask_device(DependencyTrees::Impl& d, Ask&& question, Lost&& lost) {
  std::vector<Outcome> outcomes(d.size());
  question();
  d.device->outcomes(outcomes);
  for (std::size_t b = 0; b < d.size(); ++b) {
    if (!outcomes[b].ok()) lost(b);
  }
  return outcomes;
}

/// The same for a number per sentence.
template <typename Ask>
std::vector<Outcome> ask_device(DependencyTrees::Impl& d, std::span<double> out,
                                const char* function, Ask&& question) {
  d.require_entries(out.size(), function, "out");
  return ask_device(d, question, [&](std::size_t b) { out[b] = NAN; });
}

}  // namespace detail
}  // namespace taproot
