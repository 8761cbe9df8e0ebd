// SPDX-License-Identifier: Apache-2.0
//
// PNG and PDF. Taproot draws SVG and writes pages; other programs, which are looked for when they
// are needed, turn them into pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/format.h"
#include "io/output_file.h"
#include "io/program.h"

namespace taproot::cli {

/// A picture on its way: the caller writes source(), and finish() makes the picture of it.
class Rendering {
 public:
  enum class Kind : std::uint8_t {
    kFigure,  ///< An SVG; rendered by rsvg-convert, or else by Chromium.
    kPage     ///< An HTML page that says its height (data-height); rendered by Chromium.
  };

  /// `format` is kPng or kPdf. Throws InputError, naming the programs, if none is in PATH.
  Rendering(Kind kind, Format format, const std::string& output);

  /// The file that must be there before finish(), in a folder that is removed afterwards.
  const std::string& source() const { return source_; }

  /// Throws InputError if the program fails, with what it said.
  void finish();

 private:
  struct Renderer {
    std::string path;
    bool is_chromium;
  };
  struct Size {
    int width = 0;
    int height = 0;
  };
  static Renderer find_renderer(Kind kind, Format format);
  static Size size_of(const std::string& svg);

  std::vector<std::string> rsvg_arguments() const;
  std::vector<std::string> chromium_arguments(Size window) const;
  Size figure_page();
  Size report_page();

  Kind kind_;
  Format format_;
  Renderer renderer_;
  OutputFile out_;
  TemporaryFolder folder_;
  std::string source_;
  std::string page_;  // What Chromium opens.
  std::string picture_;
};

}  // namespace taproot::cli
