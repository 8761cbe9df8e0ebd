// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "trees/tree_reader.h"

namespace taproot::cli {

/// Reads one line. `kind` is what a tree's index counts. Keys that no row has are passed over.
/// Throws InputError, beginning with `where`, for what is no row: no JSON, a key that is missing or
/// twice there, a value of another type.
void parse_json_row(std::string_view line, const std::string& where, AnyRow& row, IndexKind& kind);

}  // namespace taproot::cli
