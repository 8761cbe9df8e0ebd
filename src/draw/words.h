// SPDX-License-Identifier: Apache-2.0
//
// Prepares words for a drawing. They are users' text, which may contain any bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/utf8.h"

namespace taproot::detail {

/// Cells that shown text takes in a terminal.
std::size_t cell_width(std::string_view shown);

/// Whether a text contains right-to-left letters.
bool is_right_to_left(std::string_view shown);

/// Cuts a text into pieces of at most `cells` cells, none of which begins with a combining mark. A
/// piece takes more cells only if a single character does.
std::vector<std::string> split_cells(std::string_view shown, std::size_t cells);

/// An estimate of the width of a text in a sans-serif font, in ems. It is too large rather than too
/// small.
double em_width(std::string_view shown);

/// The words as drawings show them, or the numbers 1..n if there are no words.
std::vector<std::string> shown_words(std::span<const std::string> words, std::size_t n);

}  // namespace taproot::detail
