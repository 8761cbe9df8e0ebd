// SPDX-License-Identifier: Apache-2.0
//
// Edmonds' algorithm as in src/decode/contract.cc, by one warp per sentence and in exact integers.
// The best tree is unique (ties are broken by a number for each edge), so it is the same tree.
#pragma once

#include <cmath>

#include "cuda/decode/argmax.h"
#include "cuda/decode/fixed.cuh"
#include "decode/tree_cost.h"

namespace taproot::cuda {

/// The memory of one sentence. A node is a word or, from n + 1 on, a contracted cycle.
struct Contracted {
  /// [row][h]: the word of the best edge from h into the node that has this row; 0: there is none.
  std::uint16_t* modifiers;
  std::uint64_t* cost;  ///< [word][limb]: what an edge into the word has less than its score.
  double* rough;        ///< [n+1]: the same, rounded.
  double* found;        ///< [2n+1], by node: the score of the best edge into it.
  std::uint16_t* top;   ///< [n+1]: the outermost node that a word is part of.
  std::uint16_t* path;  ///< [n+1]
  std::uint16_t* row;   ///< [2n+1], as the others: by node.
  std::uint16_t* parent;
  std::uint16_t* head;  ///< The best edge into the node.
  std::uint16_t* modifier;
  std::uint8_t* state;

  TAPROOT_HOST_DEVICE static std::int64_t vector_bytes(std::int64_t n) {
    return (8 * (n + 1) + 8 * (2 * n + 1) + 2 * 2 * (n + 1) + 9 * (2 * n + 1) + 15) / 16 * 16;
  }
  /// Of the costs and the matrix.
  TAPROOT_HOST_DEVICE static std::int64_t large_bytes(std::int64_t n, int limbs) {
    return (8 * limbs * (n + 1) + 2 * (n + 1) * (n + 1) + 15) / 16 * 16;
  }

  __device__ Contracted(unsigned char* vectors, unsigned char* large, int n, int limbs) {
    cost = reinterpret_cast<std::uint64_t*>(large);
    modifiers = reinterpret_cast<std::uint16_t*>(cost + static_cast<std::int64_t>(limbs) * (n + 1));
    rough = reinterpret_cast<double*>(vectors);
    found = rough + n + 1;
    auto* at = reinterpret_cast<std::uint16_t*>(found + 2 * n + 1);
    const auto take = [&at](int count) {
      std::uint16_t* here = at;
      at += count;
      return here;
    };
    top = take(n + 1);
    path = take(n + 1);
    row = take(2 * n + 1);
    parent = take(2 * n + 1);
    head = take(2 * n + 1);
    modifier = take(2 * n + 1);
    state = reinterpret_cast<std::uint8_t*>(at);
  }
};

/// States of a node.
inline constexpr std::uint8_t kNew = 0;
inline constexpr std::uint8_t kOnPath = 1;
inline constexpr std::uint8_t kDone = 2;
inline constexpr std::uint8_t kDissolved = 3;

template <int kLimbs>
class Contraction {
 public:
  using Cost = Fixed<kLimbs>;
  /// Heads whose scores a lane reads together, so that it waits once.
  static constexpr int kAtOnce = 4;

  /// Few limbs are compared in double first, which decides unless two edges are nearly alike.
  static constexpr bool kFiltered = kLimbs <= 3;

  /// `c.modifiers` must hold the edges that are allowed. No value has a magnitude above `largest`.
  __device__ Contraction(const Contracted& c, const EdgeReader& values, int n, bool single,
                         int unit, double largest)
      : c_(c),
        values_(values),
        n_(n),
        single_(single),
        unit_(unit),
        nodes_(n + 1),
        reach_(largest) {
    for (int i = lane_id(); i <= n; i += kWarp) {
      c_.top[i] = c_.row[i] = c_.parent[i] = static_cast<std::uint16_t>(i);
      for (int l = 0; l < kLimbs; ++l) cost_of(i)[l] = 0;
      c_.rough[i] = 0;
    }
    for (int i = lane_id(); i <= 2 * n; i += kWarp) c_.state[i] = kNew;
    __syncwarp();
  }

