// SPDX-License-Identifier: Apache-2.0
#include "formats/format.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <vector>

#include "error.h"

namespace taproot::cli {
namespace {

struct Entry {
  Format format;
  std::string_view name;
  std::string_view ending;
};

constexpr std::array<Entry, 10> kTable = {{{Format::kJsonl, "jsonl", ".jsonl"},
                                           {Format::kNpz, "npz", ".npz"},
                                           {Format::kConllu, "conllu", ".conllu"},
                                           {Format::kText, "text", ".txt"},
                                           {Format::kTsv, "tsv", ".tsv"},
                                           {Format::kSvg, "svg", ".svg"},
                                           {Format::kPng, "png", ".png"},
                                           {Format::kPdf, "pdf", ".pdf"},
                                           {Format::kHtml, "html", ".html"},
                                           {Format::kHtml, "html", ".htm"}}};

std::string ending_of(std::string_view file) {
  std::string ending = std::filesystem::path(file).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

std::string names_of(std::span<const Format> formats) {
  std::vector<std::string_view> names;
  for (const Format format : formats) names.push_back(to_string(format));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string endings_of(std::span<const Format> formats) {
  std::vector<std::string_view> endings;
  for (const Entry& entry : kTable) {
    if (std::ranges::find(formats, entry.format) != formats.end()) endings.push_back(entry.ending);
  }
  return fmt::format("{}", fmt::join(endings, ", "));
}

}  // namespace

std::string_view to_string(Format format) {
  const auto found = std::ranges::find(kTable, format, &Entry::format);
  return found == kTable.end() ? "unknown" : found->name;
}

Format format_named(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Entry::name);
  if (found == kTable.end()) {
    fail(
        "there is no format '{}'; the formats are jsonl, npz, conllu, text, tsv, svg, png, pdf and "
        "html",
        name);
  }
  return found->format;
}

std::optional<Format> format_of_ending(std::string_view file) {
  const auto found = std::ranges::find(kTable, ending_of(file), &Entry::ending);
  if (found == kTable.end()) return std::nullopt;
  return found->format;
}

Format format_of(std::string_view file) { return format_of_ending(file).value_or(Format::kJsonl); }

Format chosen_format(std::span<const Format> formats, std::string_view name,
                     const std::string& output) {
  const auto can_write = [&](Format format) {
    return std::ranges::find(formats, format) != formats.end();
  };
  const std::optional<Format> by_ending = format_of_ending(output);
  if (!name.empty()) {
    const Format format = format_named(name);
    if (!can_write(format)) {
      fail("--format: this command cannot write {}; choose one of {}", name, names_of(formats));
    }
    if (by_ending && *by_ending != format) {
      fail("{} ends in {}, but --format says {}; choose one of the two", output, ending_of(output),
           name);
    }
    return format;
  }
  if (by_ending && can_write(*by_ending)) return *by_ending;
  if (ending_of(output).empty()) return formats.front();
  fail("{} ends in {}, which this command cannot write; let it end in one of {}, or use --format",
       output, ending_of(output), endings_of(formats));
}

}  // namespace taproot::cli
