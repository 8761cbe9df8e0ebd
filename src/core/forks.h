// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace taproot::detail {

/// How many times this process or one it descends from has forked since the library was first
/// asked: what a child inherits of threads and locks was made under a smaller number.
std::uint64_t fork_count();

}  // namespace taproot::detail
