// SPDX-License-Identifier: Apache-2.0
//
// XXH64 with seed 0, after its public specification (xxHash, doc/xxhash_spec.md), in plain code:
// ids are short, and reading them costs far less than the sentences that they name.
#include <bit>
#include <cstdint>
#include <string_view>

#include "taproot/types.h"

namespace taproot {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

// The number in the first `bytes` bytes of a text, little-endian on every machine.
std::uint64_t number(std::string_view text, std::size_t bytes) {
  std::uint64_t found = 0;
  for (std::size_t i = bytes; i-- > 0;) found = found << 8 | static_cast<unsigned char>(text[i]);
  return found;
}

std::uint64_t mix(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

}  // namespace

std::uint64_t sentence_id(std::string_view text) {
  const std::uint64_t size = text.size();
  std::uint64_t hash = kPrime5;
  if (text.size() >= 32) {
    std::uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; text.size() >= 32; text.remove_prefix(32)) {
      for (std::size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], number(text.substr(8 * i), 8));
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) hash = (hash ^ mix(0, lane)) * kPrime1 + kPrime4;
  }
  hash += size;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    hash = std::rotl(hash ^ mix(0, number(text, 8)), 27) * kPrime1 + kPrime4;
  }
  if (text.size() >= 4) {
    hash = std::rotl(hash ^ number(text, 4) * kPrime1, 23) * kPrime2 + kPrime3;
    text.remove_prefix(4);
  }
  for (; !text.empty(); text.remove_prefix(1)) {
    hash = std::rotl(hash ^ number(text, 1) * kPrime5, 11) * kPrime1;
  }
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace taproot
