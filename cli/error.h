// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace taproot::cli {

/// Input that cannot be read, or wrong usage; the exit code is 2. The message says what was found,
/// what was expected, and where: the file, and the line or sentence if they are known.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace taproot::cli
