// SPDX-License-Identifier: Apache-2.0
#include "decode/edmonds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/edmonds.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

using Node = Edmonds::Node;
using Edge = Edmonds::Edge;
using Swap = Edmonds::Swap;

constexpr double kUnit = 0x1p-51;  // Twice the error of a rounding, for both sides of a comparison.

HWY_INLINE double* row_of(Edmonds& e, const Node& node) {
  return e.rows.data() + static_cast<size_t>(node.row) * e.graph.ld;
}

// The word that the edge of a node from head h leads to.
HWY_INLINE Edge edge_of(const Edmonds& e, int32_t id, size_t h) {
  const Node& node = e.nodes[static_cast<size_t>(id)];
  const int32_t modifier =
      id <= e.graph.n
          ? id
          : static_cast<int32_t>(e.modifiers[static_cast<size_t>(node.row) * e.graph.ld + h]);
  return {static_cast<int32_t>(h), modifier};
}

// The largest entry of a row from `begin` (0 or 1) on; entries that may be as large within their
// errors are compared exactly. -1 if all are -inf.
HWY_INLINE int find_best(Edmonds& e, int32_t id, const double* HWY_RESTRICT row, size_t begin) {
  const D d;
  const size_t ld = e.graph.ld;
  const Node& node = e.nodes[static_cast<size_t>(id)];
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  const auto skipped = hn::FirstN(d, begin);
  V top = hn::IfThenElse(skipped, minus_inf, hn::LoadU(d, row));
  for (size_t j = kLanes; j < ld; j += kLanes) top = hn::Max(top, hn::LoadU(d, row + j));
  const double value = hn::GetLane(hn::MaxOfLanes(d, top));
  if (value == -HUGE_VAL) return -1;
  const double slack = node.rounds * kUnit * (std::abs(value) + node.magnitude);
  const V bar = hn::Set(d, value - slack);
  size_t count = 0;
  intptr_t found = -1;
  for (size_t j = 0; j < ld; j += kLanes) {
    auto above = hn::Ge(hn::LoadU(d, row + j), bar);
    if (j == 0) above = hn::AndNot(skipped, above);
    const size_t here = hn::CountTrue(d, above);
    if (here == 0) continue;
    if (found < 0) found = static_cast<intptr_t>(j) + hn::FindFirstTrue(d, above);
    count += here;
  }
  if (HWY_UNLIKELY(count > 1)) {
    for (size_t h = static_cast<size_t>(found) + 1; h < ld; ++h) {
      if (!(row[h] >= value - slack)) continue;
      if (e.compare(edge_of(e, id, h), edge_of(e, id, static_cast<size_t>(found)), id) > 0) {
        found = static_cast<intptr_t>(h);
      }
    }
  }
  return static_cast<int>(found);
}

// Whether row + shift is exact everywhere.
HWY_INLINE bool adds_exactly(const double* HWY_RESTRICT row, size_t ld, double shift) {
  const D d;
  const V b = hn::Set(d, shift);
  for (size_t j = 0; j < ld; j += kLanes) {
    const V a = hn::LoadU(d, row + j);
    const V r = hn::Add(a, b);
    const V of_b = hn::Sub(r, a);
    const V rest = hn::Add(hn::Sub(a, hn::Sub(r, of_b)), hn::Sub(b, of_b));
    // NaN for -inf: not greater than 0.
    if (!hn::AllFalse(d, hn::Gt(hn::Abs(rest), hn::Zero(d)))) return false;
  }
  return true;
}

// A node's edges: their values, the words they lead to, and 0 or, for heads that are part of the
// node itself, -inf. Of a single word the last two are known without: null.
struct Edges {
  double* values;
  double* modifiers;
  double* inside;
};

HWY_INLINE Edges edges_of(Edmonds& e, int32_t id) {
  const size_t at = static_cast<size_t>(e.nodes[static_cast<size_t>(id)].row) * e.graph.ld;
  if (id <= e.graph.n) return {e.rows.data() + at, nullptr, nullptr};
  return {e.rows.data() + at, e.modifiers.data() + at, e.inside.data() + at};
}

