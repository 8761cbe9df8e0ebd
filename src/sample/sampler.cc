// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "sample/algorithm.h"
#include "sample/chart/chart_sampler.h"
#include "sample/conditionals/colbourn.h"
#include "sample/sample_scratch.h"
#include "sample/un_elimination/un_elimination.h"
#include "sample/walk/alias.h"
#include "sample/walk/walk.h"
#include "taproot/sample.h"

namespace taproot {
struct Sampler::Tables {
  const detail::FactorData* data = nullptr;
  int n = 0;
  RootRule rule = RootRule::kSingle;
  Algorithm algorithm = Algorithm::kAuto;
  const detail::Chart* chart = nullptr;  // Of projective trees, which need no other tables.
  detail::Walk walk;
  detail::Buffer<std::uint32_t> root_planes;  // An alias table with words 1..n at 0..n-1.
  detail::EliminationSampler elimination;
  detail::Colbourn colbourn;

  bool walks_from_a_root() const {
    return rule == RootRule::kSingle && algorithm != Algorithm::kWilsonReject &&
           algorithm != Algorithm::kElimination;
  }

  void build_root(const Factorization& f, Workspace& workspace);
  detail::AliasTable root_table() const {
    return detail::alias_planes_at(root_planes.data(), n, static_cast<std::size_t>(n),
                                   std::size_t{0});
  }
  bool sample_tree(const SampleOptions& options, std::uint64_t id, std::uint32_t sample,
                   detail::Scratch& memory, std::int32_t* heads,
                   SampleStatistics& statistics) const;
  bool sample_walk(const SampleOptions& options, std::uint64_t id, std::uint32_t sample,
                   detail::Scratch& memory, std::int32_t* heads,
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
  if (algorithm == Algorithm::kWilsonRc) {
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
  std::uint32_t* planes =
      root_planes.resize(words * static_cast<std::size_t>(detail::alias_planes(n)));
  detail::fill_alias(p, n, detail::alias_planes_at(planes, n, words, std::size_t{0}), p + words,
                     work, work + words);
}

void Sampler::build(const Factorization& f, Algorithm algorithm, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::require_goes_with(algorithm, f.root_rule(), f.family(), "Sampler::build");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  Tables& t = *tables_;
  t.data = nullptr;  // If something throws below, the sampler counts as not built.
  t.n = f.n();
  t.rule = f.root_rule();
  t.algorithm = algorithm;
  t.chart = f.family() == TreeFamily::kProjective ? &data.chart : nullptr;
  if (t.chart != nullptr) {
    t.data = &data;
    return;
  }
  if (t.walks_from_a_root()) t.build_root(f, workspace);
  switch (algorithm) {
    case Algorithm::kElimination:
      t.elimination.build(data);
      break;
    case Algorithm::kColbourn:
      t.colbourn.build(data, scratch);
      break;
    default:
      t.walk.build(data, !t.walks_from_a_root(), scratch);
      if (algorithm == Algorithm::kAuto) t.elimination.build(data);
  }
  t.data = &data;
}

// One walk or, for wilson-reject, as many as it takes.
bool Sampler::Tables::sample_walk(const SampleOptions& options, std::uint64_t id,
                                  std::uint32_t sample, detail::Scratch& memory,
                                  std::int32_t* heads, SampleStatistics& statistics) const {
  auto& scratch = memory.get<detail::SampleScratch>();
  std::uint8_t* in_tree = scratch.in_tree.resize(static_cast<std::size_t>(n) + 1);
  std::uint64_t* depth = scratch.depth.resize(static_cast<std::size_t>(n) + 1);
  detail::Stacks stacks{detail::stream_key(options.seed, id), sample};
  const int root = walks_from_a_root() ? 1 + stacks.choose(root_table(), n, 0, 0) : 0;
  if (algorithm == Algorithm::kAuto) {
    ++statistics.tries;
    if (walk.run(root, stacks, detail::WalkLimits::budget(n), depth, in_tree, heads,
                 statistics.steps, memory.interrupt)) {
      return true;
    }
    // Whether a walk is given up says nothing of its tree, so throwing it away biases nothing. But
    // it does depend on the root, which therefore stays.
    ++statistics.fallbacks;
    detail::Stream fresh = detail::Stream::of_many(stacks.key, sample, detail::Purpose::kFallback);
    elimination.sample(root, fresh, memory, heads);
    return true;
  }
  const std::uint64_t limit = options.step_limit == 0
                                  ? detail::kMostDepth
                                  : std::min(options.step_limit, detail::kMostDepth);
  std::uint64_t taken = 0;
  bool finished = false;
  for (std::uint32_t attempt = 0; taken < limit; ++attempt) {
    ++statistics.tries;
    if (attempt > 0) stacks.key = detail::stream_key(options.seed, id, attempt);
    finished = walk.run(root, stacks, {limit - taken, detail::kMostDepth}, depth, in_tree, heads,
                        taken, memory.interrupt);
    if (!finished || algorithm != Algorithm::kWilsonReject) break;
    finished = std::count(heads, heads + n, 0) == 1;
    if (finished) break;
  }
  statistics.steps += taken;
  return finished;
}

bool Sampler::Tables::sample_tree(const SampleOptions& options, std::uint64_t id,
                                  std::uint32_t sample, detail::Scratch& memory,
                                  std::int32_t* heads, SampleStatistics& statistics) const {
  ++statistics.trees;
  const bool streams =
      chart != nullptr || algorithm == Algorithm::kElimination || algorithm == Algorithm::kColbourn;
  if (!streams) return sample_walk(options, id, sample, memory, heads, statistics);
  detail::Stream stream(detail::stream_key(options.seed, id), sample, detail::Purpose::kTree);
  if (chart != nullptr) {
    detail::sample_from_chart(*chart, stream, memory, heads);
  } else if (algorithm == Algorithm::kElimination) {
    elimination.sample(0, stream, memory, heads);
  } else {
    const int root = walks_from_a_root() ? 1 + detail::sample_alias(root_table(), n, stream) : 0;
    if (colbourn.sample(root, stream, memory, heads)) ++statistics.fallbacks;
  }
  return true;
}

std::size_t Sampler::sample(std::uint64_t id, const SampleOptions& options, std::size_t count,
                            TreeBuffer out, std::span<Status> statuses,
                            SampleStatistics* statistics, Workspace& workspace) const {
  constexpr const char* kName = "Sampler::sample";
  detail::require(tables_->data != nullptr, kName, "the sampler was not built");
  detail::require(options.algorithm == tables_->algorithm, kName,
                  "the sampler was built for another algorithm");
  detail::require(statuses.empty() || statuses.size() == count, kName,
                  "statuses must be empty or have one entry per tree");
  detail::require(count <= (std::uint64_t{1} << 32) - options.first_tree, kName,
                  "trees are numbered below 2^32");
  detail::Scratch& memory = detail::Access::scratch(workspace);
  const auto n = static_cast<std::size_t>(tables_->n);
  std::int32_t* heads = memory.get<detail::SampleScratch>().heads.resize(n);
  const std::size_t between = detail::trees_between_checks(n);
  SampleStatistics taken;
  std::size_t written = 0;
  for (std::size_t s = 0; s < count; ++s) {
    if (s % between == between - 1) detail::check(memory.interrupt);
    const std::uint32_t tree = options.first_tree + static_cast<std::uint32_t>(s);
    const bool found = tables_->sample_tree(options, id, tree, memory, heads, taken);
    if (found) {
      std::copy_n(heads, n, out.data + static_cast<std::ptrdiff_t>(s) * out.stride);
      ++written;
    }
    if (!statuses.empty()) statuses[s] = found ? Status::kOk : Status::kStepLimit;
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
  sampler.build(f, options.algorithm, workspace);
  std::vector<Tree> trees(k, Tree(static_cast<std::size_t>(f.n())));
  SampleOptions one = options;
  for (Tree& tree : trees) {
    if (sampler.sample(0, one, 1, {tree.data(), 0}, {}, nullptr, workspace) == 0) {
      throw SentenceError({Status::kStepLimit});
    }
    ++one.first_tree;
  }
  return trees;
}

}  // namespace taproot
