// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/beam.h"
#include "core/format.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/check.h"
#include "sample/conditionals/choose.h"
#include "sample/without_replacement/gumbel.h"

namespace taproot::detail {
namespace {

// Words whose rows are reduced in one pass: they stay in the first-level cache, and each ancestor's
// row is read once for all of them.
constexpr std::size_t kBlockWords = 8;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

template <typename T>
std::size_t Beam<T>::bytes() const {
  std::size_t most = 0;
  std::size_t states = 0;
  std::size_t rows = 0;
  for (const Level& level : levels_) {
    states += level.states.size();
    rows += level.row_count;
    most = std::max(most, level.states.size());
  }
  const std::size_t row = conditionals_->ld() * sizeof(double);
  return states * (sizeof(State) + sizeof(Link)) + rows * row +
         most * (2 * row + conditionals_->ld() * sizeof(T) + (kHasRows ? kBlockWords * row : 0));
}

template <typename T>
void Beam<T>::run(const Conditionals& conditionals, std::size_t width, const StreamKey& key,
                  Scratch& scratch) {
  const Conditionals& c = *(conditionals_ = &conditionals);
  key_ = key;
  interrupt_ = scratch.interrupt;
  const auto n = static_cast<std::size_t>(c.n());
  const std::size_t ld = c.ld();
  PathScratch& path = PathScratch::of(scratch);
  path.heads.resize(n + 1);
  levels_.resize(std::max(levels_.size(), n + 2));
  for (Level& level : levels_) {
    level.states.clear();
    level.links.clear();
    level.row_count = 0;
  }
  const double free = Stream(key, 0, Purpose::kBeam, (n + 1) * kLevelBlocks).gumbel();
  double* leads_to = leads_.resize(ld);
  for (std::size_t x = 0; x < ld; ++x) leads_to[x] = static_cast<double>(x);
  const std::size_t first = c.single() ? 0 : 1;
  const bool rows = kHasRows && !c.single() && row_error(c.visits(0), 1) <= kBeamError;
  levels_[first].states.push_back({0, free, 0, rows ? c.visits(0) : 0, 1, 0, 0, rows});
  results_.clear();
  for (std::size_t i = first; i <= n; ++i) {
    if (i > 0 && (i - 1) % kBlockWords == 0) start_block(i);
    select(i, width, path);
    make_level(i);
  }
  const auto& states = levels_[n + 1].states;
  for (std::size_t s = 0; s < states.size(); ++s) {
    results_.push_back({states[s].gumbel, static_cast<std::int32_t>(s)});
  }
  std::sort(results_.begin(), results_.end(), [](const Result& a, const Result& b) {
    return a.gumbel != b.gumbel ? a.gumbel > b.gumbel : a.state < b.state;
  });
}

template <typename T>
void Beam<T>::heads(std::size_t count, std::int32_t* out) const {
  const Conditionals& c = *conditionals_;
  const auto n = static_cast<std::size_t>(c.n());
  std::vector<std::int32_t> states(count);
  for (std::size_t i = 0; i < count; ++i) states[i] = results_[i].state;
  // Level by level, so that many memory accesses are under way at once.
  for (std::size_t level = n + 1; level > 1; --level) {
    std::int32_t* to = out + c.word(static_cast<int>(level) - 1) - 1;
    for (std::size_t i = 0; i < count; ++i) {
      const Link link = levels_[level].links[index(states[i])];
      to[i * n] = c.word(link.head);
      states[i] = link.parent;
    }
  }
}

// The rows of the block's words for every prefix, as far as the words before the block go.
template <typename T>
void Beam<T>::start_block(std::size_t level) {
  if constexpr (kHasRows) {
    const Conditionals& c = *conditionals_;
    const std::size_t ld = c.ld();
    const std::size_t words = std::min(kBlockWords, static_cast<std::size_t>(c.n()) + 1 - level);
    auto& states = levels_[level].states;
    block_ = level;
    double* partial = partial_.resize(states.size() * words * ld);
    std::vector<Decided> decided(level);
    for (std::size_t s = 0; s < states.size(); ++s, partial += words * ld) {
      states[s].anchor = static_cast<std::int32_t>(s);
      if (s % kStatesBetween == 0) check(interrupt_);
      if (!states[s].rows) continue;
      std::size_t begin = level;
      auto at = static_cast<std::int32_t>(s);
      for (std::size_t l = level; l > 1; --l) {
        const Link link = levels_[l].links[index(at)];
        if (static_cast<std::size_t>(states[s].sink) != l - 1) {
          decided[--begin] = {levels_[l - 1].rows.data() + index(link.parent) * ld, l - 1,
                              index(link.head), levels_[l].states[index(at)].inverse_p};
        }
        at = link.parent;
      }
      for (std::size_t w = 0; w < words; ++w) {
        const int i = static_cast<int>(level + w);
        if (i != states[s].sink) {
          c.start_row(states[s].sink, i, partial + w * ld);
        } else {
          std::fill_n(partial + w * ld, ld, 0.0);  // Nobody's, but reduced like the others.
        }
      }
      reduce_rows(decided.data() + begin, level - begin, ld, words, partial);
    }
  }
}

template <typename T>
void Beam<T>::find_exact_law(std::size_t level, std::int32_t state, PathScratch& path, T* p) {
  const Conditionals& c = *conditionals_;
  std::int32_t at = state;
  for (std::size_t l = level; l > 1; --l) {
    const Link link = levels_[l].links[index(at)];
    path.heads[l - 1] = link.head;
    at = link.parent;
  }
  path.contraction<T>().start(c, levels_[level].states[index(state)].sink);
  path.contraction<T>().probabilities(static_cast<int>(level), path.heads.data(), p);
}

// The law of a prefix's next head; returns its error.
template <typename T>
double Beam<T>::find_law(std::size_t level, std::int32_t s, PathScratch& path, T* p) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const int i = static_cast<int>(level);
  State& state = levels_[level].states[index(s)];
  if (level == 0) {
    std::copy_n(c.roots<T>(), ld, p);
    return 0;
  }
  if (state.sink == i) {  // It has its head: ROOT.
    std::fill_n(p, ld, T(0));
    p[0] = T(1);
    return 0;
  }
  if constexpr (kHasRows) {
    if (state.rows) {
      double* row = levels_[level].rows.data() + index(s) * ld;
      const std::size_t words = std::min(kBlockWords, static_cast<std::size_t>(c.n()) + 1 - block_);
      std::copy_n(partial_.data() + (index(state.anchor) * words + level - block_) * ld, ld, row);
      Decided decided[kBlockWords];
      std::size_t begin = kBlockWords;
      std::int32_t at = s;
      for (std::size_t l = level; l > block_; --l) {
        const Link link = levels_[l].links[index(at)];
        if (static_cast<std::size_t>(state.sink) != l - 1) {
          decided[--begin] = {levels_[l - 1].rows.data() + index(link.parent) * ld, l - 1,
                              index(link.head), levels_[l].states[index(at)].inverse_p};
        }
        at = link.parent;
      }
      reduce_rows(decided + begin, kBlockWords - begin, ld, 1, row);
      state.visits = std::max(state.visits, row[i] * c.total_weight(i));
      const double error = row_error(state.visits, state.amplification);
      if (error <= kBeamError) {
        row_law(c.weights<double>(i), row, leads(s), i, ld, p);
        return error;
      }
      state.rows = false;
    }
  }
  find_exact_law(level, s, path, p);
  return 0;
}

// The contracted law in place of that from rows, without the heads taken. Returns what is left.
template <typename T>
T Beam<T>::make_exact(std::size_t level, std::int32_t s, PathScratch& path) {
  T* p = law(s);
  Children& own = children_[index(s)];
  find_exact_law(level, s, path, p);
  own.error = 0;
  own.uncertain = false;
  for (std::int32_t c = own.last; c >= 0; c = candidates_[index(c)].previous) {
    p[candidates_[index(c)].head] = T(0);
  }
  return sum_of(p, conditionals_->ld());
}

// Random numbers of a prefix's child: two blocks each, the first for its head, the second for its
// Gumbel.
template <typename T>
Stream Beam<T>::stream(std::size_t level, std::int32_t s, std::int32_t child, int block) const {
  const std::uint64_t first = level * kLevelBlocks + 2 * static_cast<std::uint64_t>(child) +
                              static_cast<std::uint64_t>(block);
  return Stream(key_, static_cast<std::uint32_t>(s), Purpose::kBeam, first);
}

// Which Gumbel the prefix's next child has.
template <typename T>
void Beam<T>::look_ahead(std::size_t level, std::int32_t s) {
  const State& state = levels_[level].states[index(s)];
  Children& own = children_[index(s)];
  const std::size_t ld = conditionals_->ld();
  T left = sum_of(law(s), ld);
  own.uncertain = own.error > 0 && !(T(own.error) < T(kBeamError) * left);
  if (own.uncertain) left = left + T(static_cast<double>(ld) * own.error);
  if (!(T(0) < left)) {
    own.next = -HUGE_VAL;
    return;
  }
  own.next = truncated_gumbel(state.log_p + log_of(left), candidates_[index(own.last)].gumbel,
                              stream(level, s, own.count, 1).exponential());
}

// Makes the prefix's next child, which is certain to be there, a candidate.
template <typename T>
void Beam<T>::take_child(std::size_t level, std::int32_t s, PathScratch& path) {
  Children& own = children_[index(s)];
  const std::size_t ld = conditionals_->ld();
  T* p = law(s);
  Stream random = stream(level, s, own.count, 0);
  int head = choose(p, ld, sum_of(p, ld), random);
  if (own.error > 0 && !(T(own.error) < p[head])) {  // Perhaps impossible: rows do not tell.
    const T left = make_exact(level, s, path);
    TAPROOT_ASSERT(T(0) < left);
    head = choose(p, ld, left, random);
  }
  candidates_.push_back({own.next, log_of(p[head]), s, head, own.last});
  p[head] = T(0);
  own.last = static_cast<std::int32_t>(candidates_.size()) - 1;
  ++own.count;
  look_ahead(level, s);
}

// The children with the `width` largest Gumbels. In rounds: all that are known for certain, of
// children taken and of next ones, put a bar; the next ones above it are taken, and more become
// known.
template <typename T>
void Beam<T>::select(std::size_t level, std::size_t width, PathScratch& path) {
  const auto& states = levels_[level].states;
  const std::size_t ld = conditionals_->ld();
  laws_.resize(states.size() * ld);
  if (kHasRows && level > 0) {
    levels_[level].rows.resize(states.size() * ld);
    levels_[level].row_count = states.size();
  }
  candidates_.clear();
  children_.resize(states.size());
  active_.clear();
  largest_.clear();
  const auto note = [&](const Children& own) {
    if (!own.uncertain && own.next > -HUGE_VAL) largest_.push_back(own.next);
  };
  for (std::size_t k = 0; k < states.size(); ++k) {
    const auto s = static_cast<std::int32_t>(k);
    if (k % kStatesBetween == 0) check(interrupt_);
    Children& own = children_[k];
    own = {states[k].gumbel, find_law(level, s, path, law(s)), 0, -1, false};
    note(own);  // The first child has its prefix's Gumbel.
    take_child(level, s, path);
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
      const double next = children_[index(s)].next;
      return next < bar || next == -HUGE_VAL;
    });
    if (active_.empty()) break;
    for (const std::int32_t s : active_) {
      if (children_[index(s)].uncertain) {  // It matters after all: find out.
        make_exact(level, s, path);
        look_ahead(level, s);
      } else {
        take_child(level, s, path);
      }
      note(children_[index(s)]);
    }
  }
  std::erase_if(candidates_, [&](const Candidate& c) { return c.gumbel < bar; });
  put_in_order(states.size());
}

