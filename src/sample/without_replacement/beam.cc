// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/beam.h"
#include "core/format.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/check.h"
#include "sample/conditionals/choose.h"
#include "sample/sample_scratch.h"
#include "sample/without_replacement/gumbel.h"

namespace taproot::detail {
namespace {

// The number of words whose rows are updated in one pass. They fit into the first-level cache, and
// the row of each ancestor is read once for all of them.
constexpr int kBlockWords = 8;

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
  const int n = c.n();
  const std::size_t ld = c.ld();
  PathScratch& path = scratch.get<SampleScratch>().path;
  path.heads.resize(node_count(n));
  levels_.resize(std::max(levels_.size(), node_count(n) + 1));
  for (Level& level : levels_) {
    level.states.clear();
    level.links.clear();
    level.row_count = 0;
  }
  const double free = Stream(key, 0, Purpose::kBeam, node_count(n) * kLevelBlocks).gumbel();
  double* leads_to = leads_.resize(ld);
  for (std::size_t x = 0; x < ld; ++x) leads_to[x] = static_cast<double>(x);
  const int first = c.single() ? 0 : 1;
  const bool rows = kHasRows && !c.single() && row_error(c.visits(0), 1) <= kBeamError;
  levels_[first].states.push_back({0, free, 0, rows ? c.visits(0) : 0, 1, 0, 0, rows});
  results_.clear();
  for (int i = first; i <= n; ++i) {
    if (i > 0 && (i - 1) % kBlockWords == 0) start_block(i);
    select(i, width, path);
    make_level(i);
  }
  std::int32_t next = 0;
  for (const State& state : levels_[n + 1].states) results_.push_back({state.gumbel, next++});
  std::sort(results_.begin(), results_.end(), [](const Result& a, const Result& b) {
    return a.gumbel != b.gumbel ? a.gumbel > b.gumbel : a.state < b.state;
  });
}

template <typename T>
void Beam<T>::heads(std::size_t count, std::int32_t* out) const {
  const Conditionals& c = *conditionals_;
  std::vector<std::int32_t> states(count);
  for (std::size_t i = 0; i < count; ++i) states[i] = results_[i].state;
  // Going level by level for all trees keeps many independent memory accesses under way.
  for (int level = c.n() + 1; level > 1; --level) {
    std::int32_t* to = out + c.word(level - 1) - 1;
    for (std::size_t i = 0; i < count; ++i, to += c.n()) {
      const Link link = levels_[level].links[states[i]];
      *to = c.word(link.head);
      states[i] = link.parent;
    }
  }
}

template <typename T>
std::size_t Beam<T>::block_words() const {
  return static_cast<std::size_t>(std::min(kBlockWords, conditionals_->n() + 1 - block_));
}

// Writes what a prefix has decided on words first .. level-1 to the entries before `end`, in the
// order of the words. Returns the first of these entries.
template <typename T>
Decided* Beam<T>::decided_since(int first, int level, std::int32_t state, Decided* end) const {
  const int sink = levels_[level].states[state].sink;
  for (int l = level; l > first; --l) {
    const Link link = levels_[l].links[state];
    const int word = l - 1;
    if (word != sink) {
      const MatrixView rows(levels_[word].rows.data(), conditionals_->ld());
      *--end = {rows.row(link.parent), word, link.head, levels_[l].states[state].inverse_p};
    }
    state = link.parent;
  }
  return end;
}

// Computes the rows of the block's words for every prefix, updated for all words before the block.
template <typename T>
void Beam<T>::start_block(int level) {
  if constexpr (kHasRows) {
    const Conditionals& c = *conditionals_;
    const std::size_t ld = c.ld();
    auto& states = levels_[level].states;
    block_ = level;
    const std::size_t size = block_words() * ld;
    double* partial = partial_.resize(states.size() * size);
    std::vector<Decided> decided(node_count(c.n()));
    std::int32_t next = 0;
    for (State& state : states) {
      if (next % kStatesBetween == 0) check(interrupt_);
      state.anchor = next++;
      if (state.rows) {
        const Decided* end = decided.data() + decided.size();
        const Decided* begin =
            decided_since(1, level, state.anchor, decided.data() + decided.size());
        double* row = partial;
        for (int i = level; row != partial + size; ++i, row += ld) {
          if (i != state.sink) {
            c.start_row(state.sink, i, row);
          } else {
            std::fill_n(row, ld, 0.0);  // The sink has no row, but a place for one.
          }
        }
        reduce_rows(begin, static_cast<std::size_t>(end - begin), ld, block_words(), partial);
      }
      partial += size;
    }
  }
}

template <typename T>
void Beam<T>::find_exact_law(int level, std::int32_t state, PathScratch& path, T* p) {
  const Conditionals& c = *conditionals_;
  std::int32_t at = state;
  for (int l = level; l > 1; --l) {
    const Link link = levels_[l].links[at];
    path.heads[l - 1] = link.head;
    at = link.parent;
  }
  path.contraction<T>().start(c, levels_[level].states[state].sink);
  path.contraction<T>().probabilities(level, path.heads.data(), p);
}

// Finds the law of a prefix's next head. Returns its error.
template <typename T>
double Beam<T>::find_law(int level, std::int32_t s, PathScratch& path, T* p) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  State& state = levels_[level].states[s];
  if (level == 0) {
    std::copy_n(c.roots<T>(), ld, p);
    return 0;
  }
  if (state.sink == level) {  // The head of the root is ROOT.
    std::fill_n(p, ld, T(0));
    p[0] = T(1);
    return 0;
  }
  if constexpr (kHasRows) {
    if (state.rows) {
      double* row = MatrixView(levels_[level].rows.data(), ld).row(s);
      const double* started = MatrixView(partial_.data(), block_words() * ld).row(state.anchor);
      std::copy_n(MatrixView(started, ld).row(level - block_), ld, row);
      Decided decided[kBlockWords];
      Decided* end = decided + kBlockWords;
      const Decided* begin = decided_since(block_, level, s, end);
      reduce_rows(begin, static_cast<std::size_t>(end - begin), ld, 1, row);
      state.visits = std::max(state.visits, row[level] * c.total_weight(level));
      const double error = row_error(state.visits, state.amplification);
      if (error <= kBeamError) {
        row_law(c.weights<double>(level), row, leads(s), level, ld, p);
        return error;
      }
      state.rows = false;
    }
  }
  find_exact_law(level, s, path, p);
  return 0;
}

