// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "io/spill.h"

namespace taproot::cli {

/// An array whose elements are produced piece by piece while it is written.
struct NpyArray {
  std::string name;
  std::string type;  ///< As NumPy writes it: "<i4".
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  std::function<void()> rewind;
  /// Stores the next bytes, at least one, until there are `bytes` in all.
  std::function<void(std::vector<char>&)> next;
};

/// A one-dimensional array of the elements in `elements`, `width` bytes each. The spill must
/// outlive the array.
NpyArray spilled_array(std::string name, std::string type, std::size_t width, Spill& elements);

/// Writes the arrays, as .npy 1.0, into a zip archive without compression, with zip64 where sizes
/// need it. All dates are 1980-01-01, so that the same arrays give the same bytes. Does not commit
/// the file. Throws InputError.
void write_npz(OutputFile& file, const std::string& name, const std::vector<NpyArray>& arrays);

}  // namespace taproot::cli
