// SPDX-License-Identifier: Apache-2.0
//
// Zip archives as NumPy writes them: arrays under plain names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "input/byte_source.h"

struct zip;

namespace taproot::cli {

class Archive {
 public:
  struct Entry {
    std::string name;  ///< Without the ending .npy.
    std::uint64_t index = 0;
    std::uint64_t size = 0;
    std::uint64_t packed_size = 0;
    bool stored = false;
  };

  /// Throws InputError for what is no archive, and for one whose entries are anything but arrays:
  /// paths, directories, encrypted, twice the same name.
  explicit Archive(const std::string& path);

  const std::string& path() const { return path_; }
  /// In the archive's order.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  /// The bytes of an entry. They may outlive the archive.
  std::unique_ptr<ByteSource> open(const Entry& entry) const;

 private:
  void add(std::uint64_t index);
  void check_names() const;

  std::string path_;
  std::shared_ptr<zip> archive_;
  std::vector<Entry> entries_;
};

}  // namespace taproot::cli
