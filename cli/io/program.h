// SPDX-License-Identifier: Apache-2.0
//
// Runs other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace taproot::cli {

/// A folder that is removed with everything in it.
class TemporaryFolder {
 public:
  /// Makes the folder `path`, or, if that is empty, one where temporary files go. Throws
  /// InputError.
  explicit TemporaryFolder(const std::string& path);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void remove() const;

 private:
  std::string path_;
};

/// Where in PATH this program is; nothing if it is not there.
std::optional<std::string> find_program(const std::string& name);

/// Runs arguments[0] without input and waits for it; what it prints goes to the file `log`. Returns
/// whether it ended with exit code 0 within `seconds`; after that it is killed. If our own process
/// is interrupted meanwhile, the program is killed and the folder removed before we end as well.
bool run_in_folder(const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                   const std::string& log, int seconds);

}  // namespace taproot::cli
