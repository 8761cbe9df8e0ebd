// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace taproot::cli {

/// Whether to write escape sequences: `when` is auto, always or never. auto: standard output is
/// what is written to and is a terminal, and NO_COLOR (no-color.org) is not set or empty.
bool wants_color(const std::string& when, bool to_standard_output);

/// Cells of a line of the terminal; of COLUMNS, if it is none; else 80. At least 20.
std::size_t terminal_width();

}  // namespace taproot::cli
