// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace taproot::cli {

/// `text` deflated, in base 64: about a seventh of its size. A browser unpacks it (with
/// DecompressionStream) when a sentence is shown.
std::string packed(std::string_view text);

}  // namespace taproot::cli
