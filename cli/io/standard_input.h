// SPDX-License-Identifier: Apache-2.0
//
// "-" names standard input wherever a file is read.
#pragma once

#include <string>

namespace taproot::cli {

inline bool is_standard_input(const std::string& path) { return path == "-"; }

/// The name of a file in messages.
std::string shown_name(const std::string& path);

/// A path that can be opened, more than once. Standard input is copied to a file without a name
/// unless it is a file already, because archives are not read from the front to the back. Throws
/// InputError if it is a terminal or cannot be read.
std::string openable(const std::string& path);

}  // namespace taproot::cli