// By prefix, then by head: the same whatever the rounds were.
template <typename T>
void Beam<T>::put_in_order(std::size_t states) {
  places_.assign(states + 1, 0);
  for (const Candidate& c : candidates_) ++places_[index(c.state) + 1];
  for (std::size_t s = 0; s < states; ++s) places_[s + 1] += places_[s];
  ordered_.resize(candidates_.size());
  for (const Candidate& c : candidates_) ordered_[index(places_[index(c.state)]++)] = c;
  std::int32_t begin = 0;
  for (std::size_t s = 0; s < states; begin = places_[s++]) {
    std::sort(ordered_.begin() + begin, ordered_.begin() + places_[s],
              [](const Candidate& a, const Candidate& b) { return a.head < b.head; });
  }
  candidates_.swap(ordered_);
}

// The next level's prefixes from the candidates.
template <typename T>
void Beam<T>::make_level(std::size_t level) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const int i = static_cast<int>(level);
  const auto& parents = levels_[level].states;
  auto& states = levels_[level + 1].states;
  auto& links = levels_[level + 1].links;
  double* leads_to = next_leads_.resize(candidates_.size() * ld);
  for (const Candidate& from : candidates_) {
    State state = parents[index(from.state)];
    state.log_p += from.log_p;
    state.gumbel = from.gumbel;
    if (level == 0) {
      state.sink = from.head;
      state.visits = c.visits(from.head);
      state.rows = kHasRows && row_error(state.visits, 1) <= kBeamError;
      std::copy_n(leads(0), ld, leads_to);
      leads_to[0] = state.sink;
    } else if (state.sink == i) {
      std::copy_n(leads(from.state), ld, leads_to);
    } else if (state.rows) {
      const double* row = levels_[level].rows.data() + index(from.state) * ld;
      const double pivot = row[i] - row[from.head];
      state.inverse_p = 1 / pivot;
      state.amplification *=
          pivot_amplification(std::max(row[i], c.row_scale(state.sink, i)), pivot);
      const double* old = leads(from.state);
      merge_leads(old, i, old[from.head], ld, leads_to);
    } else {
      std::fill_n(leads_to, ld, 0.0);  // Not needed any more.
    }
    states.push_back(state);
    links.push_back({from.state, from.head});
    leads_to += ld;
  }
  std::swap(leads_, next_leads_);
}

template class Beam<double>;
template class Beam<Wide>;

}  // namespace taproot::detail
