// SPDX-License-Identifier: Apache-2.0
//
// Small files of every kind, built byte by byte: NumPy is not what is tested.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "error.h"
#include "input/score_reader.h"

namespace taproot::cli {

/// The bytes of `values`, one after the other; in the other byte order if `swapped`.
template <typename T>
std::string bytes_of(const std::vector<T>& values, bool swapped = false) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  for (std::size_t at = 0; swapped && at < bytes.size(); at += sizeof(T)) {
    std::reverse(bytes.data() + at, bytes.data() + at + sizeof(T));
  }
  return bytes;
}

/// An .npy file with this dictionary.
inline std::string npy_with(const std::string& dictionary, const std::string& data,
                            int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const auto size = static_cast<std::uint32_t>(dictionary.size());
  bytes += bytes_of<std::uint32_t>({size}).substr(0, version == 1 ? 2 : 4);
  return bytes + dictionary + data;
}

inline std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                       bool fortran = false, int version = 1) {
  return npy_with(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}       \n",
                              type, fortran ? "True" : "False", shape),
                  data, version);
}

inline std::string floats(const std::string& shape, const std::vector<float>& values) {
  return npy("<f4", shape, bytes_of(values));
}
inline std::string integers(const std::string& shape, const std::vector<std::int32_t>& values) {
  return npy("<i4", shape, bytes_of(values));
}

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

class InputFiles : public testing::Test {
 protected:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  InputFiles() {
    std::string pattern = testing::TempDir() + "taproot_input_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~InputFiles() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  /// The bytes of an archive whose entries have the ending .npy added, unless they have one.
  std::string zip(const Entries& entries, bool deflate = false) const {
    const std::string name = path("building.zip");
    std::filesystem::remove(name);
    zip_t* archive = zip_open(name.c_str(), ZIP_CREATE, nullptr);
    for (const auto& [entry, bytes] : entries) {
      zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
      const bool ending = entry.find('.') != std::string::npos || entry.ends_with('/');
      const zip_int64_t index =
          zip_file_add(archive, (ending ? entry : entry + ".npy").c_str(), source, 0);
      EXPECT_GE(index, 0) << zip_strerror(archive);
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                               deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
    }
    EXPECT_EQ(zip_close(archive), 0) << zip_strerror(archive);
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static std::vector<Sentence> read(ReadOptions options) {
    ScoreReader reader(std::move(options));
    std::vector<Sentence> sentences;
    for (Sentence sentence; reader.next(sentence);) sentences.push_back(sentence);
    return sentences;
  }
  static std::vector<Sentence> read(const std::string& file) {
    ReadOptions options;
    options.files = {file};
    return read(options);
  }

  /// The message of the InputError that `action` must throw.
  template <typename Action>
  static std::string message(const Action& action) {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::string folder_;
};

}  // namespace taproot::cli