  /// False if there is no tree. All lanes call it, as all functions here.
  __device__ bool run() {
    bool root_taken = false;
    for (int start = 1; start <= n_; ++start) {
      int at = c_.top[start];
      if (c_.state[at] == kDone) continue;
      int depth = 0;
      for (;;) {
        if (c_.state[at] != kOnPath) {
          __syncwarp();
          if (lane_id() == 0) {
            c_.state[at] = kOnPath;
            c_.path[depth] = static_cast<std::uint16_t>(at);
          }
          ++depth;
          __syncwarp();
        }
        const int head = find_edge(at, root_taken);
        if (head < 0) return false;
        const int to = head == 0 ? 0 : c_.top[head];
        if (head == 0 || c_.state[to] == kDone) {
          for (int i = lane_id(); i < depth; i += kWarp) c_.state[c_.path[i]] = kDone;
          __syncwarp();
          break;
        }
        if (c_.state[to] != kOnPath) {
          at = to;
          continue;
        }
        int begin = depth - 1;
        while (c_.path[begin] != to) --begin;
        at = contract(begin, depth);
        depth = begin;
      }
    }
    return true;
  }

  /// The heads of the best tree, by word, in the memory of the path.
  __device__ const std::uint16_t* expand() {
    for (int id = nodes_ - 1; id > 0 && lane_id() == 0; --id) {
      if (c_.state[id] == kDissolved) continue;
      const int modifier = c_.modifier[id];
      c_.path[modifier] = c_.head[id];
      for (int i = modifier; i != id; i = c_.parent[i]) c_.state[i] = kDissolved;
    }
    __syncwarp();
    return c_.path;
  }

 private:
  __device__ std::uint64_t* cost_of(int word) const {
    return c_.cost + static_cast<std::int64_t>(word) * kLimbs;
  }
  __device__ std::uint16_t* modifiers_of(int row) const {
    return c_.modifiers + static_cast<std::int64_t>(row) * (n_ + 1);
  }
  __device__ Cost cost(int word) const {
    Cost x;
#pragma unroll
    for (int l = 0; l < kLimbs; ++l) x.limb[l] = cost_of(word)[l];
    return x;
  }
  /// What an edge of this score is worth now.
  __device__ Cost worth(double score, int h, int m) const {
    Cost x = Cost::of(score, unit_, detail::order_of({h, m}));
    x -= cost(m);
    return x;
  }
  __device__ double score(int h, int m) const { return m == 0 ? 0.0 : values_(h, m); }
  /// Whether the edge from h to m is worth less than that to `other`.
  __device__ bool is_less(double score, int m, double other_score, int other, int h) const {
    if constexpr (kFiltered) {
      const double difference = rough_worth(other_score, other) - rough_worth(score, m);
      if (fabs(difference) > slack()) return difference > 0;
    }
    return worth(score, h, m) < worth(other_score, h, other);
  }
  /// The word of the edge from h in a row of node `id`; 0 if there is none from outside the node.
  __device__ int edge_from(const std::uint16_t* row, int h, int id) const {
    return h > n_ || (h > 0 && c_.top[h] == id) ? 0 : row[h];
  }

  /// What worths in double may be off by, two of them together: a cost is rounded thrice.
  __device__ double slack() const { return 0x1p-49 * reach_ + 0x1p-1000; }
  __device__ double rough_worth(double score, int m) const { return score - c_.rough[m]; }

  struct Choice {
    int h = -1;
    int m = 0;
    double score = 0;
  };

