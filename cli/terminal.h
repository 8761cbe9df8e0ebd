// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace taproot::cli {

/// Whether to write escape sequences. `when` is auto, always or never; auto means that the output
/// is a terminal (TERM is not "dumb"), and that NO_COLOR (no-color.org) is empty or not set.
bool wants_color(const std::string& when, bool to_standard_output);

/// The width of the terminal in cells, at least 20. If standard output is not a terminal, this is
/// the variable COLUMNS, or 80 if COLUMNS is not a positive integer.
std::size_t terminal_width();

}  // namespace taproot::cli
