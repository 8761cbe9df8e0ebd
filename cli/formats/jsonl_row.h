// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "formats/tree_reader.h"

namespace taproot::cli {

/// Parses one line. `kind` becomes what the index of a tree counts. Unknown keys are ignored.
/// Throws InputError, with a message that begins with `where`, if the line is not JSON, a key is
/// missing or appears twice, or a value has the wrong type.
void parse_json_row(std::string_view line, const std::string& where, AnyRow& row, IndexKind& kind);

}  // namespace taproot::cli
