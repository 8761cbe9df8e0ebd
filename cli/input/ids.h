// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace taproot::cli {

/// Reads the ids of sentences, numbers from 0 to 2^64 - 1: a one-dimensional .npy array of
/// integers, or text with one number per line. Throws InputError, naming the line or element.
std::vector<std::uint64_t> read_ids(const std::string& path);

}  // namespace taproot::cli
