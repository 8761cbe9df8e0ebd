// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "sample/algorithm.h"
#include "sample/without_replacement/decider.h"
#include "sample/without_replacement/gumbel.h"
#include "sample/without_replacement/list.h"
#include "sample/without_replacement/tree_set.h"
#include "sample/without_replacement/weight.h"
#include "taproot/sample.h"
#include "taproot/without_replacement.h"

namespace taproot {
struct WithoutReplacementSampler::State {
  // Where the next tree comes from.
  enum class Source : std::uint8_t { kRepeats, kTrie, kList, kBeam };

  const detail::FactorData* data = nullptr;
  WithoutReplacementOptions options;
  std::uint64_t id = 0;
  detail::StreamKey key{};
  Source source = Source::kRepeats;
  Status status = Status::kOk;
  detail::TreeSet sampled;
  double mass_sampled = 0;
  double last_gumbel = HUGE_VAL;
  std::uint32_t attempts = 0;
  detail::Buffer<std::int32_t> heads;
  detail::Buffer<std::int32_t> ahead;  // The trees of the next attempts, up to ahead_end.
  std::uint32_t ahead_begin = 0;
  std::uint32_t ahead_end = 0;
  Sampler sampler;
  std::unique_ptr<detail::Decider> deciders[2];  // One for each family, made when it is needed.
  detail::Decider* decider = nullptr;
  detail::Conditionals conditionals;  // For the list.
  detail::List list;

  // If something throws on the way, the sampler counts as not built.
  class Guard {
   public:
    explicit Guard(State& state) : state_(state) {}
    ~Guard() {
      if (!passed_) state_.data = nullptr;
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    void pass() { passed_ = true; }

   private:
    State& state_;
    bool passed_ = false;
  };

  void start(Workspace& workspace);
  void choose_decider();
  void hand_over(detail::Scratch& scratch);
  double log_left(detail::Scratch& scratch);
  bool sample(Workspace& workspace);
  const std::int32_t* next_attempt(Workspace& workspace);
  void sample_beam(std::size_t k, WithoutReplacementSample& out, detail::Scratch& scratch);

