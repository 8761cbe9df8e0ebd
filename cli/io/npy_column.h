// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/npy_reader.h"

namespace taproot::cli {

/// An array that is read item by item, with one piece in memory, because an archive may be larger
/// than memory. Throws InputError if an item beyond the last is asked for and, with the last piece,
/// for a wrong checksum.
class NpyColumn {
 public:
  explicit NpyColumn(NpyReader in) : in_(std::move(in)), left_(in_.header().count) {}

  const NpyReader& array() const { return in_; }

  /// Which of them may be called depends on the type: NpyReader::require_integers() and so on.
  std::int64_t next_integer() { return *next(integers_); }
  double next_double() { return *next(doubles_); }
  const std::string& next_text() { return *next(texts_); }

 private:
  template <typename T>
  const T* next(std::vector<T>& piece) {
    if (at_ == piece.size()) fill(piece);
    return &piece[at_++];
  }
  template <typename T>
  void fill(std::vector<T>& piece);

  NpyReader in_;
  std::uint64_t left_;  // Items that are not in memory yet.
  std::size_t at_ = 0;
  std::vector<std::int64_t> integers_;
  std::vector<double> doubles_;
  std::vector<std::string> texts_;
};

}  // namespace taproot::cli
