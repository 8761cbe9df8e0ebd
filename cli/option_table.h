// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "formats/format.h"
#include "options.h"

namespace taproot::cli {

/// A command that reads scores.
struct Command {
  const char* name;
  const char* what;
  const char* example;
  std::span<const Format> formats;  ///< What it can write; the first is the default.
  int (*run)(const Options&);
};

/// Adds the options of one command.
void add_options(CLI::App& app, Options& options, const Command& command);

/// Adds --output, where "-" means standard output, and --format with the names of `formats`.
void add_output(CLI::App& app, std::string& output, std::string& format,
                std::span<const Format> formats);

}  // namespace taproot::cli
