// SPDX-License-Identifier: Apache-2.0
#include "decode/contract.h"

#include <algorithm>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/contract.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "decode/find_swap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

using Node = ContractedGraph::Node;

// Whether row + shift is exact in every entry.
HWY_INLINE bool adds_exactly(const double* HWY_RESTRICT row, size_t ld, double shift) {
  const D d;
  const V b = hn::Set(d, shift);
  for (size_t j = 0; j < ld; j += kLanes) {
    const V a = hn::LoadU(d, row + j);
    const V r = hn::Add(a, b);
    const V of_b = hn::Sub(r, a);
    const V rest = hn::Add(hn::Sub(a, hn::Sub(r, of_b)), hn::Sub(b, of_b));
    // For an entry of -inf the rest is NaN, which is not greater than 0.
    if (!hn::AllFalse(d, hn::Gt(hn::Abs(rest), hn::Zero(d)))) return false;
  }
  return true;
}

// The edges into a node, by head: their entries, the words they lead to, and -inf for heads that
// are part of the node, else 0. For a single word the last two are null.
struct EdgesInto {
  double* values;
  double* modifiers;
  double* inside;
};

HWY_INLINE EdgesInto edges_into(ContractedGraph& g, int32_t id) {
  const auto row = [&](Buffer<double>& matrix) {
    return MatrixView(matrix.data(), g.edges.ld).row(g.nodes[id].row);
  };
  if (id <= g.edges.n) return {row(g.rows), nullptr, nullptr};
  return {row(g.rows), row(g.modifiers), row(g.inside)};
}

