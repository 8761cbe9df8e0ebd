// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace taproot::cli {

/// Whether to write escape sequences. `when` is auto, always or never; auto means that the output
/// is a terminal and NO_COLOR (no-color.org) is not set or empty.
bool wants_color(const std::string& when, bool to_standard_output);

/// The cells per line of the terminal. If standard output is not a terminal, COLUMNS says it, or it
/// is 80. At least 20.
std::size_t terminal_width();

}  // namespace taproot::cli
