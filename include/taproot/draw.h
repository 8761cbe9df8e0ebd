// SPDX-License-Identifier: Apache-2.0
//
// Drawings of trees and of distributions over them: arcs above words, as SVG for pages, notebooks
// and papers, and as text for terminals. The command line and Python draw with these.
//
// `words` has one entry per word, in UTF-8, and may hold anything, because it is shown by
// shown_text() and escaped. If it is empty, numbers are shown. Functions throw
// std::invalid_argument if sizes contradict each other, a head is outside 0..n, or a word is its
// own head.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "taproot/types.h"

namespace taproot {

/// `text` as drawings show it. A byte that is not UTF-8 becomes U+FFFD. A control character, or a
/// character that would reorder or hide the text around it, becomes its number: "<U+001B>",
/// "<U+202E>". The result is UTF-8 that XML allows and that no terminal obeys.
TAPROOT_API std::string shown_text(std::string_view text);

/// Drawings of marginals leave out edges that are less probable, unless told otherwise. The same
/// everywhere: in SVG and text, on the command line, in the report and in Python.
inline constexpr double kDrawThreshold = 0.05;

struct SvgOptions {
  /// What a screen reader says, and what is shown when a pointer rests on the drawing. If it is
  /// empty, the words are used.
  std::string title;
  /// For a tree: one per word, the label of the edge to it. For marginals: row-major [n+1][n+1],
  /// the label of each edge, "" for none. Empty if there are no labels.
  std::span<const std::string> labels;
  /// For marginals with labels: row-major [n+1][n+1], the probability of each edge with its label,
  /// as label_marginals() gives it. It is the number beside the label. An edge whose label is ""
  /// bears its own probability.
  std::span<const double> label_probabilities;
  /// For marginals: edges with a smaller probability are left out, and so are edges with
  /// probability 0.
  double threshold = kDrawThreshold;
  /// For marginals: edges from this probability on get room and, written on them, their label and
  /// probability. Less probable edges, if the threshold lets them in, are drawn among the others
  /// without a text. By default every edge has one.
  double text_from = 0;
  /// For marginals: row-major [n+1][n+1], not 0 for an edge that is drawn whatever its probability,
  /// with a text if there are labels; or empty.
  std::span<const std::uint8_t> also;
  /// Whether an edge says what it is when a pointer rests on it.
  bool hints = true;
};

/// One `<svg>` element, complete in itself: no ids, no script, nothing to fetch. It takes its color
/// from the text around it (currentColor); as a file of its own it follows the viewer's light or
/// dark scheme. Every edge is a `<path>` with data-h and data-m, its head and modifier; every word
/// a `<text>` with data-i, its number. Edges from ROOT are straight lines from above.
///
/// The heads need not be a tree: any head per word is drawn. O(n^2) for n words.
TAPROOT_API std::string tree_svg(std::span<const std::string> words, TreeView heads,
                                 const SvgOptions& options = {});

/// The edges of a distribution, row-major [n+1][n+1] as marginals() gives them. Every edge also has
/// data-p, its probability with four digits (it is 1 only if the probability is exactly 1). If
/// there are labels, it also has data-l, its label, and data-q, the probability of the edge with
/// this label. Its opacity grows with data-p, from 0.45 on, so that no edge that is drawn is
/// invisible. What is written on an edge is a `<text>` with the same data-h and data-m. Column 0
/// and the diagonal are ignored. Throws also if another entry is not in [0, 1] (rounding above 1 by
/// 1e-6 is accepted), a threshold is not, or there are labels without their probabilities. O(k^2)
/// for k edges.
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
  /// As in SvgOptions.
  std::span<const std::string> labels;
  std::span<const double> label_probabilities;
  /// For marginals, as in SvgOptions.
  double threshold = kDrawThreshold;
};

/// The tree for a terminal, in box-drawing characters and UTF-8: lines of at most `width` cells,
/// each ended by a line feed. ROOT is drawn as a word before the first. Cells are counted as
/// terminals do: wide characters take two, combining marks none.
TAPROOT_API std::string tree_text(std::span<const std::string> words, TreeView heads,
                                  const TextOptions& options = {});

/// The same for marginals. Each edge bears its probability in percent or, if there are labels, its
/// label and the probability of the edge with this label. Lines are heavy where the probability of
/// the edge is 75 percent or more, and dashed below 25.
TAPROOT_API std::string marginals_text(std::span<const std::string> words,
                                       std::span<const double> marginals,
                                       const TextOptions& options = {});

}  // namespace taproot