// Replaces the law from rows by the one from contraction, with 0 for the heads taken. Returns the
// mass left.
template <typename T>
T Beam<T>::make_exact(int level, std::int32_t s, PathScratch& path) {
  T* p = law(s);
  Children& own = children_[s];
  find_exact_law(level, s, path, p);
  own.error = 0;
  own.uncertain = false;
  for (std::int32_t c = own.last; c >= 0; c = candidates_[c].previous) {
    p[candidates_[c].head] = T(0);
  }
  return sum_of(p, conditionals_->ld());
}

// The random numbers of a prefix's child. Each child has two blocks of them: block 0 for its head,
// and block 1 for its Gumbel.
template <typename T>
Stream Beam<T>::stream(int level, std::int32_t s, std::int32_t child, int block) const {
  const std::uint64_t first = static_cast<std::uint64_t>(level) * kLevelBlocks +
                              static_cast<std::uint64_t>(2 * child + block);
  return Stream(key_, static_cast<std::uint32_t>(s), Purpose::kBeam, first);
}

// Samples the Gumbel of the prefix's next child.
template <typename T>
void Beam<T>::look_ahead(int level, std::int32_t s) {
  const State& state = levels_[level].states[s];
  Children& own = children_[s];
  const std::size_t ld = conditionals_->ld();
  T left = sum_of(law(s), ld);
  own.uncertain = own.error > 0 && !(T(own.error) < T(kBeamError) * left);
  if (own.uncertain) left = left + T(static_cast<double>(ld) * own.error);
  if (!(T(0) < left)) {
    own.next = -HUGE_VAL;
    return;
  }
  own.next = truncated_gumbel(state.log_p + log_of(left), candidates_[own.last].gumbel,
                              stream(level, s, own.count, 1).exponential());
}

