// SPDX-License-Identifier: Apache-2.0
#include "picture/rendering.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "error.h"

namespace taproot::cli {
namespace {

constexpr int kSeconds = 120;
constexpr std::array<const char*, 4> kChromium = {"chromium", "chromium-browser", "google-chrome",
                                                  "google-chrome-stable"};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The address of a file: every byte that an address could take for something else is escaped.
std::string url_of(const std::string& path) {
  std::string url = "file://";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::string_view("/-_.~").find(c) < 5;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return url;
}

// The last lines of what a program printed.
std::string last_words(const std::string& log) {
  constexpr std::size_t kMost = 400;
  std::string text = contents(log);
  if (text.size() > kMost) text.erase(0, text.size() - kMost);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return text.empty() ? "it said nothing" : text;
}

}  // namespace

Rendering::Renderer Rendering::find_renderer(Kind kind, Format format) {
  if (kind == Kind::kFigure) {
    if (const auto path = find_program("rsvg-convert")) return {*path, false};
  }
  for (const char* const name : kChromium) {
    if (const auto path = find_program(name)) return {*path, true};
  }
  if (kind == Kind::kFigure) {
    fail(
        "a figure as {} needs one of the programs rsvg-convert (of Debian's librsvg2-bin), {}, and "
        "none of them is in PATH; install one, or write SVG (-o FILE.svg)",
        to_string(format), fmt::join(kChromium, ", "));
  }
  fail(
      "a report as {} needs one of the programs {}, and none of them is in PATH; install one, or "
      "write HTML (-o FILE.html)",
      to_string(format), fmt::join(kChromium, ", "));
}

// Snap's Chromium sees neither hidden folders nor /tmp, so we work beside the output.
Rendering::Rendering(Kind kind, Format format, const std::string& output)
    : kind_(kind),
      format_(format),
      renderer_(find_renderer(kind, format)),
      out_(output),
      folder_(out_.temporary().empty() ? "" : out_.temporary() + "-picture"),
      source_(folder_.file(kind == Kind::kFigure ? "figure.svg" : "page.html")),
      picture_(folder_.file(fmt::format("picture.{}", to_string(format)))) {}

std::vector<std::string> Rendering::rsvg_arguments() const {
  std::vector<std::string> arguments = {renderer_.path,
                                        fmt::format("--format={}", to_string(format_))};
  if (format_ == Format::kPng) {
    arguments.insert(arguments.end(), {"--zoom=2", "--background-color=white"});
  }
  arguments.insert(arguments.end(), {"--output", picture_, source_});
  return arguments;
}

// The size of a figure, in pixels, which its viewBox says.
Rendering::Size Rendering::size_of(const std::string& svg) {
  constexpr std::string_view kBox = "viewBox=\"0 0 ";
  const std::size_t at = svg.find(kBox);
  double width = 0;
  double height = 0;
  if (at != std::string::npos) {
    std::istringstream(svg.substr(at + kBox.size(), 64)) >> width >> height;
  }
  if (!(width > 0 && height > 0)) throw std::logic_error("a figure has no viewBox");
  return {static_cast<int>(width + 0.999), static_cast<int>(height + 0.999)};
}

std::vector<std::string> Rendering::chromium_arguments(Size window) const {
  // Virtual time lets the page's script finish before the picture is taken.
  std::vector<std::string> arguments = {
      renderer_.path,
      "--headless=new",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--no-first-run",
      "--hide-scrollbars",
      "--force-device-scale-factor=2",
      "--virtual-time-budget=10000",
      "--user-data-dir=" + folder_.file("profile"),
      fmt::format("--window-size={},{}", window.width, window.height)};
  if (geteuid() == 0) arguments.emplace_back("--no-sandbox");  // As root it cannot have one.
  return arguments;
}

// Puts the figure into a page of its size.
Rendering::Size Rendering::figure_page() {
  const std::string svg = contents(source_);
  const Size size = size_of(svg);
  page_ = folder_.file("figure.html");
  std::ofstream(page_, std::ios::binary)
      << "<!doctype html><meta charset=\"utf-8\"><style>@page{margin:0;size:" << size.width << "px "
      << size.height << "px}html{background:#fff;color:#1b1f24}body{margin:0}"
      << "svg{display:block}</style>" << svg;
  return size;
}

// Opens the page once to learn how high it is. On paper, where type is set without hints, some
// lines break elsewhere, so there is room for them.
Rendering::Size Rendering::report_page() {
  constexpr std::string_view kKey = "data-height=\"";
  constexpr int kMost = 8000;  // Twice this is as high as the pictures that Chromium makes.
  page_ = source_;
  const std::string dom = folder_.file("dom");
  Size size{1400, 1000};
  std::vector<std::string> arguments = chromium_arguments(size);
  arguments.insert(arguments.end(), {"--dump-dom", url_of(page_)});
  const bool ended = run_in_folder(arguments, folder_, dom, kSeconds);
  const std::string text = contents(dom);
  const std::size_t at = text.find(kKey);
  size.height = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + kKey.size());
  if (!ended || size.height <= 0) {
    fail("{} did not make the {}: {}", renderer_.path, to_string(format_), last_words(dom));
  }
  if (size.height > kMost) {
    fail("the page is {} pixels high, and a picture has at most {}; write HTML (-o FILE.html)",
         size.height, kMost);
  }
  if (format_ == Format::kPdf) {
    size.height += 24 + size.height / 50;
    std::ofstream(page_, std::ios::binary | std::ios::app)
        << fmt::format("<style>@page{{size:{}px {}px;margin:0}}</style>", size.width, size.height);
  }
  return size;
}

void Rendering::finish() {
  const std::string log = folder_.file("log");
  std::vector<std::string> arguments;
  if (renderer_.is_chromium) {
    const Size size = kind_ == Kind::kFigure ? figure_page() : report_page();
    const std::string path = std::filesystem::absolute(picture_).string();
    arguments = chromium_arguments(size);
    if (format_ == Format::kPdf) arguments.emplace_back("--no-pdf-header-footer");
    arguments.push_back((format_ == Format::kPdf ? "--print-to-pdf=" : "--screenshot=") + path);
    arguments.push_back(url_of(page_));
  } else {
    arguments = rsvg_arguments();
  }
  const bool ended = run_in_folder(arguments, folder_, log, kSeconds);
  const std::string bytes = contents(picture_);
  const bool is_picture = bytes.starts_with(format_ == Format::kPng ? "\x89PNG" : "%PDF");
  if (!ended || !is_picture) {
    fail("{} did not make the {}: {}", renderer_.path, to_string(format_), last_words(log));
  }
  out_.write(bytes);
  out_.commit();
}

}  // namespace taproot::cli
