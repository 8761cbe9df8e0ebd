// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trees/tree_row.h"

namespace taproot::cli {

/// What all readers ask of rows, whatever the format. Errors begin with `where`.
class RowCheck {
 public:
  /// Heads from 0 to n, no word its own, as many labels as heads (or none), as many words as in the
  /// sentence's row before. Throws InputError.
  void operator()(const TreeRow& row, const std::string& where);

 private:
  std::optional<std::size_t> sentence_;
  std::size_t n_ = 0;
};

}  // namespace taproot::cli
