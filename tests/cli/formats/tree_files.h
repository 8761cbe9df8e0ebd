// SPDX-License-Identifier: Apache-2.0
//
// A folder for files of trees, and some trees to put into them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "error.h"
#include "formats/tree_reader.h"
#include "formats/tree_writer.h"

namespace taproot::cli {

namespace fs = std::filesystem;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kTiny = std::numeric_limits<double>::denorm_min();

class Trees : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "trees_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

inline std::vector<AnyRow> read_all(const std::string& file, IndexKind* kind = nullptr) {
  const auto reader = TreeReader::open(file);
  if (kind != nullptr) *kind = reader->kind();
  std::vector<AnyRow> rows;
  AnyRow row;
  while (reader->next(row)) rows.push_back(row);
  return rows;
}

inline void expect_same(const std::optional<double>& a, const std::optional<double>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a || (std::isnan(*a) && std::isnan(*b))) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(*a), std::bit_cast<std::uint64_t>(*b)) << *a << " " << *b;
}

inline void expect_same(const TreeRow& a, const TreeRow& b) {
  EXPECT_EQ(a.sentence, b.sentence);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.heads, b.heads);
  EXPECT_EQ(a.labels, b.labels);
  expect_same(a.score, b.score);
  expect_same(a.log_prob, b.log_prob);
  expect_same(a.gumbel, b.gumbel);
  expect_same(a.weight, b.weight);
}

inline WordSentence words_of(std::vector<std::string> words) {
  WordSentence sentence;
  sentence.words = std::move(words);
  return sentence;
}

// Three sentences, of which the second is longer and the third has one word; odd words and numbers.
inline const std::vector<WordSentence> kWords = {
    words_of({"I", "\"saw\\", "#1"}),
    words_of({"a/b", "d\xc3\xa9j\xc3\xa0", "_", "\xf0\x9f\x8c\xb3", "=", "'"}), words_of({"5.1"})};

inline std::vector<TreeRow> some_trees(bool labeled) {
  std::vector<TreeRow> rows = {
      {0, 0, {2, 0, 2}, {}, 1.0, -0.1, 0.1 + 0.2, 1.0},
      {0, 1, {0, 1, 2}, {}, -0.0, -kTiny, std::numeric_limits<double>::max(), 1e16},
      {1, 0, {6, 0, 1, 2, 3, 4}, {}, 1.0 / 3.0, -123456789.125, 4.9e-320, 1e22},
      {2, 0, {0}, {}, 0.0, -745.13321910194122, std::nextafter(1.0, 2.0), 5e-324}};
  if (labeled) {
    rows[0].labels = {"nsubj:pass", "root", "\"\\"};
    rows[1].labels = {"_", "_", "_"};
    rows[2].labels = {"a", "bb", "\xf0\x9f\x8c\xb3", "\xc3\xa9", "_", "\x7f"};
    rows[3].labels = {"root"};
  }
  return rows;
}

inline void write_all(const std::string& file, const std::vector<TreeRow>& rows, IndexKind kind) {
  const auto writer = TreeWriter::open(format_of(file), file, kind);
  std::size_t at = 0;
  for (std::size_t s = 0; s < kWords.size(); ++s) {
    writer->sentence(s, static_cast<int>(kWords[s].words.size()), &kWords[s]);
    for (; at < rows.size() && rows[at].sentence == s; ++at) writer->tree(rows[at]);
  }
  writer->finish();
}

inline void expect_error(const std::string& file, const std::string& part) {
  try {
    read_all(file);
    ADD_FAILURE() << file << " was read; no error with '" << part << "'";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(fs::path(file).filename().string()), std::string::npos)
        << error.what();
  }
}

}  // namespace taproot::cli
