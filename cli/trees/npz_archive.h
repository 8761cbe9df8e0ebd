// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "output_file.h"

namespace taproot::cli {

/// An array that is made piece by piece while it is written.
struct NpyArray {
  std::string name;
  std::string type;  ///< As NumPy writes it: "<i4".
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  std::function<void()> rewind;
  /// The next bytes, any number but 0, until there are `bytes` in all.
  std::function<void(std::vector<char>&)> next;
};

/// Writes the arrays, as .npy 1.0, into a zip that is not compressed and whose dates are all
/// 1980-01-01: the same arrays give the same bytes. Does not commit. Throws InputError.
void write_npz(OutputFile& file, const std::string& name, const std::vector<NpyArray>& arrays);

}  // namespace taproot::cli
