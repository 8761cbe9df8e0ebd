// SPDX-License-Identifier: Apache-2.0
//
// Words on their way into a drawing: users' text, which may hold anything.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/utf8.h"

namespace taproot::detail {

/// Cells that shown text takes in a terminal.
std::size_t cell_width(std::string_view shown);

/// Whether it holds right-to-left letters.
bool is_right_to_left(std::string_view shown);

/// Cuts shown text into pieces of at most `cells` cells (more where one character alone has more),
/// none of which begins with a combining mark.
std::vector<std::string> split_cells(std::string_view shown, std::size_t cells);

/// About how many ems shown text takes in a sans-serif face: rather too many than too few.
double em_width(std::string_view shown);

/// The words as drawings show them; the numbers 1..n if there are none.
std::vector<std::string> shown_words(std::span<const std::string> words, std::size_t n);

}  // namespace taproot::detail
