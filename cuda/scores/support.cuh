// SPDX-License-Identifier: Apache-2.0
//
// Which edges some tree has, decided on the graph of allowed edges as in src/scores/reach.h, by one
// thread block. It is asked rarely: where a value that is not finite, or an edge that another
// sentence forbids, may or may not count.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/scores/batch.h"

namespace taproot::cuda {

/// All threads of the block have to call its functions.
class Support {
 public:
  /// Bytes of memory for sentences of up to n words.
  TAPROOT_HOST_DEVICE static std::size_t bytes(int n) {
    return 3 * (static_cast<std::size_t>(n) + 1);
  }

  /// The sentence must have a tree. `memory` is shared.
  __device__ Support(const EdgeReader& scores, int n, bool single, std::uint8_t* memory)
      : scores_(scores),
        n_(n),
        single_(single),
        seen_(memory),
        next_(memory + n + 1),
        last_(memory + 2 * (n + 1)) {}

  /// Once, before supports() is asked: which words may be the root (single-root).
  __device__ void find_last_words() {
    if (!single_) return;
    // The word at which the last of these searches starts reaches all words, if any word does.
    int mother = 1;
    mark([](int) { return kUnseen; });
    for (int word = 1; word <= n_; ++word) {
      if (seen_[word] != kUnseen) continue;  // The same for all threads.
      mother = word;
      __syncthreads();
      if (threadIdx.x == 0) seen_[word] = kSeen;
      __syncthreads();
      spread<true>();
    }
    mark([=](int w) { return w == mother ? kSeen : kUnseen; });
    spread<false>();
    for (int w = 1 + static_cast<int>(threadIdx.x); w <= n_; w += static_cast<int>(blockDim.x)) {
      last_[w] = seen_[w] == kSeen && allows(0, w) ? 1 : 0;
    }
    __syncthreads();
  }

  /// Prepares supports(h, m) for one word m.
  __device__ void choose(int modifier) {
    mark([&](int w) {
      if (w == modifier) return kAvoided;
      return (single_ ? last_[w] != 0 : allows(0, w)) ? kSeen : kUnseen;
    });
    spread<true>();
  }
  __device__ bool supports(int h, int m) const {
    if (h == m || !allows(h, m)) return false;
    if (h == 0) return !single_ || last_[m] != 0;
    return seen_[h] == kSeen;
  }
  __device__ bool allows(int h, int m) const { return scores_(h, m) != -HUGE_VAL; }

 private:
  static constexpr std::uint8_t kUnseen = 0;
  static constexpr std::uint8_t kSeen = 1;
  static constexpr std::uint8_t kAvoided = 2;

  template <typename Of>
  __device__ void mark(Of&& of) {
    __syncthreads();
    for (int w = 1 + static_cast<int>(threadIdx.x); w <= n_; w += static_cast<int>(blockDim.x)) {
      seen_[w] = of(w);
    }
    __syncthreads();
  }

  /// Follows edges between words, forwards or backwards, until no new word is found.
  template <bool kForwards>
  __device__ void spread() {
    for (;;) {
      bool found = false;
      for (int w = 1 + static_cast<int>(threadIdx.x); w <= n_; w += static_cast<int>(blockDim.x)) {
        next_[w] = seen_[w];
        for (int v = 1; next_[w] == kUnseen && v <= n_; ++v) {
          if (v == w || seen_[v] != kSeen || !(kForwards ? allows(v, w) : allows(w, v))) continue;
          next_[w] = kSeen;
          found = true;
        }
      }
      const bool more = __syncthreads_or(found ? 1 : 0) != 0;
      for (int w = 1 + static_cast<int>(threadIdx.x); w <= n_; w += static_cast<int>(blockDim.x)) {
        seen_[w] = next_[w];
      }
      __syncthreads();
      if (!more) return;
    }
  }

  EdgeReader scores_;
  int n_;
  bool single_;
  std::uint8_t* seen_;
  std::uint8_t* next_;
  std::uint8_t* last_;
};

}  // namespace taproot::cuda
