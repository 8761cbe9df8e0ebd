// SPDX-License-Identifier: Apache-2.0
//
// The constants that decide which trees a seed gives. Host and device include this one header, and
// tests/golden/trees.json pins what comes out: a change here is a change of the format, and makes
// the golden tests of C++, CUDA and Python fail.
#pragma once

#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

/// Sampling "auto" gives up a walk, and un-eliminates instead, once it would take more than
/// most_steps(n) steps in all or more than kHeadsPerWord heads for one word. The limit for each
/// word recognizes two words that attract each other after a few dozen steps, and the limit on all
/// steps recognizes longer cycles. Both are chosen so that "auto" stays below twice the time of
/// "elimination" in every family of weights of docs/benchmarks.md, except in calls for a single
/// tree. Un-eliminating a short sentence takes less time per word, so there a walk gives up
/// earlier.
inline constexpr std::int64_t kStepsPerWord = 9;
inline constexpr std::int64_t kStepsPerWordIfShort = 6;
inline constexpr int kMostShortWords = 15;
TAPROOT_HOST_DEVICE constexpr std::int64_t most_steps(int n) {
  return n * (n <= kMostShortWords ? kStepsPerWordIfShort : kStepsPerWord);
}
inline constexpr std::uint8_t kHeadsPerWord = 24;

/// A sentence stays in double while its weights lie within these bounds; see docs/numerics.md.
/// A scaled weight is stored as 0 if its exponent, rounded, is below this. fill_weights() reports
/// the largest weight that it lost in this way.
inline constexpr double kFlushExponent = -960;
/// How far Z may lie below the product of its column sums, in bits.
inline constexpr double kSafeBits = 700;
/// Beyond that, every positive factor must lie between these two.
inline constexpr double kSafeLow = 0x1p-500;
inline constexpr double kSafeHigh = 0x1p500;
/// What double loses of Z must stay below 2^-kNegligibleBits of it.
inline constexpr double kNegligibleBits = 256;
/// No part of a tree is less probable than the product, over all columns, of the smallest weight
/// divided by the sum. While that takes no more bits than this, conditional laws stay in double.
inline constexpr double kFittingBits = 950;

/// A conditional law may come from rows while the bound on its error is below this part of the mass
/// that is left in it.
inline constexpr double kColbournError = 1e-10;
inline constexpr double kTrieError = 1e-9;
inline constexpr double kBeamError = 1e-9;
inline constexpr double kListError = 1e-6;

/// "auto" without replacement skips repeats while at least 1 / max(kLeastShare, n / 2) of the mass
/// is left, and hands over to the trie after kMostRepeats max(kLeastShare, n / 2) repeats in a row.
inline constexpr double kLeastShare = 4;
inline constexpr std::uint32_t kMostRepeats = 64;

/// Below this mass, or this Gumbel, what double flushed may matter: the wide scalar takes over.
inline constexpr double kLeastInDouble = 0x1p-192;
inline constexpr double kLeastGumbelInDouble = -120;

/// How many blocks of a prefix's random numbers belong to one level of the beam.
inline constexpr std::uint64_t kLevelBlocks = std::uint64_t{1} << 20;

/// What a random stream is for: it keeps apart the streams of one sample.
enum class Purpose : std::uint32_t {
  kTree = 0,
  kGumbel = 1,
  kKappa = 2,
  kBeam = 3,
  kLabel = 4,
  kFallback = 5,
  kStack = 6,      ///< The high halves of the draws of src/sample/walk/stacks.h,
  kStackRest = 7,  ///< and the low halves.
  kPlace = 8,      ///< The same of the second number that large alias tables compare.
  kPlaceRest = 9
};

/// The two words that set the block of a sentence's key apart from every block of its streams.
inline constexpr std::uint32_t kKeyWord0 = 0x54415052;  // "TAPR"
inline constexpr std::uint32_t kKeyWord1 = 0x4f4f5432;  // "OOT2"

}  // namespace taproot::detail
