// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "error.h"
#include "io/base64.h"
#include "taproot/draw.h"

namespace taproot::cli {
namespace {

void replace(std::string& text, std::string_view mark, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += with.size()) {
    text.replace(at, mark.size(), with);
  }
}

std::string title_of(const Options& options) {
  if (!options.title.empty()) return shown_text(options.title);
  std::vector<std::string> names;
  for (const std::string& file : options.files) {
    names.push_back(shown_text(std::filesystem::path(file).filename().string()));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::uint8_t> bytes_of_hex(std::string_view digits) {
  std::vector<std::uint8_t> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, bytes[i], 16);
  }
  return bytes;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::string_view entity = c == '&'    ? "&amp;"
                                    : c == '<'  ? "&lt;"
                                    : c == '>'  ? "&gt;"
                                    : c == '"'  ? "&quot;"
                                    : c == '\'' ? "&#39;"
                                                : std::string_view(&c, 1);
    out += entity;
  }
  return out;
}

std::string escape_script(std::string json) {
  replace(json, "<", "\\u003c");
  return json;
}

ReportPage::ReportPage(const Options& options) : file_(options.output) {
  if (options.output.empty() && isatty(STDOUT_FILENO) != 0) {
    fail("a report is a file for a browser; name one, for example with -o report.html");
  }
  const nlohmann::ordered_json about = {
      {"samples", options.k},
      {"seed", options.seed},
      {"root", to_string(options.root)},
      {"projective", options.projective},
      {"threshold", options.threshold},
      {"floor", options.floor},
      {"still", options.format != Format::kHtml},
  };
  std::string before = page_before();
  // The policy of the page names the hash, so that a browser runs this script and nothing else.
  replace(before, "{{script-hash}}", base64(bytes_of_hex(page_script_sha256())));
  // The title comes last, because it may hold anything.
  replace(before, "{{about}}", escape_script(about.dump()));
  replace(before, "{{title}}", escape_html(title_of(options)));
  file_.write(before);
}

void ReportPage::finish() {
  file_.write(page_after());
  file_.commit();
}

}  // namespace taproot::cli
