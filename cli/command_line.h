// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace taproot::cli {

/// Parses the command line and runs the command that it names. Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace taproot::cli
