// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/check.h"
#include "query/query.h"
#include "sample/algorithm.h"
#include "sample/chart/chart_sampler.h"
#include "sample/conditionals/colbourn.h"
#include "sample/sample_scratch.h"
#include "sample/un_elimination/un_elimination.h"
#include "sample/walk/alias.h"
#include "sample/walk/pop.h"
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
  // Why the last trees of "auto" were given up (PopRequest::trap), or kNoTrap if some were not. A
  // hint between calls: it changes how long trees take, and never the trees.
  static constexpr std::int32_t kNoTrap = -2;
  mutable std::atomic<std::int32_t> trap = kNoTrap;

  bool walks_from_a_root() const {
    return chart == nullptr && rule == RootRule::kSingle && algorithm != Algorithm::kWilsonReject &&
           algorithm != Algorithm::kElimination;
  }

  void build_root(const Factorization& f, Workspace& workspace);
  detail::AliasTable root_table() const {
    return detail::alias_planes_at(root_planes.data(), n, static_cast<std::size_t>(n),
                                   std::size_t{0});
  }
  bool walks() const {
    return chart == nullptr && algorithm != Algorithm::kElimination &&
           algorithm != Algorithm::kColbourn;
  }

  void sample_tree(const detail::StreamKey& key, std::uint32_t sample, detail::Scratch& memory,
                   std::int32_t* heads, SampleStatistics& statistics) const;
  void pop_on_budget(detail::PopRequest& request, detail::Scratch& memory,
                     SampleStatistics& statistics) const;
  void pop_by_name(const SampleOptions& options, std::uint64_t id, detail::PopRequest& request,
                   detail::Scratch& memory, SampleStatistics& statistics) const;
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
  t.trap.store(Tables::kNoTrap, std::memory_order_relaxed);
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

// Trees of "auto".
void Sampler::Tables::pop_on_budget(detail::PopRequest& request, detail::Scratch& memory,
                                    SampleStatistics& statistics) const {
  request.limits = detail::WalkLimits::budget(n);
  detail::pop_trees(request, memory);
  int given_up = 0;
  for (int t = 0; t < request.count; ++t) {
    ++statistics.tries;
    if (request.steps[t] != detail::kGivenUp) {
      statistics.steps += request.steps[t];
      continue;
    }
    // Whether a tree is given up says nothing of the tree, so throwing it away biases nothing. But
    // it does depend on the root, which therefore stays.
    statistics.steps += request.limits.steps;
    ++statistics.fallbacks;
    ++given_up;
    detail::Stream fresh =
        detail::Stream::of_many(request.key, request.samples[t], detail::Purpose::kFallback);
    elimination.sample(request.roots[t], fresh, memory, request.heads + t * request.stride);
    request.steps[t] = request.limits.steps;
  }
  // The next trees of the sentence will probably be like these.
  request.way = given_up == request.count ? detail::PopWay::kGiveUp : detail::PopWay::kFastest;
}

// Trees of a walk that is asked for by its name. wilson-reject tries again, on other stacks, until
// there is one root; the limit holds for all tries of a tree together.
void Sampler::Tables::pop_by_name(const SampleOptions& options, std::uint64_t id,
                                  detail::PopRequest& request, detail::Scratch& memory,
                                  SampleStatistics& statistics) const {
  const std::uint64_t limit = options.step_limit == 0
                                  ? detail::kMostDepth
                                  : std::min(options.step_limit, detail::kMostDepth);
  request.limits = {limit, detail::kMostDepth};
  if (algorithm != Algorithm::kWilsonReject) {
    detail::pop_trees(request, memory);
    statistics.tries += static_cast<std::uint64_t>(request.count);
    for (int t = 0; t < request.count; ++t) {
      statistics.steps += std::min(request.steps[t], limit);
    }
    return;
  }
  // One attempt for all trees that are still open, so that registers hold several. A tree's steps
  // do not depend on its limit, which may therefore be that of the tree with the most steps left.
  std::uint32_t samples[detail::kMostPopped];
  std::int32_t roots[detail::kMostPopped];
  std::uint64_t steps[detail::kMostPopped];
  std::uint64_t taken[detail::kMostPopped] = {};
  int open[detail::kMostPopped];
  std::iota(open, open + request.count, 0);
  detail::PopRequest tries = request;
  tries.samples = samples;
  tries.roots = roots;
  tries.steps = steps;
  for (std::uint32_t attempt = 0; tries.count > 0; ++attempt) {
    detail::check(memory.interrupt);
    if (attempt > 0) {
      tries.key = detail::stream_key(options.seed, id, attempt);
      tries.heads = memory.get<detail::SampleScratch>().attempt.resize(
          static_cast<std::size_t>(tries.count) * static_cast<std::size_t>(n));
    }
    std::uint64_t least = limit;
    for (int i = 0; i < tries.count; ++i) {
      samples[i] = request.samples[open[i]];
      least = std::min(least, taken[open[i]]);
    }
    tries.limits.steps = limit - least;
    detail::pop_trees(tries, memory);
    statistics.tries += static_cast<std::uint64_t>(tries.count);
    int left = 0;
    for (int i = 0; i < tries.count; ++i) {
      const int t = open[i];
      const std::int32_t* heads = tries.heads + i * tries.stride;
      const bool given_up = steps[i] > limit - taken[t];
      taken[t] = given_up ? limit : taken[t] + steps[i];
      const bool found = !given_up && std::count(heads, heads + n, 0) == 1;
      if (!found && taken[t] < limit) {
        open[left++] = t;
        continue;
      }
      statistics.steps += taken[t];
      request.steps[t] = found ? taken[t] : detail::kGivenUp;
      if (attempt > 0) std::copy_n(heads, n, request.heads + t * request.stride);
    }
    tries.count = left;
  }
}

