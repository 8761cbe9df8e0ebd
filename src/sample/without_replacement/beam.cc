// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/beam.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "sample/choose.h"
#include "sample/without_replacement/gumbel.h"

namespace taproot::detail {
namespace {

// Words whose rows are reduced in one pass: they stay in the first-level cache, and each ancestor's
// row is read once for all of them.
constexpr std::size_t kBlockWords = 8;

// A law may come from rows while its error is below this part of the mass left in it.
constexpr double kMostError = 1e-9;

// Blocks of random numbers for each level: more than the children of a state can take.
constexpr std::uint64_t kLevelBlocks = std::uint64_t{1} << 20;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

template <typename T>
std::size_t Beam<T>::bytes() const {
  std::size_t rows = 0;
  for (const Level& level : levels_) {
    rows += level.row_count * conditionals_->ld() * sizeof(double) +
            level.states.capacity() * sizeof(State);
  }
  return rows;
}

template <typename T>
void Beam<T>::run(const Conditionals& conditionals, std::size_t width, std::uint64_t seed,
                  std::uint32_t sentence, Scratch& scratch) {
  const Conditionals& c = *(conditionals_ = &conditionals);
  seed_ = seed;
  sentence_ = sentence;
  const auto n = static_cast<std::size_t>(c.n());
  const std::size_t ld = c.ld();
  PathScratch& path = PathScratch::of(scratch);
  path.heads.resize(n + 1);
  levels_.resize(std::max(levels_.size(), n + 2));
  for (Level& level : levels_) {
    level.states.clear();
    level.row_count = 0;
  }
  const double free = Stream(seed, sentence, 0, Purpose::kBeam, (n + 1) * kLevelBlocks).gumbel();
  double* leads_to = leads_.resize(ld);
  for (std::size_t x = 0; x < ld; ++x) leads_to[x] = static_cast<double>(x);
  const std::size_t first = c.single() ? 0 : 1;
  const bool rows = kHasRows && !c.single() && row_error(c.visits(0), 1) <= kMostError;
  levels_[first].states.push_back({0, free, 0, rows ? c.visits(0) : 0, 1, -1, 0, 0, 0, rows});
  for (std::size_t i = first; i <= n; ++i) {
    if (i > 0 && (i - 1) % kBlockWords == 0) start_block(i, scratch);
    find_laws(i, path);
    select(i, width, path);
    make_level(i);
  }
  results_.clear();
  const auto& states = levels_[n + 1].states;
  for (std::size_t s = 0; s < states.size(); ++s) {
    results_.push_back({states[s].gumbel, static_cast<std::int32_t>(s)});
  }
  std::sort(results_.begin(), results_.end(), [](const Result& a, const Result& b) {
    return a.gumbel != b.gumbel ? a.gumbel > b.gumbel : a.state < b.state;
  });
}

template <typename T>
void Beam<T>::heads(std::size_t i, std::int32_t* out) const {
  const auto n = static_cast<std::size_t>(conditionals_->n());
  std::vector<std::int32_t> by_node(n + 1);
  std::int32_t state = results_[i].state;
  for (std::size_t level = n + 1; level > 1; --level) {
    const State& s = levels_[level].states[index(state)];
    by_node[level - 1] = s.head;
    state = s.parent;
  }
  conditionals_->to_words(by_node.data(), out);
}

// The rows of the block's words for every prefix, as far as the words before the block go.
template <typename T>
void Beam<T>::start_block(std::size_t level, Scratch&) {
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
      if (!states[s].rows) continue;
      std::size_t begin = level;
      auto at = static_cast<std::int32_t>(s);
      for (std::size_t l = level; l > 1; --l) {
        const State& state = levels_[l].states[index(at)];
        if (static_cast<std::size_t>(state.sink) != l - 1) {
          decided[--begin] = {levels_[l - 1].rows.data() + index(state.parent) * ld, l - 1,
                              index(state.head), state.inverse_p};
        }
        at = state.parent;
      }
      for (std::size_t w = 0; w < words; ++w) {
        const int i = static_cast<int>(level + w);
        if (i != states[s].sink) c.start_row(states[s].sink, i, partial + w * ld);
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
    const State& s = levels_[l].states[index(at)];
    path.heads[l - 1] = s.head;
    at = s.parent;
  }
  path.contraction<T>().start(c, levels_[level].states[index(state)].sink);
  path.contraction<T>().probabilities(static_cast<int>(level), path.heads.data(), p);
}

// The law of every prefix's next head.
template <typename T>
void Beam<T>::find_laws(std::size_t level, PathScratch& path) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  auto& states = levels_[level].states;
  laws_.resize(states.size() * ld);
  children_.clear();
  double* rows = nullptr;
  if constexpr (kHasRows) {
    if (level > 0) {
      rows = levels_[level].rows.resize(states.size() * ld);
      levels_[level].row_count = states.size();
    }
  }
  const int i = static_cast<int>(level);
  for (std::size_t s = 0; s < states.size(); ++s) {
    State& state = states[s];
    T* p = law(static_cast<std::int32_t>(s));
    children_.push_back({Stream(seed_, sentence_, static_cast<std::uint32_t>(s), Purpose::kBeam,
                                level * kLevelBlocks),
                         state.gumbel, 0, false});
    if (level == 0) {
      std::copy_n(c.roots<T>(), ld, p);
      continue;
    }
    if (state.sink == i) {  // It has its head: ROOT.
      std::fill_n(p, ld, T(0));
      p[0] = T(1);
      continue;
    }
    if constexpr (kHasRows) {
      if (state.rows) {
        double* row = rows + s * ld;
        const std::size_t words =
            std::min(kBlockWords, static_cast<std::size_t>(c.n()) + 1 - block_);
        std::copy_n(partial_.data() + (index(state.anchor) * words + level - block_) * ld, ld, row);
        Decided decided[kBlockWords];
        std::size_t begin = kBlockWords;
        auto at = static_cast<std::int32_t>(s);
        for (std::size_t l = level; l > block_; --l) {
          const State& below = levels_[l].states[index(at)];
          if (static_cast<std::size_t>(below.sink) != l - 1) {
            decided[--begin] = {levels_[l - 1].rows.data() + index(below.parent) * ld, l - 1,
                                index(below.head), below.inverse_p};
          }
          at = below.parent;
        }
        reduce_rows(decided + begin, kBlockWords - begin, ld, 1, row);
        state.visits = std::max(state.visits, row[i] * c.total_weight(i));
        const double error = row_error(state.visits, state.amplification);
        if (error <= kMostError) {
          row_law(c.weights<double>(i), row, leads(static_cast<std::int32_t>(s)), i, ld, p);
          children_.back().error = error;
          continue;
        }
        state.rows = false;
      }
    }
    find_exact_law(level, static_cast<std::int32_t>(s), path, p);
  }
}

// The contracted law in place of that from rows, without the heads taken.
template <typename T>
T Beam<T>::make_exact(std::size_t level, std::int32_t s, PathScratch& path) {
  T* p = law(s);
  find_exact_law(level, s, path, p);
  children_[index(s)].error = 0;
  // A prefix that goes on has all that it took among the candidates.
  for (const Candidate& c : candidates_) {
    if (c.state == s) p[c.head] = T(0);
  }
  return sum_of(p, conditionals_->ld());
}

// Adds the prefix's child with the next largest Gumbel, if that is above the bar. False if there is
// none, or none above.
template <typename T>
bool Beam<T>::next_child(std::size_t level, std::int32_t s, double bar, PathScratch& path) {
  const State& state = levels_[level].states[index(s)];
  const std::size_t ld = conditionals_->ld();
  Children& own = children_[index(s)];
  T* p = law(s);
  T left = sum_of(p, ld);
  double gumbel = state.gumbel;
  if (own.begun) {
    const double exponential = own.stream.exponential();
    if (own.error > 0 && !(T(own.error) < T(kMostError) * left)) {
      // So little is left that the rows' error shows. If it stays below the bar for all that, what
      // it is need not be known.
      const double most = to_double(left) + static_cast<double>(ld) * own.error;
      if (truncated_gumbel(state.log_p + std::log(most), own.last, exponential) < bar) return false;
      left = make_exact(level, s, path);
    }
    if (!(T(0) < left)) return false;
    gumbel = truncated_gumbel(state.log_p + log_of(left), own.last, exponential);
    if (gumbel < bar) return false;
  }
  int head = choose(p, ld, left, own.stream);
  if (own.error > 0 && !(T(own.error) < p[head])) {  // Perhaps impossible: rows do not tell.
    left = make_exact(level, s, path);
    if (!(T(0) < left)) return false;
    head = choose(p, ld, left, own.stream);
  }
  candidates_.push_back({gumbel, log_of(p[head]), s, head});
  p[head] = T(0);
  own.last = gumbel;
  own.begun = true;
  return true;
}

// The children with the `width` largest Gumbels, in rounds: every prefix whose last child is still
// among them makes the next one.
template <typename T>
void Beam<T>::select(std::size_t level, std::size_t width, PathScratch& path) {
  candidates_.clear();
  active_.clear();
  double bar = -HUGE_VAL;
  for (std::size_t s = 0; s < levels_[level].states.size(); ++s) {
    active_.push_back(static_cast<std::int32_t>(s));
  }
  while (!active_.empty()) {
    std::erase_if(active_, [&](std::int32_t s) { return !next_child(level, s, bar, path); });
    if (candidates_.size() >= width) {
      const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(width - 1);
      std::nth_element(candidates_.begin(), last, candidates_.end(),
                       [](const Candidate& a, const Candidate& b) { return a.gumbel > b.gumbel; });
      bar = last->gumbel;
      candidates_.resize(width);
      std::erase_if(active_, [&](std::int32_t s) { return children_[index(s)].last < bar; });
    }
  }
  // The order is the same whatever the selection did: by prefix, then by head.
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.state != b.state ? a.state < b.state : a.head < b.head;
  });
}

// The next level's prefixes from the candidates.
template <typename T>
void Beam<T>::make_level(std::size_t level) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const int i = static_cast<int>(level);
  const auto& parents = levels_[level].states;
  auto& states = levels_[level + 1].states;
  double* leads_to = next_leads_.resize(candidates_.size() * ld);
  for (const Candidate& from : candidates_) {
    State state = parents[index(from.state)];
    state.log_p += from.p;
    state.gumbel = from.gumbel;
    state.parent = from.state;
    state.head = from.head;
    if (level == 0) {
      state.sink = from.head;
      state.visits = c.visits(from.head);
      state.rows = kHasRows && row_error(state.visits, 1) <= kMostError;
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
    }
    states.push_back(state);
    leads_to += ld;
  }
  std::swap(leads_, next_leads_);
}

template class Beam<double>;
template class Beam<Wide>;

}  // namespace taproot::detail
