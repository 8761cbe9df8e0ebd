// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "io/output_file.h"
#include "options.h"

namespace taproot::cli {

/// The page before and after the sentences, from page.html, page.css and page.js, and the SHA-256
/// of its script in hexadecimal digits; made by cmake/embed_page.cmake.
const char* page_before();
const char* page_after();
const char* page_script_sha256();

/// Escapes `text` for HTML, also between quotes.
std::string escape_html(std::string_view text);

/// Escapes "<" in JSON, so that nothing in it can end a <script> element.
std::string escape_script(std::string json);

/// A report, which is written sentence by sentence.
class ReportPage {
 public:
  /// Throws InputError if the output is a terminal.
  explicit ReportPage(const Options& options);

  /// Adds what sentence_html() or failure_html() returned.
  void sentence(std::string_view html) { file_.write(html); }
  void finish();

 private:
  OutputFile file_;
};

}  // namespace taproot::cli