// Head by head the larger of two edges into parts of node `id`, a or b + shift, into a. b may be of
// one word.
HWY_INLINE void take_larger(Edmonds& e, int32_t id, const Edges& a, const Edges& b, double shift,
                            int32_t word) {
  const D d;
  const size_t ld = e.graph.ld;
  const Node& node = e.nodes[static_cast<size_t>(id)];
  const V unit = hn::Set(d, 2 * node.rounds * kUnit);  // Twice: of two that are close, one counts.
  const V magnitude = hn::Set(d, node.magnitude);
  const V by = hn::Set(d, shift);
  for (size_t j = 0; j < ld; j += kLanes) {
    const V inside = hn::LoadU(d, a.inside + j);
    V x = hn::LoadU(d, a.values + j);
    const V y = hn::Add(hn::Add(hn::LoadU(d, b.values + j), by), inside);
    const V of_x = hn::LoadU(d, a.modifiers + j);
    V of_y = hn::Set(d, static_cast<double>(word));
    if (b.modifiers != nullptr) {
      const V other = hn::LoadU(d, b.inside + j);
      x = hn::Add(x, other);
      hn::StoreU(hn::Min(inside, other), d, a.inside + j);
      of_y = hn::LoadU(d, b.modifiers + j);
    }
    const auto larger = hn::Gt(y, x);
    // False where one or both are -inf.
    const V slack = hn::Mul(unit, hn::Add(hn::Abs(y), magnitude));
    const V difference = hn::Sub(x, y);
    const auto doubtful =
        hn::Or(hn::Lt(hn::Abs(difference), slack), hn::Eq(difference, hn::Zero(d)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, doubtful))) {
      HWY_ALIGN double xs[kLanes];
      HWY_ALIGN double ys[kLanes];
      HWY_ALIGN double mx[kLanes];
      HWY_ALIGN double my[kLanes];
      HWY_ALIGN double flags[kLanes];
      hn::StoreU(x, d, xs);
      hn::StoreU(y, d, ys);
      hn::StoreU(of_x, d, mx);
      hn::StoreU(of_y, d, my);
      hn::StoreU(hn::IfThenElse(doubtful, hn::Set(d, 1.0), hn::Zero(d)), d, flags);
      for (size_t l = 0; l < kLanes; ++l) {
        bool takes = ys[l] > xs[l];
        if (flags[l] != 0) {
          const auto head = static_cast<int32_t>(j + l);
          takes = e.compare({head, static_cast<int32_t>(my[l])},
                            {head, static_cast<int32_t>(mx[l])}, id) > 0;
        }
        a.values[j + l] = takes ? ys[l] : xs[l];
        a.modifiers[j + l] = takes ? my[l] : mx[l];
      }
      continue;
    }
    hn::StoreU(hn::IfThenElse(larger, y, x), d, a.values + j);
    hn::StoreU(hn::IfThenElse(larger, of_y, of_x), d, a.modifiers + j);
  }
  if (b.modifiers == nullptr) a.values[word] = a.inside[word] = -HUGE_VAL;
}

// The cycle from path[begin] to the path's end becomes one node. Its largest part stays as it is,
// and the others are shifted to it: so an entry is rounded log n times at most.
HWY_INLINE int32_t contract_cycle(Edmonds& e, size_t begin) {
  const size_t ld = e.graph.ld;
  const int32_t id = e.add_node();
  size_t largest = begin;
  for (size_t at = begin + 1; at < e.path.size(); ++at) {
    const auto size = [&](size_t i) { return e.nodes[static_cast<size_t>(e.path[i])].size; };
    if (size(at) > size(largest)) largest = at;
  }
  std::swap(e.path[begin], e.path[largest]);
  const int32_t core_id = e.path[begin];
  Node& core = e.nodes[static_cast<size_t>(core_id)];
  Node& whole = e.nodes[static_cast<size_t>(id)];
  whole.base = Edmonds::sum(core.base, core.value);
  whole.row = core.row;
  whole.root = core.root;
  whole.first = core.first;
  whole.last = core.last;
  whole.size = core.size;
  whole.rounds = core.rounds;
  whole.magnitude = core.magnitude;
  core.parent = id;
  core.on_path = false;
  e.top[static_cast<size_t>(core.root)] = id;
  const Edges edges = edges_of(e, id);
  if (core_id <= e.graph.n) {
    std::fill_n(edges.modifiers, ld, static_cast<double>(core_id));
    std::fill_n(edges.inside, ld, 0.0);
    edges.inside[core_id] = -HUGE_VAL;
  }
  for (size_t at = begin + 1; at < e.path.size(); ++at) {
    const int32_t other = e.path[at];
    Node& part = e.nodes[static_cast<size_t>(other)];
    const Edmonds::Pair cost = Edmonds::difference(Edmonds::sum(part.base, part.value), whole.base);
    part.parent = id;
    part.on_path = false;
    e.up[static_cast<size_t>(part.root)] = whole.root;
    e.cost_up[static_cast<size_t>(part.root)] = cost;
    const Edges of_part = edges_of(e, other);
    const bool exact = whole.rounds == 0 && part.rounds == 0 && cost.low == 0 &&
                       adds_exactly(of_part.values, ld, -cost.high);
    if (!exact) whole.rounds = std::max(whole.rounds, part.rounds + 2);
    whole.magnitude = std::max(whole.magnitude, part.magnitude + std::abs(cost.high));
    take_larger(e, id, edges, of_part, -cost.high, other);
    e.next_word[static_cast<size_t>(whole.last)] = part.first;
    whole.last = part.last;
    whole.size += part.size;
  }
  return id;
}

