// SPDX-License-Identifier: Apache-2.0
//
// The known answers of XXH64 with seed 0. To change one is to change the trees of every corpus
// whose ids are texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "taproot/types.h"

namespace taproot {
namespace {

// The bytes that xxHash's own sanity check hashes: the high bytes of a multiplicative sequence.
std::string sanity_buffer(std::size_t size) {
  std::string bytes;
  std::uint64_t state = 2654435761U;
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<char>(state >> 56));
    state *= 11400714785074694797U;
  }
  return bytes;
}

TEST(SentenceId, HasTheKnownAnswersOfXxh64) {
  EXPECT_EQ(sentence_id(""), 0xEF46DB3751D8E999);
  EXPECT_EQ(sentence_id("a"), 0xD24EC4F1A98C6E5B);
  EXPECT_EQ(sentence_id("abc"), 0x44BC2CF5AD770999);
}

TEST(SentenceId, HasTheAnswersOfXxHashsSanityCheck) {
  // Lengths that reach the bytes alone, the four bytes, the eight bytes and the stripes of 32.
  EXPECT_EQ(sentence_id(sanity_buffer(1)), 0xE934A84ADB052768);
  EXPECT_EQ(sentence_id(sanity_buffer(4)), 0x9136A0DCA57457EE);
  EXPECT_EQ(sentence_id(sanity_buffer(14)), 0x8282DCC4994E35C8);
  EXPECT_EQ(sentence_id(sanity_buffer(222)), 0xB641AE8CB691C174);
}

TEST(SentenceId, ReadsEveryByte) {
  for (std::size_t size = 1; size < 80; ++size) {
    const std::string text = sanity_buffer(size);
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ 1);
      EXPECT_NE(sentence_id(other), sentence_id(text)) << size << ", byte " << i;
    }
  }
}

}  // namespace
}  // namespace taproot
