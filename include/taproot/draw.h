// SPDX-License-Identifier: Apache-2.0
//
// Drawings of trees and of distributions over them: arcs above words, as SVG for pages, notebooks
// and papers, and as text for terminals. The command line and Python draw with these.
//
// `words` has one entry a word, in UTF-8, and may hold anything: it is shown by shown_text() and
// escaped. It may also be empty: then numbers are shown. Functions throw std::invalid_argument when
// sizes contradict each other, a head is outside 0..n, or a word is its own head.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "taproot/types.h"

namespace taproot {

/// `text` as drawings show it: a byte that is no UTF-8 becomes U+FFFD; a control character, and
/// what would reorder or hide the text around it, its number: "<U+001B>", "<U+202E>". What comes
/// back is UTF-8 that XML allows, and that no terminal obeys.
TAPROOT_API std::string shown_text(std::string_view text);

struct SvgOptions {
  /// What a screen reader says, and a pointer that rests on the drawing shows; empty: the words.
  std::string title;
  /// Of a tree: one a word, the label of the edge to it; or empty.
  std::span<const std::string> labels;
  /// Of marginals: edges of a smaller probability are left out, and so are those of probability 0.
  double threshold = 0.01;
  /// Of marginals: row-major [n+1][n+1], not 0 for an edge to be drawn whatever its probability; or
  /// empty.
  std::span<const std::uint8_t> also;
  /// Whether an edge says what it is when a pointer rests on it.
  bool hints = true;
};

/// One <svg> element, complete in itself: no ids, no script, nothing to fetch. It takes its color
/// from the text around it (currentColor); as a file of its own it follows the viewer's light or
/// dark scheme. Every edge is a <path> with data-h and data-m, its head and modifier; every word a
/// <text> with data-i, its number. Edges from ROOT are straight lines from above.
///
/// The heads need not be a tree: any head a word is drawn. O(n^2) for n words.
TAPROOT_API std::string tree_svg(std::span<const std::string> words, TreeView heads,
                                 const SvgOptions& options = {});

/// The edges of a distribution, row-major [n+1][n+1] as marginals() gives them: the opacity of an
/// edge is its probability, to four digits. Where an edge is drawn depends on the words alone and
/// not on the threshold. Column 0 and the diagonal are ignored. Throws also where another entry
/// is not in [0, 1] (rounding above 1 by 1e-6 is accepted) or the threshold is not.
TAPROOT_API std::string marginals_svg(std::span<const std::string> words,
                                      std::span<const double> marginals,
                                      const SvgOptions& options = {});

struct TextOptions {
  /// Cells of a line, at least 20. What does not fit goes on in a block below, and a line that is
  /// cut bears the same number on both sides of the cut; a word wider than that takes several
  /// lines.
  std::size_t width = 80;
  /// Whether strength is shown by escape sequences too: bold, faint, and labels in color.
  bool color = false;
  /// Of a tree, as in SvgOptions.
  std::span<const std::string> labels;
  /// Of marginals, as in SvgOptions.
  double threshold = 0.05;
};

/// The tree for a terminal, in box-drawing characters and UTF-8: lines of at most `width` cells,
/// each ended by a line feed. ROOT is drawn as a word before the first. Cells are counted as
/// terminals do: wide characters take two, combining marks none.
TAPROOT_API std::string tree_text(std::span<const std::string> words, TreeView heads,
                                  const TextOptions& options = {});

/// The same for marginals. Each edge bears its probability in per cent; lines are heavy from 75 per
/// cent on, and dashed below 25.
TAPROOT_API std::string marginals_text(std::span<const std::string> words,
                                       std::span<const double> marginals,
                                       const TextOptions& options = {});

}  // namespace taproot