// A tree of an algorithm that does not walk.
void Sampler::Tables::sample_tree(const detail::StreamKey& key, std::uint32_t sample,
                                  detail::Scratch& memory, std::int32_t* heads,
                                  SampleStatistics& statistics) const {
  detail::Stream stream(key, sample, detail::Purpose::kTree);
  if (chart != nullptr) {
    detail::sample_from_chart(*chart, stream, memory, heads);
  } else if (algorithm == Algorithm::kElimination) {
    elimination.sample(0, stream, memory, heads);
  } else {
    const int root = walks_from_a_root() ? 1 + detail::sample_alias(root_table(), n, stream) : 0;
    if (colbourn.sample(root, stream, memory, heads)) ++statistics.fallbacks;
  }
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
  const Tables& t = *tables_;
  detail::Scratch& memory = detail::Access::scratch(workspace);
  const auto n = static_cast<std::size_t>(t.n);
  const std::size_t group = t.walks() ? detail::kMostPopped : 1;
  std::int32_t* heads =
      memory.get<detail::SampleScratch>().heads.resize(n * std::min(group, count));
  std::uint32_t samples[detail::kMostPopped];
  std::int32_t roots[detail::kMostPopped];
  std::uint64_t steps[detail::kMostPopped];
  steps[0] = 0;  // Of a tree without a walk.
  const std::int32_t known = t.trap.load(std::memory_order_relaxed);
  const bool trapped = known != Tables::kNoTrap;
  std::int32_t trap = trapped ? known : 0;
  detail::PopRequest request{.tables = t.walk.tables(),
                             .key = detail::stream_key(options.seed, id),
                             .limits = {},
                             .way = trapped ? detail::PopWay::kGiveUp : detail::PopWay::kFastest,
                             .count = 0,
                             .samples = samples,
                             .heads = heads,
                             .stride = static_cast<std::ptrdiff_t>(n),
                             .roots = roots,
                             .steps = steps,
                             .trap = &trap};
  if (t.walks_from_a_root()) request.tables.root = t.root_table();
  const std::size_t between = detail::trees_between_checks(n);
  SampleStatistics taken;
  std::size_t written = 0;
  std::size_t unchecked = 0;
  for (std::size_t first = 0; first < count; first += group) {
    const std::size_t size = std::min(group, count - first);
    unchecked += size;
    if (unchecked >= between) {
      detail::check(memory.interrupt);
      unchecked = 0;
    }
    request.count = static_cast<int>(size);
    for (std::size_t i = 0; i < size; ++i) {
      samples[i] = options.first_tree + static_cast<std::uint32_t>(first + i);
    }
    if (!t.walks()) {
      t.sample_tree(request.key, samples[0], memory, heads, taken);
    } else if (t.algorithm == Algorithm::kAuto) {
      t.pop_on_budget(request, memory, taken);
    } else {
      t.pop_by_name(options, id, request, memory, taken);
    }
    taken.trees += size;
    for (std::size_t i = 0; i < size; ++i) {
      const bool found = steps[i] != detail::kGivenUp;
      if (!statuses.empty()) statuses[first + i] = found ? Status::kOk : Status::kStepLimit;
      if (!found) continue;
      std::copy_n(heads + i * n, n, out.data + static_cast<std::ptrdiff_t>(first + i) * out.stride);
      ++written;
    }
  }
  const std::int32_t learned = request.way == detail::PopWay::kGiveUp ? trap : Tables::kNoTrap;
  if (learned != known) t.trap.store(learned, std::memory_order_relaxed);
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
  const auto n = static_cast<std::size_t>(f.n());
  std::vector<Tree> trees(k, Tree(n));
  std::vector<std::int32_t> some(n * std::min<std::size_t>(k, detail::kMostPopped));
  SampleOptions part = options;
  for (std::size_t first = 0; first < k; first += detail::kMostPopped) {
    const std::size_t size = std::min<std::size_t>(k - first, detail::kMostPopped);
    part.first_tree = options.first_tree + static_cast<std::uint32_t>(first);
    const TreeBuffer out{some.data(), static_cast<std::ptrdiff_t>(n)};
    if (sampler.sample(0, part, size, out, {}, nullptr, workspace) < size) {
      throw SentenceError({Status::kStepLimit});
    }
    for (std::size_t i = 0; i < size; ++i) {
      std::copy_n(some.data() + i * n, n, trees[first + i].data());
    }
  }
  return trees;
}

}  // namespace taproot