// The best edge into a node instead of its edge that leaves the rest of the tree as it is. False
// if there is none.
HWY_INLINE bool find_swap(Edmonds& e, int32_t id, Swap& swap) {
  const size_t ld = e.graph.ld;
  const Node& node = e.nodes[static_cast<size_t>(id)];
  const bool single = e.graph.root == RootRule::kSingle;
  const auto head = static_cast<size_t>(node.edge.head);
  double best = -HUGE_VAL;
  swap = {node.edge, {0, 0}, id, 0, 0};
  // From another head, outside of the tree below the word.
  if (!(single && head == 0)) {
    const double* row = row_of(e, node);
    const double enter = e.enter[static_cast<size_t>(node.edge.modifier)];
    const double leave = e.leave[static_cast<size_t>(node.edge.modifier)];
    double* others = e.others.data();
    for (size_t h = 0; h < ld; ++h) {
      const bool below = e.enter[h] >= enter && e.enter[h] <= leave;
      others[h] = below ? -HUGE_VAL : row[h];
    }
    others[head] = -HUGE_VAL;
    const int other = find_best(e, id, others, single ? 1 : 0);
    if (other >= 0) {
      best = others[other] - node.base.high;
      swap.taken = edge_of(e, id, static_cast<size_t>(other));
    }
  }
  // From the same head to another word of the cycle.
  for (int32_t m = node.first; m != 0; m = e.next_word[static_cast<size_t>(m)]) {
    const double score = e.graph.score(node.edge.head, m);
    if (m == node.edge.modifier || score == -HUGE_VAL) continue;
    int32_t within = 0;
    const Edmonds::Pair offset = e.offset_of(m, within);
    const double value = (score - offset.high) - offset.low;
    const double slack =
        (node.rounds + 2) * kUnit * (std::abs(value) + node.magnitude + std::abs(node.base.high));
    const Edge edge{node.edge.head, m};
    if (best == -HUGE_VAL || value > best + slack ||
        (value >= best - slack && e.compare(edge, swap.taken, id) > 0)) {
      best = value;
      swap.taken = edge;
    }
  }
  if (best == -HUGE_VAL) return false;
  swap.loss = node.value.high - best;
  swap.error = (node.rounds + 2) * kUnit *
               (std::abs(node.value.high) + std::abs(best) +
                2 * (node.magnitude + std::abs(node.base.high)));
  return true;
}

