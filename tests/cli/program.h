// SPDX-License-Identifier: Apache-2.0
//
// Runs the program that the tests were built with.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace taproot::cli {

struct Result {
  int code;  ///< 128 if it was killed.
  std::string out;
  std::string errors;
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// `program` with these arguments, as a shell reads them; `folder` takes what it says of errors.
inline Result run_program(const std::string& program, const std::string& arguments,
                          const std::filesystem::path& folder) {
  const std::filesystem::path errors = folder / "errors";
  const std::string command = program + " " + arguments + " 2>" + errors.string();
  std::FILE* pipe = popen(command.c_str(), "r");
  Result result{0, "", ""};
  std::array<char, 65536> buffer;
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.out.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  result.errors = contents(errors);
  return result;
}

}  // namespace taproot::cli
