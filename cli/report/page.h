// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "options.h"
#include "output_file.h"

namespace taproot::cli {

/// The page around the sentences, from page.html, page.css and page.js; made by
/// cmake/embed_page.cmake.
const char* page_before();
const char* page_after();

/// `text` for HTML, also between quotes.
std::string escape_html(std::string_view text);

/// JSON that may stand in a <script> element: no "<" in it, so that it ends where we end it.
std::string escape_script(std::string json);

/// One report, written sentence by sentence.
class ReportPage {
 public:
  /// Throws InputError if there is no `options.output` and standard output is a terminal.
  explicit ReportPage(const Options& options);

  /// What sentence_html() or failure_html() made.
  void sentence(std::string_view html) { file_.write(html); }
  void finish();

 private:
  OutputFile file_;
};

}  // namespace taproot::cli