// Contracts the graph to nothing. With `heads`, its best tree, finds the best swap, too; `swap` is
// left with within = 0 if there is none. False if there is no tree.
bool contract(Edmonds& e, const int32_t* heads, Swap* swap) {
  const int n = e.graph.n;
  const bool single = e.graph.root == RootRule::kSingle;
  bool root_taken = false;
  for (int32_t start = 1; start <= n; ++start) {
    int32_t at = e.node_of(start);
    if (e.nodes[static_cast<size_t>(at)].done) continue;
    for (;;) {
      Node& node = e.nodes[static_cast<size_t>(at)];
      const double* row = row_of(e, node);
      if (!node.on_path) {
        node.on_path = true;
        e.path.push_back(at);
      }
      int head = find_best(e, at, row, single ? 1 : 0);
      if (head < 0) {
        if (!single || root_taken || row[0] == -HUGE_VAL) return false;
        head = 0;
        root_taken = true;
      }
      node.edge = edge_of(e, at, static_cast<size_t>(head));
      int32_t within = at;
      const Edmonds::Pair offset = e.offset_of(node.edge.modifier, within);
      const double score = e.graph.score(head, node.edge.modifier);
      // An exact entry is the value plus the base; sums along links might lose a bit of it.
      node.value = node.rounds == 0 ? Edmonds::difference({row[head], 0}, node.base)
                                    : Edmonds::difference({score, 0}, offset);
      if (heads != nullptr && heads[node.edge.modifier] == head) {
        Swap found;
        if (find_swap(e, at, found) && (swap->within == 0 || e.loses_less(found, *swap))) {
          *swap = found;
        }
      }
      const int32_t to = head == 0 ? 0 : e.node_of(head);
      if (head == 0 || e.nodes[static_cast<size_t>(to)].done) {
        for (const int32_t id : e.path) e.nodes[static_cast<size_t>(id)].done = true;
        e.path.clear();
        break;
      }
      if (!e.nodes[static_cast<size_t>(to)].on_path) {
        at = to;
        continue;
      }
      size_t begin = e.path.size() - 1;
      while (e.path[begin] != to) --begin;
      at = contract_cycle(e, begin);
      e.path.resize(begin);
    }
  }
  return true;
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(contract);

namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

// The number that tells trees of equal score apart: 50 bits of the edge's ends, mixed.
std::uint64_t order_of(Edmonds::Edge edge) {
  std::uint64_t x =
      static_cast<std::uint64_t>(edge.head) << 32 | static_cast<std::uint32_t>(edge.modifier);
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return (x ^ x >> 31) >> 14;
}

}  // namespace

void Edmonds::start(const EdgeGraph& g) {
  graph = g;
  const auto n = static_cast<std::size_t>(g.n);
  nodes.resize(n + 1);
  path.clear();
  modifiers.resize((n + 1) * g.ld);
  inside.resize((n + 1) * g.ld);
  next_word.assign(n + 1, 0);
  up.resize(n + 1);
  top.resize(n + 1);
  cost_up.assign(n + 1, {0, 0});
  for (std::int32_t m = 0; m <= g.n; ++m) {
    up[index(m)] = top[index(m)] = m;
    Node& node = nodes[index(m)];
    node = {};
    node.edge = {0, m};
    node.parent = node.row = node.root = node.first = node.last = m;
    node.size = 1;
  }
}

std::int32_t Edmonds::add_node() {
  const auto id = static_cast<std::int32_t>(nodes.size());
  nodes.emplace_back();
  nodes.back().parent = id;
  return id;
}

// What a node's best edge costs, exactly.
const Edmonds::Cost& Edmonds::cost(std::int32_t node) {
  if (!nodes[index(node)].has_cost) find_cost(node);
  return costs[index(node)];
}

// It is made of the costs of the nodes below; without recursion, which could go n deep.
void Edmonds::find_cost(std::int32_t node) {
  if (costs.size() < nodes.size()) costs.resize(nodes.size());
  pending.assign(1, node);
  while (!pending.empty()) {
    const std::int32_t at = pending.back();
    const std::size_t before = pending.size();
    for (std::int32_t c = nodes[index(at)].edge.modifier; c != at; c = nodes[index(c)].parent) {
      if (!nodes[index(c)].has_cost) pending.push_back(c);
    }
    if (pending.size() > before) continue;
    pending.pop_back();
    if (nodes[index(at)].has_cost) continue;
    costs[index(at)] = {};
    add(nodes[index(at)].edge, at, 1, costs[index(at)]);
    nodes[index(at)].has_cost = true;
  }
}

// Adds or subtracts the value of an edge into node `within`: its score less what its word has cost
// in the nodes below.
void Edmonds::add(Edge edge, std::int32_t within, int sign, Cost& sum) {
  const double score = graph.score(edge.head, edge.modifier);
  sum.score.add(sign * score);
  const std::uint64_t order = order_of(edge);
  sum.order += sign > 0 ? order : -order;
  for (std::int32_t c = edge.modifier; c != within; c = nodes[index(c)].parent) {
    const Cost& less = cost(c);
    if (sign > 0) {
      sum.score.subtract(less.score);
    } else {
      sum.score.add(less.score);
    }
    sum.order += sign > 0 ? -less.order : less.order;
  }
}

