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
  std::uint16_t* top;   ///< [n+1]: the outermost node that a word is part of.
  std::uint16_t* path;  ///< [n+1]
  std::uint16_t* row;   ///< [2n+1], as the others: by node.
  std::uint16_t* parent;
  std::uint16_t* head;  ///< The best edge into the node.
  std::uint16_t* modifier;
  std::uint8_t* state;

  TAPROOT_HOST_DEVICE static std::int64_t vector_bytes(std::int64_t n) {
    return (2 * 2 * (n + 1) + 9 * (2 * n + 1) + 15) / 16 * 16;
  }
  /// Of the costs and the matrix.
  TAPROOT_HOST_DEVICE static std::int64_t large_bytes(std::int64_t n, int limbs) {
    return (8 * limbs * (n + 1) + 2 * (n + 1) * (n + 1) + 15) / 16 * 16;
  }

  __device__ Contracted(unsigned char* vectors, unsigned char* large, int n, int limbs) {
    cost = reinterpret_cast<std::uint64_t*>(large);
    modifiers = reinterpret_cast<std::uint16_t*>(cost + static_cast<std::int64_t>(limbs) * (n + 1));
    auto* at = reinterpret_cast<std::uint16_t*>(vectors);
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

  /// `c.modifiers` must hold the edges that are allowed.
  __device__ Contraction(const Contracted& c, const EdgeReader& values, int n, bool single,
                         int unit)
      : c_(c), values_(values), n_(n), single_(single), unit_(unit), nodes_(n + 1) {
    for (int i = lane_id(); i <= n; i += kWarp) {
      c_.top[i] = c_.row[i] = c_.parent[i] = static_cast<std::uint16_t>(i);
      for (int l = 0; l < kLimbs; ++l) cost_of(i)[l] = 0;
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

  /// The heads of the best tree, by one lane.
  __device__ void expand(std::int32_t* heads) {
    for (int id = nodes_ - 1; id > 0; --id) {
      if (c_.state[id] == kDissolved) continue;
      const int modifier = c_.modifier[id];
      heads[modifier - 1] = c_.head[id];
      for (int i = modifier; i != id; i = c_.parent[i]) c_.state[i] = kDissolved;
    }
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
  /// The word of the edge from h in a row of node `id`; 0 if there is none from outside the node.
  __device__ int edge_from(const std::uint16_t* row, int h, int id) const {
    return h > n_ || (h > 0 && c_.top[h] == id) ? 0 : row[h];
  }

  /// The head of the best edge into a node, which is noted there; -1 if there is none.
  __device__ int find_edge(int id, bool& root_taken) {
    const std::uint16_t* row = modifiers_of(c_.row[id]);
    int best_h = -1;
    int best_m = 0;
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
        if (m[j] == 0) continue;
        const Cost x = worth(s[j], h0 + kWarp * j, m[j]);
        if (best_h < 0 || best < x) {
          best_h = h0 + kWarp * j;
          best_m = m[j];
          best = x;
        }
      }
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      const int h = shuffle_xor(best_h, step);
      const int m = shuffle_xor(best_m, step);
      const Cost x = best.from_lane(step);
      // Equal costs of two edges have a chance of 2^-50; all lanes must agree even then.
      const bool takes = h >= 0 && (best_h < 0 || best < x || (!(x < best) && h < best_h));
      if (takes) {
        best_h = h;
        best_m = m;
        best = x;
      }
    }
    if (best_h < 0) {
      best_m = row[0];
      if (!single_ || root_taken || best_m == 0) return -1;
      best_h = 0;
      root_taken = true;
    }
    if (lane_id() == 0) {
      c_.head[id] = static_cast<std::uint16_t>(best_h);
      c_.modifier[id] = static_cast<std::uint16_t>(best_m);
    }
    __syncwarp();
    return best_h;
  }

  /// Makes one node of the cycle from path[begin] to path[end - 1].
  __device__ int contract(int begin, int end) {
    const int id = nodes_++;
    for (int i = begin; i < end; ++i) {
      const int part = c_.path[i];
      const int head = c_.head[part];
      const int modifier = c_.modifier[part];
      const Cost taken = worth(score(head, modifier), head, modifier);
      __syncwarp();
      for (int w = 1 + lane_id(); w <= n_; w += kWarp) {
        if (c_.top[w] != part) continue;
        c_.top[w] = static_cast<std::uint16_t>(id);
        Cost x = cost(w);
        x += taken;
#pragma unroll
        for (int l = 0; l < kLimbs; ++l) cost_of(w)[l] = x.limb[l];
      }
      if (lane_id() == 0) c_.parent[part] = static_cast<std::uint16_t>(id);
      __syncwarp();
    }
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
          if (own[j] == 0 || worth(s[j], h, own[j]) < worth(t[j], h, other[j])) {
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
};

}  // namespace taproot::cuda