// Makes the prefix's next child, which must exist, a candidate.
template <typename T>
void Beam<T>::take_child(int level, std::int32_t s, PathScratch& path) {
  Children& own = children_[s];
  const std::size_t ld = conditionals_->ld();
  T* p = law(s);
  Stream random = stream(level, s, own.count, 0);
  int head = choose(p, ld, sum_of(p, ld), random);
  if (own.error > 0 &&
      !(T(own.error) < p[head])) {  // It may be impossible, which rows cannot tell.
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

// Selects the children with the `width` largest Gumbels, in rounds. The Gumbels known for certain,
// of children taken and of next ones, set a bar. Next children above the bar are taken, and so the
// Gumbels of their successors become known.
template <typename T>
void Beam<T>::select(int level, std::size_t width, PathScratch& path) {
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
  const auto count = static_cast<std::int32_t>(states.size());
  for (std::int32_t s = 0; s < count; ++s) {
    if (s % kStatesBetween == 0) check(interrupt_);
    Children& own = children_[s];
    own = {states[s].gumbel, find_law(level, s, path, law(s)), 0, -1, false};
    note(own);  // The Gumbel of the first child is that of the prefix.
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
      const double next = children_[s].next;
      return next < bar || next == -HUGE_VAL;
    });
    if (active_.empty()) break;
    for (const std::int32_t s : active_) {
      if (children_[s].uncertain) {  // The bound is above the bar, so the exact value is needed.
        make_exact(level, s, path);
        look_ahead(level, s);
      } else {
        take_child(level, s, path);
      }
      note(children_[s]);
    }
  }
  std::erase_if(candidates_, [&](const Candidate& c) { return c.gumbel < bar; });
  put_in_order(states.size());
}

// Sorts the candidates by prefix and then by head, so that their order does not depend on the
// rounds in which they were found.
template <typename T>
void Beam<T>::put_in_order(std::size_t states) {
  places_.assign(states + 1, 0);
  for (const Candidate& c : candidates_) ++places_[c.state + 1];
  for (std::size_t s = 0; s < states; ++s) places_[s + 1] += places_[s];
  ordered_.resize(candidates_.size());
  for (const Candidate& c : candidates_) ordered_[places_[c.state]++] = c;
  std::int32_t begin = 0;
  for (std::size_t s = 0; s < states; begin = places_[s++]) {
    std::sort(ordered_.begin() + begin, ordered_.begin() + places_[s],
              [](const Candidate& a, const Candidate& b) { return a.head < b.head; });
  }
  candidates_.swap(ordered_);
}

// Makes the next level's prefixes from the candidates.
template <typename T>
void Beam<T>::make_level(int level) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const auto& parents = levels_[level].states;
  auto& states = levels_[level + 1].states;
  auto& links = levels_[level + 1].links;
  double* leads_to = next_leads_.resize(candidates_.size() * ld);
  for (const Candidate& from : candidates_) {
    State state = parents[from.state];
    state.log_p += from.log_p;
    state.gumbel = from.gumbel;
    if (level == 0) {
      state.sink = from.head;
      state.visits = c.visits(from.head);
      state.rows = kHasRows && row_error(state.visits, 1) <= kBeamError;
      std::copy_n(leads(0), ld, leads_to);
      leads_to[0] = state.sink;
    } else if (state.sink == level) {
      std::copy_n(leads(from.state), ld, leads_to);
    } else if (state.rows) {
      const double* row = MatrixView(levels_[level].rows.data(), ld).row(from.state);
      const double pivot = row[level] - row[from.head];
      state.inverse_p = 1 / pivot;
      state.amplification *=
          pivot_amplification(std::max(row[level], c.row_scale(state.sink, level)), pivot);
      const double* old = leads(from.state);
      merge_leads(old, level, old[from.head], ld, leads_to);
    } else {
      std::fill_n(leads_to, ld, 0.0);  // Without rows this is not used.
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
