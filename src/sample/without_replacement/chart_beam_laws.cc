// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/chart_beam_laws.h"

#include <algorithm>

namespace taproot::detail {

template <typename T>
int ChartBeamLaws<T>::start(const ChartTables& tables, Scratch&) {
  tables_ = &tables;
  pending_.clear();
  levels_.resize(std::max(levels_.size(), tables.most_choices() + 1));
  for (Level& level : levels_) {
    level.states.clear();
    level.links.clear();
  }
  last_ = 0;
  std::int32_t first = kNone;
  start_walk(
      tables.shape(), [](int, int) {},
      [&](const ChartCell& cell) {
        pending_.push_back({cell, kNone});
        first = 0;
      });
  levels_[0].states.push_back(first);
  return 0;
}

template <typename T>
bool ChartBeamLaws<T>::begin_level(int level, std::size_t) const {
  const auto& states = levels_[level].states;
  return std::any_of(states.begin(), states.end(),
                     [](std::int32_t first) { return first != kNone; });
}

template <typename T>
double ChartBeamLaws<T>::find_law(int level, std::int32_t state, T* p) const {
  const std::int32_t first = levels_[level].states[state];
  if (first != kNone) {
    tables_->find_law(pending_[first].cell, p);
  } else {
    std::fill_n(p, width(), T(0));
    p[0] = T(1);
  }
  return 0;
}

template <typename T>
void ChartBeamLaws<T>::make_level(int level, std::span<const BeamCandidate> candidates) {
  auto& states = levels_[level + 1].states;
  auto& links = levels_[level + 1].links;
  for (const BeamCandidate& from : candidates) {
    std::int32_t list = levels_[level].states[from.state];
    if (list != kNone) {
      const Pending decided = pending_[list];
      list = decided.rest;
      take_choice(
          tables_->shape(), decided.cell, from.choice, [](int, int) {},
          [&](const ChartCell& cell) {
            pending_.push_back({cell, list});
            list = static_cast<std::int32_t>(pending_.size()) - 1;
          });
    }
    states.push_back(list);
    links.push_back({from.state, from.choice});
  }
  last_ = level + 1;
}

template <typename T>
void ChartBeamLaws<T>::write_heads(std::span<std::int32_t> states, std::int32_t* out) const {
  const ChartShape& shape = tables_->shape();
  const int first = shape.first;
  for (std::int32_t& state : states) {
    const auto attach = [&](int m, int h) { out[m + first - 1] = h < 0 ? 0 : h + first; };
    start_walk(shape, attach, [](const ChartCell&) {});
    for (int level = last_; level > 0; --level) {
      const BeamLink link = levels_[level].links[state];
      const std::int32_t decided = levels_[level - 1].states[link.parent];
      if (decided != kNone) {
        take_choice(shape, pending_[decided].cell, link.choice, attach, [](const ChartCell&) {});
      }
      state = link.parent;
    }
    out += tables_->n();
  }
}

template <typename T>
std::size_t ChartBeamLaws<T>::bytes() const {
  std::size_t states = 0;
  for (const Level& level : levels_) states += level.states.size();
  return states * (sizeof(std::int32_t) + sizeof(BeamLink)) + pending_.size() * sizeof(Pending);
}

template class ChartBeamLaws<double>;
template class ChartBeamLaws<Wide>;

}  // namespace taproot::detail
