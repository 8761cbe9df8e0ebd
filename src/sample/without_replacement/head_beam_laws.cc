// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/head_beam_laws.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {
namespace {

// The number of words whose rows are updated in one pass. They fit into the first-level cache, and
// the row of each ancestor is read once for all of them.
constexpr int kBlockWords = 8;
// Prefixes between two looks at the interrupt.
constexpr std::int32_t kStatesBetween = 64;

}  // namespace

template <typename T>
std::size_t HeadBeamLaws<T>::bytes() const {
  std::size_t most = 0;
  std::size_t states = 0;
  std::size_t rows = 0;
  for (const Level& level : levels_) {
    states += level.states.size();
    rows += level.row_count;
    most = std::max(most, level.states.size());
  }
  const std::size_t row = conditionals_->ld() * sizeof(double);
  return states * (sizeof(State) + sizeof(BeamLink)) + rows * row +
         most * (2 * row + (kHasRows ? kBlockWords * row : 0));
}

template <typename T>
int HeadBeamLaws<T>::start(const Conditionals& conditionals, Scratch& scratch) {
  const Conditionals& c = *(conditionals_ = &conditionals);
  interrupt_ = scratch.interrupt;
  path_ = &scratch.get<SampleScratch>().path;
  path_->heads.resize(node_count(c.n()));
  levels_.resize(std::max(levels_.size(), node_count(c.n()) + 1));
  for (Level& level : levels_) {
    level.states.clear();
    level.links.clear();
    level.row_count = 0;
  }
  double* leads_to = leads_.resize(c.ld());
  for (std::size_t x = 0; x < c.ld(); ++x) leads_to[x] = static_cast<double>(x);
  const int first = c.single() ? 0 : 1;
  const bool rows = kHasRows && !c.single() && row_error(c.visits(0), 1) <= kBeamError;
  levels_[first].states.push_back({0, rows ? c.visits(0) : 0, 1, 0, 0, rows});
  return first;
}

template <typename T>
bool HeadBeamLaws<T>::begin_level(int level, std::size_t states) {
  if (level > conditionals_->n()) return false;
  if (level > 0 && (level - 1) % kBlockWords == 0) start_block(level);
  if (kHasRows && level > 0) {
    levels_[level].rows.resize(states * conditionals_->ld());
    levels_[level].row_count = states;
  }
  return true;
}

template <typename T>
void HeadBeamLaws<T>::write_heads(std::span<std::int32_t> states, std::int32_t* out) const {
  if (states.empty()) return;  // `out` may be null then.
  const Conditionals& c = *conditionals_;
  // Going level by level for all trees keeps many independent memory accesses under way.
  for (int level = c.n() + 1; level > 1; --level) {
    std::int32_t* to = out + c.word(level - 1) - 1;
    for (std::int32_t& state : states) {
      const BeamLink link = levels_[level].links[state];
      *to = c.word(link.choice);
      to += c.n();
      state = link.parent;
    }
  }
}

template <typename T>
std::size_t HeadBeamLaws<T>::block_words() const {
  return static_cast<std::size_t>(std::min(kBlockWords, conditionals_->n() + 1 - block_));
}

// Writes what a prefix has decided on words first .. level-1 to the entries before `end`, in the
// order of the words. Returns the first of these entries.
template <typename T>
Decided* HeadBeamLaws<T>::decided_since(int first, int level, std::int32_t state,
                                        Decided* end) const {
  const int sink = levels_[level].states[state].sink;
  for (int l = level; l > first; --l) {
    const BeamLink link = levels_[l].links[state];
    const int word = l - 1;
    if (word != sink) {
      const MatrixView rows(levels_[word].rows.data(), conditionals_->ld());
      *--end = {rows.row(link.parent), word, link.choice, levels_[l].states[state].inverse_p};
    }
    state = link.parent;
  }
  return end;
}

// Computes the rows of the block's words for every prefix, updated for all words before the block.
template <typename T>
void HeadBeamLaws<T>::start_block(int level) {
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
void HeadBeamLaws<T>::find_exact_law(int level, std::int32_t state, T* p) {
  const Conditionals& c = *conditionals_;
  std::int32_t at = state;
  for (int l = level; l > 1; --l) {
    const BeamLink link = levels_[l].links[at];
    path_->heads[l - 1] = link.choice;
    at = link.parent;
  }
  path_->template contraction<T>().start(c, levels_[level].states[state].sink);
  path_->template contraction<T>().probabilities(level, path_->heads.data(), p);
}

template <typename T>
double HeadBeamLaws<T>::find_law(int level, std::int32_t s, T* p) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  State& state = levels_[level].states[s];
  if (level == 0) {
    std::copy_n(c.template roots<T>(), ld, p);
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
  find_exact_law(level, s, p);
  return 0;
}

template <typename T>
void HeadBeamLaws<T>::make_level(int level, std::span<const BeamCandidate> candidates) {
  const Conditionals& c = *conditionals_;
  const std::size_t ld = c.ld();
  const auto& parents = levels_[level].states;
  auto& states = levels_[level + 1].states;
  auto& links = levels_[level + 1].links;
  double* leads_to = next_leads_.resize(candidates.size() * ld);
  for (const BeamCandidate& from : candidates) {
    State state = parents[from.state];
    if (level == 0) {
      state.sink = from.choice;
      state.visits = c.visits(from.choice);
      state.rows = kHasRows && row_error(state.visits, 1) <= kBeamError;
      std::copy_n(leads(0), ld, leads_to);
      leads_to[0] = state.sink;
    } else if (state.sink == level) {
      std::copy_n(leads(from.state), ld, leads_to);
    } else if (state.rows) {
      const double* row = MatrixView(levels_[level].rows.data(), ld).row(from.state);
      const double pivot = row[level] - row[from.choice];
      state.inverse_p = 1 / pivot;
      state.amplification *=
          pivot_amplification(std::max(row[level], c.row_scale(state.sink, level)), pivot);
      const double* old = leads(from.state);
      merge_leads(old, level, old[from.choice], ld, leads_to);
    } else {
      std::fill_n(leads_to, ld, 0.0);  // Without rows this is not used.
    }
    states.push_back(state);
    links.push_back({from.state, from.choice});
    leads_to += ld;
  }
  std::swap(leads_, next_leads_);
}

template class HeadBeamLaws<double>;
template class HeadBeamLaws<Wide>;

}  // namespace taproot::detail
