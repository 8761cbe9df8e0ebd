// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace taproot::detail {

/// A set of trees of n heads, which also keeps the order in which they were added.
class TreeSet {
 public:
  void reset(std::size_t n) {
    n_ = n;
    size_ = 0;
    heads_.clear();
    slots_.assign(kFirstSlots, kFree);
  }

  std::size_t size() const { return size_; }
  const std::int32_t* operator[](std::size_t i) const { return heads_.data() + i * n_; }

  /// Adds a tree. Returns false if it was there already.
  bool add(const std::int32_t* heads) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    std::uint32_t* slot = find(heads);
    if (*slot != kFree) return false;
    heads_.insert(heads_.end(), heads, heads + n_);
    *slot = static_cast<std::uint32_t>(size_++);
    return true;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  static constexpr std::size_t kFirstSlots = 64;

  // Mixes two heads at a time into each of two numbers. A simple hash is enough, because trees are
  // sampled at random and not chosen by an attacker to collide.
  std::uint64_t hash(const std::int32_t* heads) const {
    std::uint64_t a = 0x9E3779B97F4A7C15;
    std::uint64_t b = n_;
    std::size_t i = 0;
    for (; i + 4 <= n_; i += 4) {
      std::uint64_t x[2];
      std::memcpy(x, heads + i, sizeof x);
      a = std::rotl(a ^ x[0], 29) * 0xBF58476D1CE4E5B9;
      b = std::rotl(b ^ x[1], 31) * 0x94D049BB133111EB;
    }
    for (; i < n_; ++i) {
      a = std::rotl(a ^ static_cast<std::uint64_t>(heads[i]), 29) * 0xBF58476D1CE4E5B9;
    }
    a ^= b ^ b >> 32;
    a *= 0xD6E8FEB86659FD93;
    return a ^ a >> 32;
  }

  std::uint32_t* find(const std::int32_t* heads) {
    std::size_t slot = hash(heads) & (slots_.size() - 1);
    while (slots_[slot] != kFree && !std::equal(heads, heads + n_, (*this)[slots_[slot]])) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return &slots_[slot];
  }

  void grow() {
    std::vector<std::uint32_t> old(2 * slots_.size(), kFree);
    old.swap(slots_);
    for (const std::uint32_t i : old) {
      if (i != kFree) *find((*this)[i]) = i;
    }
  }

  std::size_t n_ = 0;
  std::size_t size_ = 0;
  std::vector<std::int32_t> heads_;
  std::vector<std::uint32_t> slots_;  // The hash table. Its size is a power of two.
};

}  // namespace taproot::detail
