// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/beam.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/check.h"
#include "core/format.h"
#include "sample/conditionals/choose.h"
#include "sample/without_replacement/chart_beam_laws.h"
#include "sample/without_replacement/gumbel.h"
#include "sample/without_replacement/head_beam_laws.h"

namespace taproot::detail {

template <typename Laws>
std::size_t Beam<Laws>::bytes() const {
  return laws_.bytes() + most_states_ * (2 * sizeof(State) + laws_.width() * sizeof(T));
}

template <typename Laws>
void Beam<Laws>::run(const typename Laws::Tables& tables, std::size_t width, const StreamKey& key,
                     Scratch& scratch) {
  key_ = key;
  interrupt_ = scratch.interrupt;
  level_ = laws_.start(tables, scratch);
  const auto free_level = static_cast<std::uint64_t>(laws_.level_beyond());
  const double free = Stream(key, 0, Purpose::kBeam, free_level * kLevelBlocks).gumbel();
  states_.clear();
  states_.push_back({0, free});
  most_states_ = 1;
  for (; laws_.begin_level(level_, states_.size()); ++level_) {
    select(width);
    make_level();
  }
  results_.clear();
  std::int32_t next = 0;
  for (const State& state : states_) results_.push_back({state.gumbel, next++});
  std::sort(results_.begin(), results_.end(), [](const Result& a, const Result& b) {
    return a.gumbel != b.gumbel ? a.gumbel > b.gumbel : a.state < b.state;
  });
}

template <typename Laws>
void Beam<Laws>::heads(std::size_t count, std::int32_t* out) const {
  std::vector<std::int32_t> states(count);
  for (std::size_t i = 0; i < count; ++i) states[i] = results_[i].state;
  laws_.write_heads(states, out);
}

// Replaces the law by the exact one, with 0 for the choices taken. Returns the mass left.
template <typename Laws>
typename Laws::Scalar Beam<Laws>::make_exact(std::int32_t s) {
  T* p = law(s);
  Children& own = children_[s];
  laws_.find_exact_law(level_, s, p);
  own.error = 0;
  own.uncertain = false;
  for (std::int32_t c = own.last; c >= 0; c = candidates_[c].previous) {
    p[candidates_[c].choice] = T(0);
  }
  return sum_of(p, laws_.width());
}

// The random numbers of the prefix's child that is taken as number `child`. Each has two blocks: 0
// for its choice, and 1 for its Gumbel (that of child 0 is the prefix's own).
template <typename Laws>
Stream Beam<Laws>::stream(std::int32_t s, std::int32_t child, int block) const {
  const std::uint64_t first = static_cast<std::uint64_t>(level_) * kLevelBlocks +
                              static_cast<std::uint64_t>(2 * child + block);
  return Stream(key_, static_cast<std::uint32_t>(s), Purpose::kBeam, first);
}

// Samples the Gumbel of the prefix's next child.
template <typename Laws>
void Beam<Laws>::look_ahead(std::int32_t s) {
  Children& own = children_[s];
  const std::size_t width = laws_.width();
  T left = sum_of(law(s), width);
  own.uncertain = own.error > 0 && !(T(own.error) < T(kBeamError) * left);
  if (own.uncertain) left = left + T(static_cast<double>(width) * own.error);
  if (!(T(0) < left)) {
    own.next = -HUGE_VAL;
    return;
  }
  own.next = truncated_gumbel(states_[s].log_p + log_of(left), candidates_[own.last].gumbel,
                              stream(s, own.count, 1).exponential());
}

// Makes the prefix's next child, which must exist, a candidate.
template <typename Laws>
void Beam<Laws>::take_child(std::int32_t s) {
  Children& own = children_[s];
  const std::size_t width = laws_.width();
  T* p = law(s);
  Stream random = stream(s, own.count, 0);
  int choice = choose(p, width, sum_of(p, width), random);
  if (own.error > 0 && !(T(own.error) < p[choice])) {  // It may be impossible.
    const T left = make_exact(s);
    TAPROOT_ASSERT(T(0) < left);
    choice = choose(p, width, left, random);
  }
  candidates_.push_back({own.next, log_of(p[choice]), s, choice, own.last});
  p[choice] = T(0);
  own.last = static_cast<std::int32_t>(candidates_.size()) - 1;
  ++own.count;
  look_ahead(s);
}

// Selects the children with the `width` largest Gumbels, in rounds. The Gumbels known for certain,
// of children taken and of next ones, set a bar. Next children above the bar are taken, and so the
// Gumbels of their successors become known.
template <typename Laws>
void Beam<Laws>::select(std::size_t width) {
  laws_of_states_.resize(states_.size() * laws_.width());
  candidates_.clear();
  children_.resize(states_.size());
  active_.clear();
  largest_.clear();
  const auto note = [&](const Children& own) {
    if (!own.uncertain && own.next > -HUGE_VAL) largest_.push_back(own.next);
  };
  const auto count = static_cast<std::int32_t>(states_.size());
  for (std::int32_t s = 0; s < count; ++s) {
    if (s % kStatesBetween == 0) check(interrupt_);
    Children& own = children_[s];
    own = {states_[s].gumbel, laws_.find_law(level_, s, law(s)), 0, -1, false};
    note(own);  // The Gumbel of the first child is that of the prefix.
    take_child(s);
    note(own);
    if (own.next > -HUGE_VAL) active_.push_back(s);
  }
  double bar = -HUGE_VAL;
  for (;;) {
    if (largest_.size() >= width) {
      const auto last = largest_.begin() + static_cast<std::ptrdiff_t>(width - 1);
      std::nth_element(largest_.begin(), last, largest_.end(), std::greater<>());
      bar = *last;
      largest_.resize(width);
    }
    std::erase_if(active_, [&](std::int32_t s) {
      const double next = children_[s].next;
      return next < bar || next == -HUGE_VAL;
    });
    if (active_.empty()) break;
    for (const std::int32_t s : active_) {
      if (children_[s].uncertain) {  // The bound is above the bar, so the exact value is needed.
        make_exact(s);
        look_ahead(s);
      } else {
        take_child(s);
      }
      note(children_[s]);
    }
  }
  std::erase_if(candidates_, [&](const BeamCandidate& c) { return c.gumbel < bar; });
  put_in_order(states_.size());
}

// Sorts the candidates by prefix and then by choice, so that their order does not depend on the
// rounds in which they were found.
template <typename Laws>
void Beam<Laws>::put_in_order(std::size_t states) {
  places_.assign(states + 1, 0);
  for (const BeamCandidate& c : candidates_) ++places_[c.state + 1];
  for (std::size_t s = 0; s < states; ++s) places_[s + 1] += places_[s];
  ordered_.resize(candidates_.size());
  for (const BeamCandidate& c : candidates_) ordered_[places_[c.state]++] = c;
  std::int32_t begin = 0;
  for (std::size_t s = 0; s < states; begin = places_[s++]) {
    std::sort(ordered_.begin() + begin, ordered_.begin() + places_[s],
              [](const BeamCandidate& a, const BeamCandidate& b) { return a.choice < b.choice; });
  }
  candidates_.swap(ordered_);
}

// Makes the next level's prefixes from the candidates.
template <typename Laws>
void Beam<Laws>::make_level() {
  next_states_.clear();
  for (const BeamCandidate& from : candidates_) {
    next_states_.push_back({states_[from.state].log_p + from.log_p, from.gumbel});
  }
  states_.swap(next_states_);
  most_states_ = std::max(most_states_, states_.size());
  laws_.make_level(level_, candidates_);
}

template class Beam<HeadBeamLaws<double>>;
template class Beam<HeadBeamLaws<Wide>>;
template class Beam<ChartBeamLaws<double>>;
template class Beam<ChartBeamLaws<Wide>>;

}  // namespace taproot::detail
