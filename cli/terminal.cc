// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "parse.h"

namespace taproot::cli {

bool wants_color(const std::string& when, bool to_standard_output) {
  if (when != "auto") return when == "always";
  const char* const no = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return to_standard_output && isatty(STDOUT_FILENO) != 0 && (no == nullptr || *no == '\0') &&
         (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

std::size_t terminal_width() {
  constexpr std::size_t kLeast = 20;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<std::size_t>(size.ws_col, kLeast);
  }
  std::size_t columns = 80;
  if (const char* const text = std::getenv("COLUMNS"); text != nullptr) {
    std::size_t value = 0;
    if (parse_whole(text, value) && value > 0) columns = value;
  }
  return std::max(columns, kLeast);
}

}  // namespace taproot::cli
