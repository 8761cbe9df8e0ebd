// SPDX-License-Identifier: Apache-2.0
//
// The header of an .npy array: the one place where it is parsed and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taproot::cli {

struct NpyHeader {
  std::string type;  ///< As the header has it, for example "<f4".
  /// 'f' float, 'i' and 'u' integer, 'b' bool, 'U' text; 0 for types that are not read here.
  char kind = 0;
  std::size_t width = 0;  ///< Bytes per element.
  bool swapped = false;   ///< Big-endian.
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t count = 0;  ///< The number of elements.

  std::string shape_text() const;
};

/// A shape as Python prints it, for example "(3, 4)" or "(3,)".
std::string shape_text(const std::vector<std::uint64_t>& shape);

/// Parses the dictionary of a header. Throws InputError with a message that begins with `name`.
NpyHeader parse_npy_header(const std::string& name, std::string_view dictionary);

/// The bytes before the elements of an .npy 1.0 array in C order, padded to a multiple of 64.
std::string write_npy_header(std::string_view type, const std::vector<std::uint64_t>& shape);

}  // namespace taproot::cli
