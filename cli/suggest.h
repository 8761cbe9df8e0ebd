// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taproot::cli {

/// How many letters must be inserted, removed, replaced or exchanged with their neighbor to turn
/// one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that `typed` most likely means: the one at the smallest distance, of at most 2 and less
/// than half its letters, or the only one that begins with it. Empty if there is none.
std::string closest(std::string_view typed, const std::vector<std::string>& names);

}  // namespace taproot::cli
