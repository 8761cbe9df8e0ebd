// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zip.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace taproot::cli {

/// One array of an .npz, read from its start to its end: the archive may be larger than memory.
class NpyColumn {
 public:
  /// Reads the header of `name`.npy. Throws InputError for what is no array of little-endian
  /// numbers or texts in C order, and for a size that is not what the shape says.
  NpyColumn(zip_t* archive, const std::string& file, const std::string& name);

  static bool exists(zip_t* archive, const std::string& name);

  const std::vector<std::uint64_t>& shape() const { return shape_; }
  char type() const { return type_; }  ///< 'i', 'f' or 'U'
  std::size_t item_size() const { return item_; }

  void require_shape(const std::vector<std::uint64_t>& shape) const;
  void require_type(char type, const char* in_words) const;

  std::int64_t next_integer();
  double next_double();
  void next_text(std::string& text);

 private:
  struct Close {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
  };

  std::string read_header();
  void parse_header(const std::string& header);
  const char* take();
  void read(char* to, std::size_t size);
  void read_end();
  template <typename T>
  T taken();

  std::string where_;
  std::unique_ptr<zip_file_t, Close> file_;
  std::vector<std::uint64_t> shape_;
  char type_ = 'f';
  std::size_t item_ = 0;
  std::uint64_t header_size_ = 0;
  std::uint64_t left_ = 0;  // Bytes that are not in buffer_ yet.
  std::vector<char> buffer_;
  std::size_t at_ = 0;
};

}  // namespace taproot::cli