  // auto goes on with the trie when a sample is new less often than this.
  double least_left() const { return 1 / std::max(detail::kLeastShare, data->table.n / 2.0); }
};

WithoutReplacementSampler::WithoutReplacementSampler() : state_(std::make_unique<State>()) {}
WithoutReplacementSampler::~WithoutReplacementSampler() = default;
WithoutReplacementSampler::WithoutReplacementSampler(WithoutReplacementSampler&&) noexcept =
    default;
WithoutReplacementSampler& WithoutReplacementSampler::operator=(
    WithoutReplacementSampler&&) noexcept = default;

void WithoutReplacementSampler::build(const Factorization& f,
                                      const WithoutReplacementOptions& options, std::uint64_t id,
                                      Workspace& workspace) {
  State& s = *state_;
  State::Guard guard(s);
  const detail::FactorData& data = detail::require_ok(f);
  detail::require(to_string(options.algorithm) != "unknown", "WithoutReplacementSampler::build",
                  "there is no such algorithm");
  detail::require_goes_with(options.algorithm, data.family, "WithoutReplacementSampler::build");
  s.options = options;
  s.id = id;
  s.key = detail::stream_key(options.seed, id);
  s.data = &data;
  s.choose_decider();
  if (options.algorithm == WithoutReplacementAlgorithm::kAuto) {
    s.sampler.build(f, Algorithm::kAuto, workspace);
  } else if (options.algorithm == WithoutReplacementAlgorithm::kBeam) {
    s.decider->build(data, detail::Access::scratch(workspace));
  } else if (options.algorithm == WithoutReplacementAlgorithm::kList) {
    s.conditionals.build(data, detail::Access::scratch(workspace));
  }
  s.start(workspace);
  guard.pass();
}

void WithoutReplacementSampler::State::start(Workspace& workspace) {
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  status = Status::kOk;
  sampled.reset(static_cast<std::size_t>(data->table.n));
  heads.resize(static_cast<std::size_t>(data->table.n));
  mass_sampled = 0;
  last_gumbel = HUGE_VAL;
  attempts = 0;
  ahead_begin = ahead_end = 0;
  switch (options.algorithm) {
    case WithoutReplacementAlgorithm::kAuto:
      source = Source::kRepeats;
      break;
    case WithoutReplacementAlgorithm::kTrie:
      hand_over(scratch);
      break;
    case WithoutReplacementAlgorithm::kList:
      source = Source::kList;
      list.build(conditionals, *data, scratch);
      break;
    case WithoutReplacementAlgorithm::kBeam:
      source = Source::kBeam;
  }
}

void WithoutReplacementSampler::State::choose_decider() {
  auto& made = deciders[data->family == TreeFamily::kProjective ? 1 : 0];
  if (made == nullptr) made = detail::make_decider(data->family);
  decider = made.get();
}

// From repeats to the trie.
void WithoutReplacementSampler::State::hand_over(detail::Scratch& scratch) {
  decider->build(*data, scratch);
  decider->start_trie(sampled, options.memory_limit, scratch);
  source = Source::kTrie;
}

// log of the mass of the trees not sampled yet, -inf only if there are none (list: or if what is
// left is all rounding). May change the source.
double WithoutReplacementSampler::State::log_left(detail::Scratch& scratch) {
  if (source == Source::kList) return list.log_left();
  if (source == Source::kRepeats) {
    if (1 - mass_sampled >= least_left()) return std::log1p(-mass_sampled);
    hand_over(scratch);
  }
  return decider->log_left(sampled, scratch);
}

// The tree of the next attempt. Several are sampled at once, which takes less time for each.
// Their number grows with the attempts so far, so a caller who wants few trees does not pay for
// many.
const std::int32_t* WithoutReplacementSampler::State::next_attempt(Workspace& workspace) {
  constexpr std::uint32_t kMostAhead = 16;
  const auto n = static_cast<std::size_t>(data->table.n);
  if (attempts == ahead_end) {
    const std::uint32_t left = ~attempts;  // Attempts have 32 bits.
    const std::uint32_t size = std::max(1U, std::min({attempts, kMostAhead, left}));
    const TreeBuffer out{ahead.resize(n * kMostAhead), static_cast<std::ptrdiff_t>(n)};
    sampler.sample(id, {Algorithm::kAuto, options.seed, 0, attempts}, size, out, {}, nullptr,
                   workspace);
    ahead_begin = attempts;
    ahead_end = attempts + size;
  }
  return ahead.data() + n * (attempts++ - ahead_begin);
}

// Samples a new tree into `heads`. False if it takes another source, or list has lost the rest.
bool WithoutReplacementSampler::State::sample(Workspace& workspace) {
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  if (source == Source::kRepeats) {
    const auto most = static_cast<std::uint32_t>(detail::kMostRepeats / least_left());
    for (std::uint32_t repeats = 0; repeats < most; ++repeats) {
      const std::int32_t* tree = next_attempt(workspace);
      if (!sampled.add(tree)) continue;
      std::copy_n(tree, data->table.n, heads.data());
      return true;
    }
    // Giving up does not bias: how many repeats come says nothing of the next new tree.
    hand_over(scratch);
    return false;
  }
  detail::Stream stream(key, attempts++, detail::Purpose::kTree);
  if (source == Source::kList) {
    if (!list.sample(stream, scratch, heads.data())) return false;
  } else {
    decider->sample(stream, scratch, heads.data());
  }
  const bool is_new = sampled.add(heads.data());
  TAPROOT_ASSERT(is_new);
  return is_new;
}

bool WithoutReplacementSampler::next(std::span<std::int32_t> out, WithoutReplacementTree& tree,
                                     Workspace& workspace) {
  State& s = *state_;
  detail::require(s.data != nullptr, "WithoutReplacementSampler::next",
                  "the sampler was not built");
  detail::require(s.source != State::Source::kBeam, "WithoutReplacementSampler::next",
                  "beam samples all its trees at once: use sample()");
  detail::require(out.size() == static_cast<std::size_t>(s.data->table.n),
                  "WithoutReplacementSampler::next", "heads must have n entries");
  State::Guard guard(s);
  double location = 0;
  bool found = false;
  while (!found && s.status == Status::kOk) {
    const State::Source source = s.source;
    location = s.log_left(detail::Access::scratch(workspace));
    if (location > -HUGE_VAL) found = s.sample(workspace);
    if (found || s.source != source) continue;
    if (s.source == State::Source::kList && !s.list.complete()) s.status = Status::kNumericalLoss;
    break;
  }
  guard.pass();
  if (!found) return false;
  std::copy_n(s.heads.data(), out.size(), out.data());
  tree.log_prob = detail::tree_log_prob(*s.data, s.heads.data());
  const double p = std::exp(tree.log_prob);
  if (s.source == State::Source::kList) s.list.add(p);
  s.mass_sampled += p;
  detail::Stream stream(s.key, static_cast<std::uint32_t>(s.sampled.size() - 1),
                        detail::Purpose::kGumbel);
  tree.gumbel = detail::truncated_gumbel(location, s.last_gumbel, stream.exponential());
  s.last_gumbel = tree.gumbel;
  return true;
}

double WithoutReplacementSampler::kappa(Workspace& workspace) {
  State& s = *state_;
  detail::require(s.data != nullptr, "WithoutReplacementSampler::kappa",
                  "the sampler was not built");
  detail::require(s.source != State::Source::kBeam, "WithoutReplacementSampler::kappa",
                  "beam samples all its trees at once: see WithoutReplacementSample");
  State::Guard guard(s);
  const double location = s.log_left(detail::Access::scratch(workspace));
  guard.pass();
  if (!(location > -HUGE_VAL)) return -HUGE_VAL;
  detail::Stream stream(s.key, static_cast<std::uint32_t>(s.sampled.size()),
                        detail::Purpose::kKappa);
  return detail::truncated_gumbel(location, s.last_gumbel, stream.exponential());
}

std::size_t WithoutReplacementSampler::size() const { return state_->sampled.size(); }
Status WithoutReplacementSampler::status() const { return state_->status; }

std::size_t WithoutReplacementSampler::memory() const {
  return state_->source == State::Source::kTrie ? state_->decider->trie_bytes() : 0;
}

void WithoutReplacementSampler::State::sample_beam(std::size_t k, WithoutReplacementSample& out,
                                                   detail::Scratch& scratch) {
  decider->sample_beam(k, key, out, scratch);
  const auto n = static_cast<std::size_t>(data->table.n);
  for (std::size_t i = 0; i < out.gumbel.size(); ++i) {
    out.log_prob.push_back(detail::tree_log_prob(*data, out.heads.data() + i * n));
  }
}

void WithoutReplacementSampler::sample(std::size_t k, WithoutReplacementSample& out,
                                       Workspace& workspace) {
  State& s = *state_;
  detail::require(s.data != nullptr, "WithoutReplacementSampler::sample",
                  "the sampler was not built");
  out = {};
  out.n = s.data->table.n;
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  State::Guard guard(s);
  if (s.options.algorithm == WithoutReplacementAlgorithm::kBeam) {
    s.sample_beam(k, out, scratch);
  } else {
    if (s.sampled.size() > 0) s.start(workspace);
    const auto n = static_cast<std::size_t>(out.n);
    detail::Buffer<std::int32_t> heads;
    std::int32_t* tree = heads.resize(n);
    const std::size_t between = detail::trees_between_checks(n);
    WithoutReplacementTree found{};
    while (out.size() < k && next({tree, n}, found, workspace)) {
      out.heads.insert(out.heads.end(), tree, tree + n);
      out.log_prob.push_back(found.log_prob);
      out.gumbel.push_back(found.gumbel);
      if (out.size() % between == 0) detail::check(scratch.interrupt);
    }
    out.kappa = kappa(workspace);
    out.status = s.status;
    out.exhausted =
        out.kappa == -HUGE_VAL && (s.source != State::Source::kList || s.list.complete());
    out.memory = memory();
  }
  guard.pass();
  out.weight.resize(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out.weight[i] = detail::horvitz_thompson(out.log_prob[i], out.kappa);
  }
}

WithoutReplacementSample sample_without_replacement(const Factorization& f, std::size_t k,
                                                    const WithoutReplacementOptions& options) {
  Workspace workspace;
  WithoutReplacementSampler sampler;
  WithoutReplacementSample out;
  sampler.build(f, options, 0, workspace);
  sampler.sample(k, out, workspace);
  return out;
}

}  // namespace taproot
