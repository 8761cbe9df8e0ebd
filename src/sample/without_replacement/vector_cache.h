// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace taproot::detail {

/// A cache of vectors of one length, which their owners can compute again. When memory runs short,
/// CLOCK replacement evicts one: a hand goes round the slots, clears their `used` flags, and stops
/// at the first slot that was not used since its last round.
template <typename T>
class VectorCache {
 public:
  static constexpr std::int32_t kNone = -1;

  void reset(std::size_t length) {
    length_ = length;
    hand_ = 0;
    chunks_.clear();
    slots_.clear();
  }

  std::size_t bytes() const {
    return chunks_.size() * kChunk * length_ * sizeof(T) + slots_.size() * sizeof(Slot);
  }

  T* data(std::int32_t slot) {
    const auto at = static_cast<std::size_t>(slot);
    slots_[at].used = true;
    return chunks_[at / kChunk].get() + at % kChunk * length_;
  }

  /// Takes a slot for a vector of `owner` and returns its number. If another owner loses the slot,
  /// calls evict(other). Returns kNone if there are no slots and `limit` allows none.
  template <typename Evict>
  std::int32_t take(std::uint64_t owner, std::size_t limit, Evict&& evict) {
    if (slots_.size() == chunks_.size() * kChunk) {
      if (bytes() + kChunk * (length_ * sizeof(T) + sizeof(Slot)) <= limit) {
        chunks_.push_back(std::make_unique_for_overwrite<T[]>(kChunk * length_));
      } else if (slots_.empty()) {
        return kNone;
      } else {
        while (slots_[hand_].used) {
          slots_[hand_].used = false;
          advance();
        }
        const std::size_t slot = hand_;
        advance();
        evict(slots_[slot].owner);
        slots_[slot] = {owner, true};
        return static_cast<std::int32_t>(slot);
      }
    }
    slots_.push_back({owner, true});
    return static_cast<std::int32_t>(slots_.size() - 1);
  }

  /// Frees memory until bytes() is at most `limit`. Calls evict(owner) for every slot that is lost.
  template <typename Evict>
  void shrink(std::size_t limit, Evict&& evict) {
    while (!chunks_.empty() && bytes() > limit) {
      const std::size_t kept = (chunks_.size() - 1) * kChunk;
      for (std::size_t slot = kept; slot < slots_.size(); ++slot) evict(slots_[slot].owner);
      slots_.resize(kept < slots_.size() ? kept : slots_.size());
      slots_.shrink_to_fit();
      chunks_.pop_back();
      hand_ = 0;
    }
  }

 private:
  static constexpr std::size_t kChunk = 64;

  struct Slot {
    std::uint64_t owner;
    bool used;
  };

  void advance() { hand_ = hand_ + 1 == slots_.size() ? 0 : hand_ + 1; }

  std::size_t length_ = 0;
  std::size_t hand_ = 0;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<Slot> slots_;
};

}  // namespace taproot::detail