// Takes, for each head, the larger of two edges into parts of node `id`: a, or b + shift. The
// result is in a. If b has no modifiers, it is the single word `word`.
HWY_INLINE void take_larger(const ContractedGraph& g, ExactCosts& exact, int32_t id,
                            const EdgesInto& a, const EdgesInto& b, double shift, int32_t word) {
  const D d;
  const size_t ld = g.edges.ld;
  const Node& node = g.nodes[id];
  const V unit = hn::Set(d, 2 * node.rounds * kUnit);  // Doubled, because |y| stands for |x| too.
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
    // The comparison is in doubt if the difference is within the errors. If one or both are -inf it
    // is not, because then these tests are false.
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
          takes = exact.compare({head, static_cast<int32_t>(my[l])},
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

// Starts the new node `id` as a copy of the largest part of its cycle.
HWY_INLINE void start_cycle(ContractedGraph& g, int32_t id, int32_t core_id) {
  Node& core = g.nodes[core_id];
  Node& whole = g.nodes[id];
  whole.base = core.base + core.value;
  whole.row = core.row;
  whole.root = core.root;
  whole.first = core.first;
  whole.last = core.last;
  whole.size = core.size;
  whole.rounds = core.rounds;
  whole.magnitude = core.magnitude;
  core.parent = id;
  core.on_path = false;
  g.top[core.root] = id;
  if (core_id > g.edges.n) return;
  const EdgesInto edges = edges_into(g, id);
  std::fill_n(edges.modifiers, g.edges.ld, static_cast<double>(core_id));
  std::fill_n(edges.inside, g.edges.ld, 0.0);
  edges.inside[core_id] = -HUGE_VAL;
}

// Joins another part of its cycle to node `id`.
HWY_INLINE void join_part(ContractedGraph& g, ExactCosts& exact, int32_t id, int32_t part_id) {
  Node& part = g.nodes[part_id];
  Node& whole = g.nodes[id];
  const DoubleDouble cost = (part.base + part.value) - whole.base;
  part.parent = id;
  part.on_path = false;
  g.up[part.root] = whole.root;
  g.cost_up[part.root] = cost;
  const EdgesInto of_part = edges_into(g, part_id);
  const bool is_exact = whole.rounds == 0 && part.rounds == 0 && cost.low == 0 &&
                        adds_exactly(of_part.values, g.edges.ld, -cost.high);
  if (!is_exact) whole.rounds = std::max(whole.rounds, part.rounds + 2);
  whole.magnitude = std::max(whole.magnitude, part.magnitude + std::abs(cost.high));
  take_larger(g, exact, id, edges_into(g, id), of_part, -cost.high, part_id);
  g.next_word[whole.last] = part.first;
  whole.last = part.last;
  whole.size += part.size;
}

// Makes one node of the cycle from path[begin] to the end of the path. The entries of its largest
// part stay as they are and the others are shifted to them, so no entry is rounded more than
// log2(n) times.
HWY_INLINE int32_t contract_cycle(ContractedGraph& g, ExactCosts& exact, size_t begin) {
  const int32_t id = g.add_node();
  const auto first = g.path.begin() + static_cast<std::ptrdiff_t>(begin);
  // Not by std::max_element: a template of std is compiled for the baseline processor, so code for
  // another one is not inlined into it.
  auto largest = first;
  for (auto part = first + 1; part != g.path.end(); ++part) {
    if (g.nodes[*largest].size < g.nodes[*part].size) largest = part;
  }
  std::iter_swap(first, largest);
  start_cycle(g, id, *first);
  for (auto part = first + 1; part != g.path.end(); ++part) join_part(g, exact, id, *part);
  return id;
}

// Finds the best edge into a node. Returns false if there is none that may be taken.
HWY_INLINE bool find_edge(ContractedGraph& g, ExactCosts& exact, int32_t id, bool& root_taken) {
  Node& node = g.nodes[id];
  const bool single = g.edges.root == RootRule::kSingle;
  const double* row = MatrixView(g.rows.data(), g.edges.ld).row(node.row);
  int head = find_best(g, exact, id, row, single ? 1 : 0);
  if (head < 0) {
    if (!single || root_taken || row[0] == -HUGE_VAL) return false;
    head = 0;
    root_taken = true;
  }
  node.edge = edge_into(g, id, static_cast<size_t>(head));
  // If the entry is exact, the value comes from it, because a sum along the links might round.
  if (node.rounds == 0) {
    node.value = DoubleDouble{row[head], 0} - node.base;
  } else {
    const double score = g.edges.score(head, node.edge.modifier);
    node.value = DoubleDouble{score, 0} - g.cost_of(node.edge.modifier);
  }
  return true;
}

bool contract_all(ContractedGraph& g, ExactCosts& exact, SwapSearch* swaps) {
  bool root_taken = false;
  for (int32_t start = 1; start <= g.edges.n; ++start) {
    int32_t at = g.node_of(start);
    if (g.nodes[at].done) continue;
    for (;;) {
      Node& node = g.nodes[at];
      if (!node.on_path) {
        node.on_path = true;
        g.path.push_back(at);
      }
      if (!find_edge(g, exact, at, root_taken)) return false;
      const int32_t head = node.edge.head;
      if (swaps != nullptr && swaps->heads[node.edge.modifier] == head) {
        Swap found;
        if (find_swap(g, exact, *swaps, at, found) &&
            (swaps->best.within == 0 || exact.loses_less(found, swaps->best))) {
          swaps->best = found;
        }
      }
      const int32_t to = head == 0 ? 0 : g.node_of(head);
      if (head == 0 || g.nodes[to].done) {
        for (const int32_t id : g.path) g.nodes[id].done = true;
        g.path.clear();
        break;
      }
      if (!g.nodes[to].on_path) {
        at = to;
        continue;
      }
      size_t begin = g.path.size() - 1;
      while (g.path[begin] != to) --begin;
      at = contract_cycle(g, exact, begin);
      g.path.resize(begin);
    }
  }
  return true;
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(contract_all);

bool contract(ContractedGraph& graph, ExactCosts& exact, SwapSearch* swaps) {
  return HWY_DYNAMIC_DISPATCH(contract_all)(graph, exact, swaps);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
