// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>

#include "command_line.h"
#include "io/output_file.h"
#include "options.h"

int main(int argc, char** argv) {
  taproot::cli::remove_unfinished_on_signals();
  try {
    return taproot::cli::run_command_line(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "taproot: {}\n", error.what());
    return taproot::cli::kUsage;
  }
}
