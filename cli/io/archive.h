// SPDX-License-Identifier: Apache-2.0
//
// Reads zip archives as NumPy writes them: arrays under plain names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/byte_source.h"

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

  /// Throws InputError unless the file is an archive of arrays alone: no paths, no folders, no
  /// encryption, and no name twice.
  explicit Archive(const std::string& path);

  /// As messages name it.
  const std::string& path() const { return path_; }
  /// In the archive's order.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  /// The bytes of an entry. The source may outlive the archive.
  std::unique_ptr<ByteSource> open(const Entry& entry) const;

 private:
  void add(std::uint64_t index);
  void check_names() const;

  std::string path_;
  std::shared_ptr<zip> archive_;
  std::vector<Entry> entries_;
};

}  // namespace taproot::cli
