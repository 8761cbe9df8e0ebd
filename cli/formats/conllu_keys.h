// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace taproot::cli {

/// The comments for values that have no column in CoNLL-U. `labeled` is "yes" for a tree whose
/// labels are all "_", because its relations look like those of a tree without labels. `exhausted`
/// is in the last tree of its sentence.
inline constexpr std::array<std::string_view, 11> kConlluKeys = {
    "sentence", "sample", "rank",    "score",     "log_prob", "gumbel",
    "weight",   "status", "message", "exhausted", "labeled"};

/// The key and value of "# key = value"; nothing for other lines.
inline std::optional<std::pair<std::string_view, std::string_view>> conllu_comment(
    std::string_view line) {
  const auto trimmed = [](std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return std::string_view();
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
  };
  const std::size_t equals = line.find('=');
  if (!line.starts_with('#') || equals == std::string_view::npos) return std::nullopt;
  return std::pair(trimmed(line.substr(1, equals - 1)), trimmed(line.substr(equals + 1)));
}

/// Whether the line is a comment with one of these keys.
inline bool is_our_comment(std::string_view line) {
  const auto comment = conllu_comment(line);
  return comment && std::ranges::find(kConlluKeys, comment->first) != kConlluKeys.end();
}

}  // namespace taproot::cli
