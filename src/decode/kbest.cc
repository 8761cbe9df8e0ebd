// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/check.h"
#include "decode/chart/chart_kbest.h"
#include "decode/decode_scratch.h"
#include "decode/load_columns.h"
#include "taproot/decode.h"

namespace taproot {
namespace {

using detail::Edmonds;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

// The trees not given out yet are parted into subsets, each with some edges forbidden and some
// required. Of each, one tree was given out, its best, and it is known which edge to forbid for the
// second best, and what that scores. Giving out the second best of the subset that has the best of
// these parts it in two: with that edge forbidden, and required (Lawler 1972; Camerini et al.
// 1980).
struct KBestIterator::State {
  struct Mask {
    std::int32_t parent;  // -1: none.
    std::int32_t head;
    std::int32_t modifier;
    bool required;
  };
  struct Subset {
    Edmonds::Cost score;  // Of its second best tree.
    std::int32_t masks;
    std::int32_t tree;  // Its best.
    std::int32_t modifier;
  };

  int n = 0;
  RootRule root = RootRule::kSingle;
  std::unique_ptr<detail::ChartKBest> chart;  // Of projective trees, which need nothing else.
  detail::Buffer<double> columns;
  detail::Buffer<double> masked;
  Edmonds edmonds;
  std::vector<Mask> masks;
  std::vector<std::int32_t> trees;  // [tree][n+1]
  std::vector<Subset> heap;
  // Subsets whose second best is not known yet: of the tree given out last.
  std::vector<std::pair<std::int32_t, std::int32_t>> pending;
  bool ready = false;

  std::size_t ld() const { return detail::leading_dimension(n); }
  std::int32_t* tree(std::int32_t i) { return trees.data() + index(i) * (index(n) + 1); }
  detail::EdgeGraph graph(std::int32_t mask);
  std::int32_t add_tree(std::int32_t mask);
  void find_second(std::int32_t mask, std::int32_t best);

  static bool comes_later(const Subset& a, const Subset& b) {
    Edmonds::Cost difference = a.score;
    difference.score.subtract(b.score.score);
    if (difference.score.sign() != 0) return difference.score.sign() < 0;
    return static_cast<std::int64_t>(a.score.order - b.score.order) < 0;
  }
};

KBestIterator::KBestIterator() : state_(std::make_unique<State>()) {}
KBestIterator::~KBestIterator() = default;
KBestIterator::KBestIterator(KBestIterator&&) noexcept = default;
KBestIterator& KBestIterator::operator=(KBestIterator&&) noexcept = default;

Outcome KBestIterator::build(const ScoreView& scores, RootRule root, TreeFamily family) {
  State& s = *state_;
  s.n = scores.n();
  s.root = root;
  s.masks.clear();
  s.trees.clear();
  s.heap.clear();
  s.pending.clear();
  s.ready = false;
  s.chart.reset();
  if (family == TreeFamily::kProjective) {
    s.chart = std::make_unique<detail::ChartKBest>();
    return s.chart->build(scores, root);
  }
  const Outcome outcome = detail::load_columns(scores, s.columns);
  if (!outcome.ok()) return outcome;
  if (s.add_tree(-1) < 0) return {Status::kNoTree};
  s.ready = true;
  return {};
}

// The graph with the edges forbidden and required by a chain of masks.
detail::EdgeGraph KBestIterator::State::graph(std::int32_t mask) {
  const std::size_t size = (index(n) + 1) * ld();
  if (mask < 0) return {columns.data(), ld(), n, root, nullptr};
  double* to = masked.resize(size);
  std::copy_n(columns.data(), size, to);
  for (; mask >= 0; mask = masks[index(mask)].parent) {
    const Mask& m = masks[index(mask)];
    double* column = to + index(m.modifier) * ld();
    if (m.required) {
      const double kept = column[m.head];
      std::fill_n(column, ld(), -HUGE_VAL);
      column[m.head] = kept;
    } else {
      column[m.head] = -HUGE_VAL;
    }
  }
  return {to, ld(), n, root, nullptr};
}

// The best tree under a chain of masks; -1 if there is none.
std::int32_t KBestIterator::State::add_tree(std::int32_t mask) {
  const auto count = static_cast<std::int32_t>(trees.size() / (index(n) + 1));
  trees.resize(trees.size() + index(n) + 1);
  if (edmonds.best(graph(mask), tree(count))) return count;
  trees.resize(trees.size() - index(n) - 1);
  return -1;
}

void KBestIterator::State::find_second(std::int32_t mask, std::int32_t best) {
  const detail::EdgeGraph masked_graph = graph(mask);
  Subset subset{{}, mask, best, 0};
  Edmonds::Cost loss;
  if (!edmonds.next(masked_graph, tree(best), subset.modifier, loss)) return;
  subset.score = Edmonds::total(masked_graph, tree(best));
  subset.score.score.subtract(loss.score);
  subset.score.order -= loss.order;
  heap.push_back(subset);
  std::push_heap(heap.begin(), heap.end(), comes_later);
}

bool KBestIterator::next(std::span<std::int32_t> heads, double& score) {
  State& s = *state_;
  detail::require(heads.size() == index(s.n), "KBestIterator::next", "heads must have n entries");
  if (s.chart != nullptr) return s.chart->next(heads, score);
  if (!s.ready) return false;
  std::int32_t given = 0;
  if (s.heap.empty() && s.pending.empty()) {
    s.pending.emplace_back(-1, 0);  // The best of all was found when it was built.
  } else {
    for (const auto& [mask, best] : s.pending) s.find_second(mask, best);
    s.pending.clear();
    if (s.heap.empty()) {
      s.ready = false;
      return false;
    }
    std::pop_heap(s.heap.begin(), s.heap.end(), State::comes_later);
    const State::Subset subset = s.heap.back();
    s.heap.pop_back();
    const std::int32_t head = s.tree(subset.tree)[subset.modifier];
    const auto forbids = static_cast<std::int32_t>(s.masks.size());
    s.masks.push_back({subset.masks, head, subset.modifier, false});
    s.masks.push_back({subset.masks, head, subset.modifier, true});
    given = s.add_tree(forbids);
    TAPROOT_ASSERT(given >= 0);
    s.pending = {{forbids, given}, {forbids + 1, subset.tree}};
  }
  std::copy_n(s.tree(given) + 1, heads.size(), heads.data());
  score =
      Edmonds::total({s.columns.data(), s.ld(), s.n, s.root, nullptr}, s.tree(given)).score.value();
  return true;
}

BestTrees kbest(const ScoreView& scores, std::size_t k, RootRule root, TreeFamily family) {
  KBestIterator trees;
  const Outcome outcome = trees.build(scores, root, family);
  if (!outcome.ok()) throw SentenceError(outcome);
  BestTrees best;
  best.n = scores.n();
  Tree heads(static_cast<std::size_t>(scores.n()));
  double score = 0;
  while (best.size() < k && trees.next(heads, score)) {
    best.heads.insert(best.heads.end(), heads.begin(), heads.end());
    best.score.push_back(score);
  }
  return best;
}

}  // namespace taproot
