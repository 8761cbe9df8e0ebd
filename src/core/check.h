// SPDX-License-Identifier: Apache-2.0
//
// Checks at three levels:
//   require()             checks the caller's arguments, always; throws std::invalid_argument
//   TAPROOT_ASSERT        checks an invariant of ours in O(1), if TAPROOT_CHECK_LEVEL >= 1
//   TAPROOT_ASSERT_SLOW   checks one that takes a pass over the data, if TAPROOT_CHECK_LEVEL >= 2
// A broken invariant throws std::logic_error, because a library must not abort its program.
#pragma once

#include <stdexcept>
#include <string>

#ifndef TAPROOT_CHECK_LEVEL
#define TAPROOT_CHECK_LEVEL 0
#endif

namespace taproot::detail {

[[noreturn]] inline void misuse(const char* function, const std::string& what) {
  throw std::invalid_argument("[" + std::string(function) + "] " + what);
}

inline void require(bool condition, const char* function, const char* what) {
  if (!condition) misuse(function, what);
}

[[noreturn]] inline void broken_invariant(const char* condition, const char* file, int line) {
  throw std::logic_error(std::string("taproot: broken invariant ") + condition + " at " + file +
                         ":" + std::to_string(line));
}

}  // namespace taproot::detail

#define TAPROOT_ASSERT_AT(level, condition)                                                  \
  do {                                                                                       \
    if constexpr (TAPROOT_CHECK_LEVEL >= (level)) {                                          \
      if (!(condition)) ::taproot::detail::broken_invariant(#condition, __FILE__, __LINE__); \
    }                                                                                        \
  } while (false)
#define TAPROOT_ASSERT(condition) TAPROOT_ASSERT_AT(1, condition)
#define TAPROOT_ASSERT_SLOW(condition) TAPROOT_ASSERT_AT(2, condition)
