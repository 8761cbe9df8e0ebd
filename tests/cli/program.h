// SPDX-License-Identifier: Apache-2.0
//
// Runs the program that the tests were built with.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace taproot::cli {

/// The path of the program.
extern const char* const kProgram;

/// The folder of the demo's sentences.
extern const char* const kDataFolder;

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

/// Tests that run the program, with a folder of their own.
class Cli : public testing::Test {
 protected:
  Cli() {
    std::string name = (std::filesystem::temp_directory_path() / "taproot-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Cli() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  Result run(const std::string& arguments) const {
    return run_program(kProgram, arguments, folder_);
  }

  std::filesystem::path folder_;
};

}  // namespace taproot::cli
