// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "sample/algorithm.h"
#include "sample/conditionals/colbourn.h"
#include "sample/sample_scratch.h"
#include "sample/un_elimination/un_elimination.h"
#include "sample/walk/alias.h"
#include "sample/walk/walk.h"
#include "taproot/sample.h"

namespace taproot {
namespace detail {
namespace {

// auto's budget: so many steps of a walk for each word. A constant of the format, since it decides
// which trees a seed gives.
constexpr std::uint64_t kBudgetPerWord = 16;
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

}  // namespace
}  // namespace detail

struct Sampler::Tables {
  Factorization own;  // Of a sampler that was built from scores.
  const detail::FactorData* data = nullptr;
  int n = 0;
  RootRule rule = RootRule::kSingle;
  SampleOptions options;
  detail::Walk walk;
  detail::Buffer<detail::AliasSlot> root_slots;  // Of words 1..n at 0..n-1.
  detail::EliminationSampler elimination;
  detail::Colbourn colbourn;

  bool walks_from_a_root() const {
    return rule == RootRule::kSingle && options.algorithm != Algorithm::kWilsonReject &&
           options.algorithm != Algorithm::kElimination;
  }

  void build_root(const Factorization& f, Workspace& workspace);
  int sample_root(detail::Stream& stream) const {
    return 1 + detail::sample_alias(root_slots.data(), n, stream);
  }
  bool sample_tree(detail::Stream& stream, detail::Scratch& memory, std::int32_t* heads,
                   SampleStatistics& statistics) const;
  bool sample_walk(int root, detail::Stream& stream, detail::Scratch& memory, std::int32_t* heads,
                   SampleStatistics& statistics) const;
};

Sampler::Sampler() : tables_(std::make_unique<Tables>()) {}
Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

// Alias slots of the root's law: its marginals, or for wilson-rc, wrongly, its edges' weights.
void Sampler::Tables::build_root(const Factorization& f, Workspace& workspace) {
  auto& scratch = detail::Access::scratch(workspace).get<detail::SampleScratch>();
  const auto words = static_cast<std::size_t>(n);
  double* p = scratch.root_law.resize(2 * words);
  if (options.algorithm == Algorithm::kWilsonRc) {
    // But for words that no tree has as its root: from there a walk would not end.
    const detail::FactorData& source = detail::Access::data(f);
    double top = -HUGE_VAL;
    for (std::size_t m = 1; m <= words; ++m) {
      if (source.last[m] != 0) top = std::max(top, source.table.row(0)[m]);
    }
    for (std::size_t m = 1; m <= words; ++m) {
      p[m - 1] = source.last[m] != 0 ? std::exp(source.table.row(0)[m] - top) : 0.0;
    }
  } else {
    root_marginals(f, std::span(p, words), workspace);
  }
  std::int32_t* work = scratch.alias_queues.resize(2 * words);
  detail::fill_alias(p, n,
                     root_slots.resize(words * static_cast<std::size_t>(detail::alias_words(n))),
                     p + words, work, work + words);
}

void Sampler::build(const Factorization& f, const SampleOptions& options, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "Sampler::build");
  detail::require_goes_with(options.algorithm, f.root_rule(), "Sampler::build");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  Tables& t = *tables_;
  t.data = nullptr;  // Until all is there: what throws on the way leaves nothing to draw from.
  t.n = f.n();
  t.rule = f.root_rule();
  t.options = options;
  if (t.walks_from_a_root()) t.build_root(f, workspace);
  switch (options.algorithm) {
    case Algorithm::kElimination:
      t.elimination.build(data);
      break;
    case Algorithm::kColbourn:
      t.colbourn.build(data, scratch);
      break;
    default:
      t.walk.build(data, !t.walks_from_a_root(), scratch);
      if (options.algorithm == Algorithm::kAuto) t.elimination.build(data);
  }
  t.data = &data;
}

Outcome Sampler::build(const ScoreView& scores, RootRule root, const SampleOptions& options,
                       Workspace& workspace) {
  tables_->data = nullptr;
  const Outcome outcome = eliminate(scores, root, tables_->own, workspace);
  if (outcome.ok()) build(tables_->own, options, workspace);
  return outcome;
}