  /// The best edge of a row of node `id` but for ROOT's, single-root, among those whose worth in
  /// double is at least `floor`.
  __device__ Choice choose_exactly(const std::uint16_t* row, int id, double floor) const {
    Choice chosen;
    Cost best = Cost::of(0, 0, 0);
    for (int h0 = (single_ ? 1 : 0) + lane_id(); h0 <= n_; h0 += kWarp * kAtOnce) {
      int m[kAtOnce];
      double s[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) m[j] = edge_from(row, h0 + kWarp * j, id);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) s[j] = score(h0 + kWarp * j, m[j]);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (m[j] == 0 || (kFiltered && rough_worth(s[j], m[j]) < floor)) continue;
        const Cost x = worth(s[j], h0 + kWarp * j, m[j]);
        if (chosen.h < 0 || best < x) {
          chosen = {h0 + kWarp * j, m[j], s[j]};
          best = x;
        }
      }
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      const Choice other{shuffle_xor(chosen.h, step), shuffle_xor(chosen.m, step),
                         shuffle_xor(chosen.score, step)};
      const Cost x = best.from_lane(step);
      // Equal costs of two edges have a chance of 2^-50; all lanes must agree even then.
      const bool takes =
          other.h >= 0 && (chosen.h < 0 || best < x || (!(x < best) && other.h < chosen.h));
      if (takes) {
        chosen = other;
        best = x;
      }
    }
    return chosen;
  }

  /// The best edge of a row, in double; choose_exactly() is asked only where two are too close.
  __device__ Choice choose(const std::uint16_t* row, int id) const {
    if constexpr (!kFiltered) return choose_exactly(row, id, 0);
    Choice chosen;
    double best = -HUGE_VAL;
    double second = -HUGE_VAL;
    for (int h0 = (single_ ? 1 : 0) + lane_id(); h0 <= n_; h0 += kWarp * kAtOnce) {
      int m[kAtOnce];
      double s[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) m[j] = edge_from(row, h0 + kWarp * j, id);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) s[j] = score(h0 + kWarp * j, m[j]);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const double x = m[j] == 0 ? -HUGE_VAL : rough_worth(s[j], m[j]);
        if (x > best) {
          second = best;
          best = x;
          chosen = {h0 + kWarp * j, m[j], s[j]};
        } else {
          second = fmax(second, x);
        }
      }
    }
    const double top = quick_warp_max(best);
    if (top == -HUGE_VAL) return {};
    const double floor = top - slack();
    const unsigned near = __ballot_sync(kAllLanes, best >= floor);
    const bool alone = __popc(near) == 1 && !__any_sync(kAllLanes, second >= floor);
    if (!alone) return choose_exactly(row, id, floor);
    const int lane = __ffs(static_cast<int>(near)) - 1;
    return {__shfl_sync(kAllLanes, chosen.h, lane), __shfl_sync(kAllLanes, chosen.m, lane),
            __shfl_sync(kAllLanes, chosen.score, lane)};
  }

  /// The head of the best edge into a node, which is noted there; -1 if there is none.
  __device__ int find_edge(int id, bool& root_taken) {
    const std::uint16_t* row = modifiers_of(c_.row[id]);
    Choice chosen = choose(row, id);
    if (chosen.h < 0) {
      const int m = row[0];
      if (!single_ || root_taken || m == 0) return -1;
      chosen = {0, m, score(0, m)};
      root_taken = true;
    }
    if (lane_id() == 0) {
      c_.head[id] = static_cast<std::uint16_t>(chosen.h);
      c_.modifier[id] = static_cast<std::uint16_t>(chosen.m);
      c_.found[id] = chosen.score;
    }
    __syncwarp();
    return chosen.h;
  }

  /// Makes one node of the cycle from path[begin] to path[end - 1].
  __device__ int contract(int begin, int end) {
    const int id = nodes_++;
    double largest = 0;
    for (int i = begin; i < end; ++i) {
      const int part = c_.path[i];
      const int head = c_.head[part];
      const int modifier = c_.modifier[part];
      const Cost taken = worth(c_.found[part], head, modifier);
      largest = fmax(largest, fabs(rough_worth(c_.found[part], modifier)));
      __syncwarp();
      const bool is_word = part <= n_;
      for (int w = is_word ? part + lane_id() * n_ : 1 + lane_id(); w <= n_; w += kWarp) {
        if (c_.top[w] != part) continue;
        c_.top[w] = static_cast<std::uint16_t>(id);
        Cost x = cost(w);
        x += taken;
#pragma unroll
        for (int l = 0; l < kLimbs; ++l) cost_of(w)[l] = x.limb[l];
        if constexpr (kFiltered) c_.rough[w] = x.rounded(unit_);
        if (is_word) break;
      }
      if (lane_id() == 0) c_.parent[part] = static_cast<std::uint16_t>(id);
      __syncwarp();
    }
    reach_ += largest;  // No cost has grown by more.
    const int row = c_.row[c_.path[begin]];
    std::uint16_t* whole = modifiers_of(row);
    for (int i = begin + 1; i < end; ++i) {
      const std::uint16_t* part = modifiers_of(c_.row[c_.path[i]]);
      for (int h0 = lane_id(); h0 <= n_; h0 += kWarp * kAtOnce) {
        int own[kAtOnce];
        int other[kAtOnce];
        double s[kAtOnce];
        double t[kAtOnce];
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          own[j] = edge_from(whole, h0 + kWarp * j, id);
          other[j] = edge_from(part, h0 + kWarp * j, id);
        }
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          s[j] = score(h0 + kWarp * j, own[j]);
          t[j] = score(h0 + kWarp * j, other[j]);
        }
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          const int h = h0 + kWarp * j;
          if (other[j] == 0) continue;
          if (own[j] == 0 || is_less(s[j], own[j], t[j], other[j], h)) {
            whole[h] = static_cast<std::uint16_t>(other[j]);
          }
        }
      }
    }
    if (lane_id() == 0) {
      c_.row[id] = static_cast<std::uint16_t>(row);
      c_.parent[id] = static_cast<std::uint16_t>(id);
    }
    __syncwarp();
    return id;
  }

  Contracted c_;
  EdgeReader values_;
  int n_;
  bool single_;
  int unit_;
  int nodes_;
  double reach_;  ///< No worth has a magnitude above it, nor a cost.
};

}  // namespace taproot::cuda