int Edmonds::compare(Edge a, Edge b, std::int32_t within) {
  Cost sum;
  add(a, within, 1, sum);
  add(b, within, -1, sum);
  if (sum.score.sign() != 0) return sum.score.sign();
  const auto order = static_cast<std::int64_t>(sum.order);
  return order > 0 ? 1 : order < 0 ? -1 : 0;
}

bool Edmonds::loses_less(const Swap& a, const Swap& b) {
  if (a.loss + a.error < b.loss - b.error) return true;
  if (a.loss - a.error > b.loss + b.error) return false;
  Cost sum;
  add(a.lost, a.within, 1, sum);
  add(a.taken, a.within, -1, sum);
  add(b.lost, b.within, -1, sum);
  add(b.taken, b.within, 1, sum);
  return sum.score.sign() != 0 ? sum.score.sign() < 0 : static_cast<std::int64_t>(sum.order) < 0;
}

// Every node has its best edge; that of a cycle takes the place of those of its parts that it leads
// to.
void Edmonds::expand(std::int32_t* heads) {
  for (auto id = static_cast<std::int32_t>(nodes.size()) - 1; id > 0; --id) {
    if (nodes[index(id)].dissolved) continue;
    const Edge edge = nodes[index(id)].edge;
    heads[edge.modifier] = edge.head;
    for (std::int32_t c = edge.modifier; c != id; c = nodes[index(c)].parent) {
      nodes[index(c)].dissolved = true;
    }
  }
}

// Of a walk around the tree: the words below m are those entered from enter[m] to leave[m].
void Edmonds::number_subtrees(const std::int32_t* heads) {
  const auto n = static_cast<std::size_t>(graph.n);
  std::vector<std::int32_t> first(n + 1, 0);
  std::vector<std::int32_t> next(n + 1, 0);
  for (auto m = graph.n; m > 0; --m) {
    next[index(m)] = first[index(heads[m])];
    first[index(heads[m])] = m;
  }
  double* in = enter.resize(graph.ld);
  double* out = leave.resize(graph.ld);
  std::fill(in, in + graph.ld, -1.0);
  double clock = 0;
  in[0] = 0;
  std::int32_t at = 0;
  for (;;) {
    if (first[index(at)] != 0) {
      const std::int32_t child = first[index(at)];
      first[index(at)] = next[index(child)];
      in[child] = ++clock;
      at = child;
    } else {
      out[at] = clock;
      if (at == 0) break;
      at = heads[at];
    }
  }
}

void Edmonds::copy_rows(const EdgeGraph& g) {
  const std::size_t size = (static_cast<std::size_t>(g.n) + 1) * g.ld;
  std::copy(g.columns + g.ld, g.columns + size, rows.resize(size) + g.ld);
}

bool Edmonds::run(std::int32_t* heads) {
  if (!HWY_DYNAMIC_DISPATCH(contract)(*this, nullptr, nullptr)) return false;
  expand(heads);
  return true;
}

bool Edmonds::best(const EdgeGraph& g, std::int32_t* heads) {
  copy_rows(g);
  start(g);
  return run(heads);
}

bool Edmonds::best_of(Buffer<double>& columns, const EdgeGraph& g, std::int32_t* heads) {
  std::swap(rows, columns);
  start(g);
  const bool found = run(heads);
  std::swap(rows, columns);
  return found;
}

bool Edmonds::next(const EdgeGraph& g, const std::int32_t* heads, std::int32_t& modifier,
                   Cost& loss) {
  copy_rows(g);
  start(g);
  number_subtrees(heads);
  others.resize(g.ld);
  Swap swap;
  if (!HWY_DYNAMIC_DISPATCH(contract)(*this, heads, &swap) || swap.within == 0) return false;
  modifier = swap.lost.modifier;
  loss = {};
  add(swap.lost, swap.within, 1, loss);
  add(swap.taken, swap.within, -1, loss);
  return true;
}

Edmonds::Cost Edmonds::total(const EdgeGraph& g, const std::int32_t* heads) {
  Cost sum;
  for (std::int32_t m = 1; m <= g.n; ++m) {
    sum.score.add(g.score(heads[m], m));
    sum.order += order_of({heads[m], m});
  }
  return sum;
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