// One walk or, for wilson-reject, as many as it takes.
bool Sampler::Tables::sample_walk(int root, detail::Stream& stream, detail::Scratch& memory,
                                  std::int32_t* heads, SampleStatistics& statistics) const {
  const std::uint64_t limit = options.algorithm == Algorithm::kAuto
                                  ? detail::kBudgetPerWord * static_cast<std::uint64_t>(n)
                              : options.step_limit == 0 ? detail::kNoLimit
                                                        : options.step_limit;
  std::uint8_t* in_tree =
      memory.get<detail::SampleScratch>().in_tree.resize(static_cast<std::size_t>(n) + 1);
  std::uint64_t taken = 0;
  bool finished = false;
  do {
    if (taken == limit) {
      finished = false;
      break;
    }
    ++statistics.tries;
    finished = walk.run(root, limit - taken, stream, in_tree, heads, taken);
  } while (finished && options.algorithm == Algorithm::kWilsonReject &&
           std::count(heads, heads + n, 0) != 1);
  statistics.steps += taken;
  return finished;
}

bool Sampler::Tables::sample_tree(detail::Stream& stream, detail::Scratch& memory,
                                  std::int32_t* heads, SampleStatistics& statistics) const {
  ++statistics.trees;
  if (options.algorithm == Algorithm::kElimination) {
    elimination.sample(0, stream, memory, heads);
    return true;
  }
  const int root = walks_from_a_root() ? sample_root(stream) : 0;
  if (options.algorithm == Algorithm::kColbourn) {
    if (colbourn.sample(root, stream, memory, heads)) ++statistics.fallbacks;
    return true;
  }
  if (sample_walk(root, stream, memory, heads, statistics)) return true;
  if (options.algorithm != Algorithm::kAuto) return false;
  // The walk's length says nothing of its tree, so nothing is biased by throwing it away; but its
  // length does depend on the root, which stays.
  ++statistics.fallbacks;
  elimination.sample(root, stream, memory, heads);
  return true;
}

std::size_t Sampler::sample(std::uint32_t sentence, std::uint32_t first, std::size_t count,
                            TreeBuffer out, Workspace& workspace, std::span<Status> statuses,
                            SampleStatistics* statistics) const {
  detail::require(tables_->data != nullptr, "Sampler::sample", "the sampler was not built");
  detail::require(statuses.empty() || statuses.size() == count, "Sampler::sample",
                  "statuses must be empty or have one entry per tree");
  detail::require(count <= (std::uint64_t{1} << 32) - first, "Sampler::sample",
                  "samples are numbered below 2^32");
  detail::Scratch& memory = detail::Access::scratch(workspace);
  const auto n = static_cast<std::size_t>(tables_->n);
  std::int32_t* heads = memory.get<detail::SampleScratch>().heads.resize(n);
  SampleStatistics taken;
  std::size_t written = 0;
  for (std::size_t s = 0; s < count; ++s) {
    detail::Stream stream(tables_->options.seed, sentence, first + static_cast<std::uint32_t>(s),
                          detail::Purpose::kTree);
    const bool drawn = tables_->sample_tree(stream, memory, heads, taken);
    if (drawn) {
      std::copy_n(heads, n, out.data + static_cast<std::ptrdiff_t>(s) * out.stride);
      ++written;
    }
    if (!statuses.empty()) statuses[s] = drawn ? Status::kOk : Status::kStepLimit;
  }
  if (statistics != nullptr) *statistics += taken;
  return written;
}

SampleStatistics& SampleStatistics::operator+=(const SampleStatistics& other) {
  trees += other.trees;
  steps += other.steps;
  tries += other.tries;
  fallbacks += other.fallbacks;
  return *this;
}

std::vector<Tree> sample(const Factorization& f, std::size_t k, const SampleOptions& options) {
  Sampler sampler;
  Workspace workspace;
  sampler.build(f, options, workspace);
  std::vector<Tree> trees(k, Tree(static_cast<std::size_t>(f.n())));
  for (std::size_t s = 0; s < k; ++s) {
    const TreeBuffer out{trees[s].data(), 0};
    if (sampler.sample(0, static_cast<std::uint32_t>(s), 1, out, workspace) == 0) {
      detail::misuse("sample", "tree " + std::to_string(s) + " met the step limit");
    }
  }
  return trees;
}

}  // namespace taproot
