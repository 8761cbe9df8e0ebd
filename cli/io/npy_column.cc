// SPDX-License-Identifier: Apache-2.0
#include "io/npy_column.h"

#include <algorithm>
#include <type_traits>

#include "error.h"

namespace taproot::cli {

template <typename T>
void NpyColumn::fill(std::vector<T>& piece) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 18;
  const std::uint64_t most = std::max<std::uint64_t>(kPieceBytes / in_.header().width, 1);
  const auto count = static_cast<std::size_t>(std::min(left_, most));
  if (count == 0) {
    fail("{} has only {} items, fewer than the arrays beside it need", in_.name(),
         in_.header().count);
  }
  if constexpr (std::is_same_v<T, std::string>) {
    in_.read_texts(piece, count);
  } else {
    in_.read(piece, 0, count);
    piece.resize(count);
  }
  left_ -= count;
  at_ = 0;
  if (left_ == 0) in_.finish();  // Compares the checksum.
}

template void NpyColumn::fill(std::vector<std::int64_t>&);
template void NpyColumn::fill(std::vector<double>&);
template void NpyColumn::fill(std::vector<std::string>&);

}  // namespace taproot::cli
