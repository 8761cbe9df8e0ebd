// SPDX-License-Identifier: Apache-2.0
//
// What files can hold, and how their names say it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace taproot::cli {

enum class Format : std::uint8_t { kJsonl, kNpz, kConllu, kText, kTsv, kSvg, kPng, kPdf, kHtml };

/// The name of a format on the command line, which is also its ending, except that text ends in
/// ".txt" and html also in ".htm".
std::string_view to_string(Format format);

/// The format that to_string() calls `name`. Throws InputError if there is none.
Format format_named(std::string_view name);

/// The format that the ending of a file says, in either case; nothing if we do not know the ending.
std::optional<Format> format_of_ending(std::string_view file);

/// The format of a file of trees that is read: what its ending says, and jsonl without a known one.
Format format_of(std::string_view file);

/// The format in which a command writes: the one called `name`, or, if that is empty, the one that
/// the ending of the output says, or, where the output has no ending or is standard output (an
/// empty name), the first of `formats`. Throws InputError if the command cannot write the format,
/// if the ending is unknown, or if the ending and the name are of different formats.
Format chosen_format(std::span<const Format> formats, std::string_view name,
                     const std::string& output);

}  // namespace taproot::cli
