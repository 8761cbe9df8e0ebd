// SPDX-License-Identifier: Apache-2.0
#include "io/standard_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "error.h"

namespace taproot::cli {
namespace {

[[noreturn]] void fail_to_copy() {
  fail("standard input cannot be copied to a temporary file: {}", std::strerror(errno));
}

// Copies standard input, and returns the path of the copy. It stays open until the program ends.
std::string copied() {
  if (isatty(STDIN_FILENO) != 0) {
    fail("'-' reads standard input, which is a terminal; pipe a file into it");
  }
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) return "/dev/stdin";
  std::FILE* const copy = std::tmpfile();
  if (copy == nullptr) fail_to_copy();
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("standard input cannot be read: {}", std::strerror(errno));
    const auto size = static_cast<std::size_t>(got);
    if (std::fwrite(piece.data(), 1, size, copy) != size) fail_to_copy();
  }
  if (std::fflush(copy) != 0) fail_to_copy();
  return fmt::format("/dev/fd/{}", fileno(copy));
}

}  // namespace

std::string shown_name(const std::string& path) {
  return is_standard_input(path) ? "standard input" : path;
}

std::string openable(const std::string& path) {
  if (!is_standard_input(path)) return path;
  static const std::string copy = copied();
  return copy;
}

}  // namespace taproot::cli
