// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace taproot::cli {

constexpr char32_t kReplacement = 0xFFFD;

/// The code point at `at`, which moves behind it. A byte that does not belong to one (`valid`
/// false) is kReplacement.
char32_t next_code_point(std::string_view text, std::size_t& at, bool& valid);

/// Code points; a stray byte counts as one.
std::size_t count_code_points(std::string_view text);

/// False, and nothing appended, for what is no code point (a surrogate, or too large).
bool append_utf8(std::string& text, char32_t code);

}  // namespace taproot::cli
