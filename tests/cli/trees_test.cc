// SPDX-License-Identifier: Apache-2.0
// Rows written and read back in every format; what is no row; files that appear whole or not at
// all.
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "error.h"
#include "output_file.h"
#include "trees/convert.h"
#include "trees/npz_archive.h"
#include "trees/tree_reader.h"
#include "trees/tree_writer.h"

namespace taproot::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

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

std::vector<AnyRow> read_all(const std::string& file, IndexKind* kind = nullptr) {
  const auto reader = TreeReader::open(file);
  if (kind != nullptr) *kind = reader->kind();
  std::vector<AnyRow> rows;
  AnyRow row;
  while (reader->next(row)) rows.push_back(row);
  return rows;
}

void expect_same(const std::optional<double>& a, const std::optional<double>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a || (std::isnan(*a) && std::isnan(*b))) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(*a), std::bit_cast<std::uint64_t>(*b)) << *a << " " << *b;
}

void expect_same(const TreeRow& a, const TreeRow& b) {
  EXPECT_EQ(a.sentence, b.sentence);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.heads, b.heads);
  EXPECT_EQ(a.labels, b.labels);
  expect_same(a.score, b.score);
  expect_same(a.log_prob, b.log_prob);
  expect_same(a.gumbel, b.gumbel);
  expect_same(a.weight, b.weight);
}

WordSentence words_of(std::vector<std::string> words) {
  WordSentence sentence;
  sentence.words = std::move(words);
  return sentence;
}

// Three sentences, of which the second is longer and the third has one word; odd words and numbers.
const std::vector<WordSentence> kWords = {
    words_of({"I", "\"saw\\", "#1"}),
    words_of({"a/b", "d\xc3\xa9j\xc3\xa0", "_", "\xf0\x9f\x8c\xb3", "=", "'"}), words_of({"5.1"})};

std::vector<TreeRow> some_trees(bool labeled) {
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

void write_all(const std::string& file, const std::vector<TreeRow>& rows, IndexKind kind) {
  const auto writer = TreeWriter::open(format_of(file), file, kind);
  std::size_t at = 0;
  for (std::size_t s = 0; s < kWords.size(); ++s) {
    writer->sentence(s, static_cast<int>(kWords[s].words.size()), &kWords[s]);
    for (; at < rows.size() && rows[at].sentence == s; ++at) writer->tree(rows[at]);
  }
  writer->finish();
}

void expect_error(const std::string& file, const std::string& part) {
  try {
    read_all(file);
    ADD_FAILURE() << file << " was read; no error with '" << part << "'";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(fs::path(file).filename().string()), std::string::npos)
        << error.what();
  }
}

TEST_F(Trees, RoundTripInEveryFormat) {
  for (const char* const ending : {"jsonl", "npz", "conllu"}) {
    for (const bool labeled : {false, true}) {
      for (const IndexKind kind : {IndexKind::kNone, IndexKind::kSample, IndexKind::kRank}) {
        SCOPED_TRACE(fmt::format("{} {} {}", ending, labeled, static_cast<int>(kind)));
        std::vector<TreeRow> rows = some_trees(labeled);
        if (kind == IndexKind::kNone) rows.erase(rows.begin() + 1);
        const std::string file = path(std::string("x.") + ending);
        write_all(file, rows, kind);
        IndexKind kind_read = IndexKind::kNone;
        const auto read = read_all(file, &kind_read);
        EXPECT_EQ(kind_read, kind);
        ASSERT_EQ(read.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
          expect_same(std::get<TreeRow>(read[i]), rows[i]);
        }
      }
    }
  }
}

TEST_F(Trees, JsonKeysInOrderAndOnlyThoseThere) {
  const auto writer = TreeWriter::open(Format::kJsonl, path("x"), IndexKind::kSample);
  TreeRow row{7, 3, {2, 0}, {}, {}, -1.5, {}, {}};
  writer->tree(row);
  row.labels = {"a\n\"\x01", "b\xff"};
  row.score = kInf;
  row.log_prob = -kInf;
  row.gumbel = std::nan("");
  row.weight = 1.0;
  writer->tree(row);
  writer->failed({8, "no_tree", "no \"tree\""});
  writer->exhausted({9, 4});
  writer->finish();
  EXPECT_EQ(get("x"),
            "{\"sentence\":7,\"sample\":3,\"heads\":[2,0],\"log_prob\":-1.5}\n"
            "{\"sentence\":7,\"sample\":3,\"heads\":[2,0],\"labels\":[\"a\\u000a\\\"\\u0001\","
            "\"b\\ufffd\"],\"score\":null,\"log_prob\":null,\"gumbel\":null,\"weight\":1}\n"
            "{\"sentence\":8,\"status\":\"no_tree\",\"message\":\"no \\\"tree\\\"\"}\n"
            "{\"sentence\":9,\"exhausted\":true,\"trees\":4}\n");
  const auto rows = read_all(path("x"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(std::isnan(*std::get<TreeRow>(rows[1]).log_prob));
  EXPECT_EQ(std::get<TreeRow>(rows[1]).labels[0], "a\n\"\x01");
  EXPECT_EQ(std::get<FailedRow>(rows[2]).message, "no \"tree\"");
  EXPECT_EQ(std::get<ExhaustedRow>(rows[3]).trees, 4U);
}

TEST_F(Trees, InfinitiesStayInNpzAndConllu) {
  for (const char* const name : {"x.npz", "x.conllu"}) {
    auto rows = some_trees(false);
    rows[0].log_prob = -kInf;
    rows[1].gumbel = kInf;
    rows[2].weight = std::nan("");
    write_all(path(name), rows, IndexKind::kSample);
    const auto read = read_all(path(name));
    ASSERT_EQ(read.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) expect_same(std::get<TreeRow>(read[i]), rows[i]);
  }
}

TEST_F(Trees, Text) {
  for (const bool with_words : {false, true}) {
    const auto writer = TreeWriter::open(Format::kText, path("x.txt"), IndexKind::kSample);
    writer->sentence(0, 3, with_words ? &kWords[0] : nullptr);
    writer->tree({0, 1, {2, 0, 2}, {}, {}, -0.5, {}, {}});
    writer->exhausted({0, 1});
    writer->sentence(1, 6, with_words ? &kWords[1] : nullptr);
    writer->failed({1, "bad_score", "it is\nbad"});
    writer->finish();
    EXPECT_EQ(get("x.txt"),
              std::string(with_words ? "0 1 -0.5 I/2 \"saw\\/0 #1/2\n" : "0 1 -0.5 2 0 2\n") +
                  "# sentence 0: exhausted after 1 trees\n"
                  "# sentence 1: bad_score: it is bad\n");
  }
  const auto writer = TreeWriter::open(Format::kText, path("y.txt"), IndexKind::kNone);
  writer->tree({0, 0, {0}, {}, {}, {}, {}, {}});
  writer->finish();
  EXPECT_EQ(get("y.txt"), "0 nan 0\n");
}

const char* const kConllu =
    "# sent_id = a-1\n"
    "# log_prob = 17\n"
    "# text = vámonos al mar\n"
    "1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tvamos\tir\tVERB\t_\tMood=Imp\t0\troot\t0:root\tA=b\n"
    "2\tnos\tnos\tPRON\t_\t_\t1\tobj\t_\t_\n"
    "2.1\tx y\t_\t_\t_\t_\t_\t_\t1:dep\t_\n"
    "\n"
    "1\tsí\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    "1.1\tz\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "\n";

TEST_F(Trees, ConlluKeepsWhatTheInputHolds) {
  WordReader reader(put("w.conllu", kConllu));
  WordSentence words;
  const auto writer = TreeWriter::open(Format::kConllu, path("x.conllu"), IndexKind::kSample);
  ASSERT_TRUE(reader.next(words));
  writer->sentence(0, 2, &words);
  words.words[0] = "changed";  // What was given is not needed any more.
  writer->tree({0, 0, {2, 0}, {}, {}, -0.25, {}, {}});
  writer->tree({0, 1, {0, 1}, {"r", "o:x"}, {}, -1.5, 2.5, 1.0});
  writer->exhausted({0, 2});
  ASSERT_TRUE(reader.next(words));
  writer->sentence(1, 1, &words);
  writer->failed({1, "no_tree", "none\tat\nall"});
  writer->finish();
  EXPECT_EQ(get("x.conllu"),
            "# sent_id = a-1\n# text = vámonos al mar\n# sentence = 0\n# sample = 0\n"
            "# log_prob = -0.25\n# labeled = no\n"
            "1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "1\tvamos\tir\tVERB\t_\tMood=Imp\t2\troot\t0:root\tA=b\n"
            "2\tnos\tnos\tPRON\t_\t_\t0\tobj\t_\t_\n"
            "2.1\tx y\t_\t_\t_\t_\t_\t_\t1:dep\t_\n\n"
            "# sent_id = a-1\n# text = vámonos al mar\n# sentence = 0\n# sample = 1\n"
            "# log_prob = -1.5\n# gumbel = 2.5\n# weight = 1\n# exhausted = 2\n"
            "1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "1\tvamos\tir\tVERB\t_\tMood=Imp\t0\tr\t0:root\tA=b\n"
            "2\tnos\tnos\tPRON\t_\t_\t1\to:x\t_\t_\n"
            "2.1\tx y\t_\t_\t_\t_\t_\t_\t1:dep\t_\n\n"
            "# sentence = 1\n# status = no_tree\n# message = none\tat all\n"
            "1\tsí\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
            "1.1\tz\t_\t_\t_\t_\t_\t_\t_\t_\n\n");
  const auto rows = read_all(path("x.conllu"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(std::get<TreeRow>(rows[0]).labels.empty());
  EXPECT_EQ(std::get<TreeRow>(rows[1]).labels, (std::vector<std::string>{"r", "o:x"}));
  EXPECT_EQ(std::get<ExhaustedRow>(rows[2]).trees, 2U);
  EXPECT_EQ(std::get<FailedRow>(rows[3]).status, "no_tree");
  EXPECT_EQ(std::get<FailedRow>(rows[3]).sentence, 1U);
}

TEST_F(Trees, ConlluOfPlainWordsAndOfOthers) {
  write_all(path("x.conllu"), {{2, 0, {0}, {}, {}, {}, {}, {}}}, IndexKind::kNone);
  EXPECT_EQ(get("x.conllu"), "# text = 5.1\n# sentence = 2\n1\t5.1\t_\t_\t_\t_\t0\t_\t_\t_\n\n");
  // Others' trees: numbered on, with the relations as labels.
  const auto rows = read_all(
      put("gold.conllu", std::string(kConllu) + "# sentence = 9\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
                                                "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(std::get<TreeRow>(rows[0]).labels, (std::vector<std::string>{"root", "obj"}));
  EXPECT_EQ(std::get<TreeRow>(rows[1]).sentence, 1U);
  EXPECT_EQ(std::get<TreeRow>(rows[2]).sentence, 9U);
  EXPECT_EQ(std::get<TreeRow>(rows[3]).sentence, 10U);
}

TEST_F(Trees, ConvertThereAndBack) {
  std::string text;
  for (const WordSentence& sentence : kWords) {
    text += fmt::format("{}\n", fmt::join(sentence.words, " "));
  }
  const std::string words = put("words.txt", text);
  for (const bool labeled : {false, true}) {
    write_all(path("a.npz"), some_trees(labeled), IndexKind::kSample);
    convert(path("a.npz"), path("b.conllu"), Format::kConllu, words);
    convert(path("b.conllu"), path("c.npz"), Format::kNpz, "");
    EXPECT_EQ(get("a.npz"), get("c.npz"));
    convert(path("c.npz"), path("d.jsonl"), Format::kJsonl, "");
    convert(path("d.jsonl"), path("e.npz"), Format::kNpz, "");
    EXPECT_EQ(get("a.npz"), get("e.npz"));
    convert(path("d.jsonl"), path("f.conllu"), Format::kConllu, words);
    EXPECT_EQ(get("b.conllu"), get("f.conllu"));
    convert(path("b.conllu"), path("g.conllu"), Format::kConllu, "");
    EXPECT_EQ(get("b.conllu"), get("g.conllu"));
    convert(path("b.conllu"), path("h.jsonl"), Format::kJsonl, "");
    EXPECT_EQ(get("d.jsonl"), get("h.jsonl"));
  }
  convert(path("b.conllu"), path("t.txt"), Format::kText, "");
  EXPECT_NE(get("t.txt").find("2 0 -745.1332191019412 5.1/0\n"), std::string::npos) << get("t.txt");
  EXPECT_THROW(convert(path("a.npz"), path("n.conllu"), Format::kConllu, ""), InputError);
  put("two.txt", "a b c\n");
  EXPECT_THROW(convert(path("a.npz"), path("n.conllu"), Format::kConllu, path("two.txt")),
               InputError);
  EXPECT_THROW(convert(path("a.npz"), "", Format::kNpz, ""), InputError);
  EXPECT_FALSE(fs::exists(path("n.conllu")));
}

TEST_F(Trees, ConvertKeepsFailedAndExhausted) {
  const std::string rows =
      "{\"sentence\":0,\"status\":\"no_tree\",\"message\":\"none\"}\n"
      "{\"sentence\":1,\"rank\":0,\"heads\":[0],\"score\":1,\"log_prob\":0}\n"
      "{\"sentence\":1,\"exhausted\":true,\"trees\":1}\n"
      "{\"sentence\":2,\"exhausted\":true,\"trees\":0}\n";
  put("a.jsonl", rows);
  put("words.txt", "x y\nz\nu\n");
  convert(path("a.jsonl"), path("b.conllu"), Format::kConllu, path("words.txt"));
  convert(path("b.conllu"), path("c.jsonl"), Format::kJsonl, "");
  EXPECT_EQ(get("c.jsonl"), rows);
  convert(path("b.conllu"), path("d.npz"), Format::kNpz, "");
  EXPECT_EQ(read_all(path("d.npz")).size(), 1U);
}

TEST_F(Trees, NothingAndNoWords) {
  for (const char* const name : {"x.jsonl", "x.npz", "x.conllu"}) {
    TreeWriter::open(format_of(name), path(name), IndexKind::kSample)->finish();
    EXPECT_TRUE(read_all(path(name)).empty());
    const WordSentence none;
    const auto writer = TreeWriter::open(format_of(name), path(name), IndexKind::kNone);
    writer->sentence(0, 0, &none);
    writer->tree({0, 0, {}, {}, {}, 0.0, {}, {}});
    writer->finish();
    const auto rows = read_all(path(name));
    ASSERT_EQ(rows.size(), 1U) << name;
    EXPECT_TRUE(std::get<TreeRow>(rows[0]).heads.empty());
  }
}

TEST_F(Trees, NpzIsTheSameTwiceAndLarge) {
  const auto write = [&](const std::string& file) {
    const auto writer = TreeWriter::open(Format::kNpz, file, IndexKind::kSample);
    TreeRow row;
    for (std::size_t s = 0; s < 60; ++s) {
      writer->sentence(s, static_cast<int>(s % 50 + 1), nullptr);
      for (row.index = 0; row.index < 1000; ++row.index) {
        row.sentence = s;
        row.heads.assign(s % 50 + 1, s % 7 == 0 ? 0 : 1);
        row.heads[0] = 0;
        row.log_prob = -1.0 / static_cast<double>(1 + s * 1000 + row.index);
        writer->tree(row);
      }
    }
    writer->finish();
  };
  write(path("a.npz"));  // More than is kept in memory.
  write(path("b.npz"));
  EXPECT_EQ(get("a.npz"), get("b.npz"));
  EXPECT_EQ(files(), 2U);
  const auto rows = read_all(path("a.npz"));
  ASSERT_EQ(rows.size(), 60000U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TreeRow& row = std::get<TreeRow>(rows[i]);
    ASSERT_EQ(row.heads.size(), i / 1000 % 50 + 1);
    ASSERT_EQ(*row.log_prob, -1.0 / static_cast<double>(1 + i));
  }
}

TEST_F(Trees, WritersRefuseWhatTheirFormatCannotHold) {
  EXPECT_THROW(TreeWriter::open(Format::kNpz, "", IndexKind::kNone), InputError);
  EXPECT_THROW(TreeWriter::open(Format::kJsonl, path("no/such/folder"), IndexKind::kNone),
               InputError);
  EXPECT_THROW(TreeWriter::open(Format::kJsonl, folder_.string(), IndexKind::kNone), InputError);
  EXPECT_THROW(format_named("xml"), InputError);
  const auto npz = TreeWriter::open(Format::kNpz, path("x.npz"), IndexKind::kNone);
  npz->tree({0, 0, {0, 1}, {}, {}, -1.0, {}, {}});
  EXPECT_THROW(npz->tree({0, 0, {0, 1}, {}, {}, {}, {}, {}}), InputError);
  EXPECT_THROW(npz->tree({0, 0, {0}, {}, {}, -1.0, {}, {}}), InputError);
  EXPECT_THROW(npz->tree({0, 0, {0, 1}, {"a", "b"}, {}, -1.0, {}, {}}), InputError);
  EXPECT_THROW(npz->tree({std::size_t{1} << 40U, 0, {0}, {}, {}, -1.0, {}, {}}), InputError);
  const auto conllu = TreeWriter::open(Format::kConllu, path("x.conllu"), IndexKind::kNone);
  EXPECT_THROW(conllu->sentence(0, 3, nullptr), InputError);
  EXPECT_THROW(conllu->sentence(0, 2, &kWords[0]), InputError);
  conllu->sentence(0, 3, &kWords[0]);
  EXPECT_THROW(conllu->tree({0, 0, {0, 1}, {}, {}, {}, {}, {}}), InputError);
  EXPECT_THROW(conllu->tree({0, 0, {0, 1, 1}, {"", "a", "b"}, {}, {}, {}, {}}), InputError);
  EXPECT_THROW(conllu->tree({0, 0, {0, 1, 1}, {"a\tb", "a", "b"}, {}, {}, {}, {}}), InputError);
}

TEST_F(Trees, NoFileWithoutFinish) {
  for (const char* const name : {"x.jsonl", "x.npz", "x.conllu", "x.txt"}) {
    put(name, "old");
    {
      const auto writer = TreeWriter::open(format_of(name), path(name), IndexKind::kNone);
      writer->sentence(2, 1, &kWords[2]);
      for (int i = 0; i < 100000; ++i) writer->tree({2, 0, {0}, {}, {}, -1.0, {}, {}});
      EXPECT_EQ(get(name), "old");
      EXPECT_EQ(files(), 2U);
    }
    EXPECT_EQ(get(name), "old");
    EXPECT_EQ(files(), 1U);
    fs::remove(path(name));
  }
  EXPECT_THROW(
      convert(put("bad.jsonl", "{\"sentence\":0,\"heads\":[0]}\n{"), path("y"), Format::kJsonl, ""),
      InputError);
  EXPECT_EQ(files(), 1U);
}

TEST_F(Trees, SignalsLeaveNothing) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = fork();
    if (child == 0) {
      const auto npz = TreeWriter::open(Format::kNpz, path("a.npz"), IndexKind::kNone);
      const auto jsonl = TreeWriter::open(Format::kJsonl, path("b.jsonl"), IndexKind::kNone);
      if (files() != 2) _exit(3);
      raise(signal);
      _exit(4);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(files(), 0U);
  }
}

TEST_F(Trees, FullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  for (const Format format : {Format::kJsonl, Format::kNpz}) {
    const auto writer = TreeWriter::open(format, "/dev/full", IndexKind::kNone);
    writer->tree({2, 0, {0}, {}, {}, -1.0, {}, {}});
    try {
      writer->finish();
      ADD_FAILURE();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("/dev/full cannot be written"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Trees, LinksAndPermissionsStay) {
  put("real", "old");
  fs::permissions(path("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", path("link"));
  TreeWriter::open(Format::kJsonl, path("link"), IndexKind::kNone)->finish();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(get("real"), "");
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Trees, BrokenJsonLines) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "line 1: no JSON"},
      {"nothing", "no JSON"},
      {"{\"sentence\":0,\"heads\":[0]} x", "no JSON"},
      {"[1]", "a list, not an object"},
      {"5", "5, not an object"},
      {"{\"heads\":[0]}", "there is no 'sentence'"},
      {"{\"sentence\":0}", "there is no 'heads'"},
      {"{\"sentence\":0,\"n\":3,\"status\":\"ok\",\"log_partition\":1}", "there is no 'message'"},
      {"{\"sentence\":0,\"exhausted\":true}", "there is no 'trees'"},
      {"{\"sentence\":0,\"exhausted\":false,\"trees\":1}", "'exhausted' is false, not true"},
      {"{\"sentence\":0,\"sentence\":0,\"heads\":[0]}", "'sentence' is there twice"},
      {"{\"sentence\":0,\"heads\":[0],\"heads\":[0]}", "'heads' is there twice"},
      {"{\"sentence\":-1,\"heads\":[0]}", "'sentence' is -1"},
      {"{\"sentence\":0.5,\"heads\":[0]}", "'sentence' is 0.5"},
      {"{\"sentence\":18446744073709551615,\"heads\":[0]}", "'sentence' is 18446744073709551615"},
      {"{\"sentence\":0,\"heads\":0}", "'heads' is 0, not a list of heads"},
      {"{\"sentence\":0,\"heads\":[0,\"1\"]}", "'heads' holds \"1\""},
      {"{\"sentence\":0,\"heads\":[0,-1]}", "'heads' holds -1"},
      {"{\"sentence\":0,\"heads\":[0,1.5]}", "'heads' holds 1.5"},
      {"{\"sentence\":0,\"heads\":[0,[1]]}", "'heads' holds a list"},
      {"{\"sentence\":0,\"heads\":[0,{}]}", "'heads' holds an object"},
      {"{\"sentence\":0,\"heads\":[0,null]}", "'heads' holds null"},
      {"{\"sentence\":0,\"heads\":[0,3]}", "the head of word 2 is 3, not one of 0 to 2"},
      {"{\"sentence\":0,\"heads\":[0,2]}", "word 2 is its own head"},
      {"{\"sentence\":0,\"heads\":[0,9999999999]}", "'heads' holds 9999999999"},
      {"{\"sentence\":0,\"heads\":[0],\"labels\":[]}", "0 labels for 1 heads"},
      {"{\"sentence\":0,\"heads\":[0],\"labels\":[1]}", "'labels' holds 1, not a text"},
      {"{\"sentence\":0,\"heads\":[0],\"log_prob\":\"x\"}", "'log_prob' is \"x\", not a number"},
      {"{\"sentence\":0,\"heads\":[0],\"log_prob\":[1]}", "'log_prob' is a list"},
      {"{\"sentence\":0,\"heads\":[0],\"log_prob\":1e999}", "no JSON"},
      {"{\"sentence\":0,\"heads\":[0],\"weight\":NaN}", "no JSON"},
      {"{\"sentence\":0,\"sample\":0,\"rank\":0,\"heads\":[0]}", "both 'sample' and 'rank'"},
      {"{\"sentence\":0,\"status\":1,\"message\":\"\"}", "'status' is 1, not a text"},
      {"{\"sentence\":0,\"heads\":[0],\"labels\":[\"\xff\"]}", "no JSON"},
      {"{\"sentence\":0,\"heads\":[0]}\n\n{\"sentence\":0,\"heads\":[0,1]}",
       "line 3: 2 heads, but the tree before of sentence 0 has 1"},
      {"{\"sentence\":0,\"sample\":0,\"heads\":[0]}\n{\"sentence\":0,\"heads\":[0]}",
       "line 2: neither 'sample' nor 'rank', but the trees before have 'sample'"}};
  for (const auto& [text, part] : cases) {
    SCOPED_TRACE(text);
    expect_error(put("x.jsonl", text), part);
  }
  expect_error(path("missing.jsonl"), "cannot be opened");
  expect_error(folder_.string(), "cannot be read");
  expect_error(put("x.txt", "0 0 -1 0\n"), "cannot be read from text");
  // Keys of others are nothing to us, whatever they hold.
  EXPECT_EQ(read_all(put("x.jsonl",
                         "{\"a\":{\"heads\":[[1]],\"b\":[{}]},\"sentence\":0,\"heads\":[0],"
                         "\"z\":[1,[\"x\"]]}"))
                .size(),
            1U);
}

TEST_F(Trees, BrokenConllu) {
  const std::string word = "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n";
  const std::string two = word + "2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", "block 1: word 1 has no head"},
      {"1\ta\t_\t_\t_\t_\t7\t_\t_\t_\n", "7"},
      {"1\ta\t_\t_\t_\t_\tx\t_\t_\t_\n", "x"},
      {"1\ta\t_\t_\t_\t_\t0\t_\t_\n", "columns"},
      {"# sentence = x\n" + word, "'# sentence' is 'x', not a number from 0"},
      {"# sentence = -1\n" + word, "'# sentence' is '-1'"},
      {"# sentence = 18446744073709551615\n" + word, "too large"},
      {"# sentence = 1\n# sentence = 1\n" + word, "'# sentence' is there twice"},
      {"# sample = 0\n# rank = 0\n" + word, "both '# sample' and '# rank'"},
      {"# sample = 0\n" + word + "\n" + word, "block 2: its index"},
      {"# sample = 1.5\n" + word, "'# sample' is '1.5'"},
      {"# log_prob = minus one\n" + word, "'# log_prob' is 'minus one', not a number"},
      {"# weight =\n" + word, "'# weight' is ''"},
      {"# labeled = maybe\n" + word, "not yes or no"},
      {"# exhausted = x\n" + word, "'# exhausted' is 'x'"},
      {"# sentence = 4\n" + word + "\n# sentence = 4\n" + two,
       "block 2: 2 heads, but the tree before of sentence 4 has 1"}};
  for (const auto& [text, part] : cases) {
    SCOPED_TRACE(text);
    expect_error(put("x.conllu", text), part);
  }
}

// An archive of arrays that need not fit together.
struct RawArray {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

template <typename T>
RawArray raw(const std::string& name, const std::string& type, std::vector<std::uint64_t> shape,
             const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, type, std::move(shape), bytes};
}

void write_raw(const std::string& file, const std::vector<RawArray>& raws) {
  std::vector<NpyArray> arrays;
  for (const RawArray& one : raws) {
    arrays.push_back(
        {one.name, one.type, one.shape, one.bytes.size(), [] {},
         [&one](std::vector<char>& piece) { piece.assign(one.bytes.begin(), one.bytes.end()); }});
  }
  OutputFile output(file);
  write_npz(output, file, arrays);
  output.commit();
}

TEST_F(Trees, BrokenNpz) {
  using I4 = std::vector<std::int32_t>;
  using I8 = std::vector<std::int64_t>;
  using F8 = std::vector<double>;
  const RawArray heads = raw("heads", "<i4", {2, 2}, I4{0, 1, 0, -1});
  const RawArray sentence = raw("sentence", "<i8", {2}, I8{0, 1});
  const RawArray lengths = raw("lengths", "<i4", {2}, I4{2, 1});
  const RawArray bad_text{
      "labels", "<U1", {2, 2}, std::string("\0\xd8\0\0", 4) + std::string(12, '\0')};
  const std::vector<std::pair<std::vector<RawArray>, std::string>> cases = {
      {{sentence}, "there is no array 'heads'"},
      {{heads}, "there is no array 'sentence'"},
      {{raw("heads", "<f8", {1, 1}, F8{0}), sentence}, "heads: it does not hold integers"},
      {{raw("heads", ">i4", {1, 1}, I4{0}), sentence}, "items of type >i4"},
      {{raw("heads", "|O", {1, 1}, I8{0}), sentence}, "items of type |O"},
      {{raw("heads", "<i4", {2}, I4{0, 0}), sentence}, "it is no matrix"},
      {{raw("heads", "<i4", {3, 2}, I4{0, 1, 0, -1}), sentence}, "the shape (3, 2) says 24"},
      {{raw("heads", "<i4", {1ULL << 62U, 1ULL << 62U}, I4{0}), sentence}, "the shape"},
      {{raw("heads", "<i4", {0, 1ULL << 40U}, I4{}), sentence}, "trees of 1099511627776 words"},
      {{heads, raw("sentence", "<i8", {1}, I8{0})}, "sentence: its shape is (1), not (2)"},
      {{heads, raw("sentence", "<f8", {2}, F8{0, 1})}, "sentence: it does not hold integers"},
      {{heads, raw("sentence", "<i8", {2}, I8{0, -1})}, "row 1: sentence is -1"},
      {{raw("heads", "<i4", {2, 2}, I4{0, 1, -1, 0}), sentence},
       "row 1: a head behind the padding"},
      {{raw("heads", "<i4", {2, 2}, I4{0, 1, 0, -2}), sentence}, "row 1: the head of word 2 is -2"},
      {{raw("heads", "<i4", {2, 2}, I4{0, 3, 0, 1}), sentence}, "row 0: the head of word 2 is 3"},
      {{raw("heads", "<i8", {2, 1}, I8{0, 1LL << 40U}), sentence},
       "the head of word 1 is 1099511627776"},
      {{heads, sentence, raw("lengths", "<i4", {2}, I4{2, 2})},
       "row 1: 1 heads, but lengths says 2"},
      {{heads, sentence, raw("lengths", "<i4", {1}, I4{2})}, "row 1: sentence 1, but there are 1"},
      {{heads, sentence, raw("lengths", "<i4", {2}, I4{2, -1})}, "sentence 1 has -1 words"},
      {{heads, sentence, raw("lengths", "<i4", {1, 2}, I4{2, 1})}, "lengths: it is no list"},
      {{heads, sentence, lengths, raw("log_prob", "<i8", {2}, I8{0, 1})}, "floating-point"},
      {{heads, sentence, lengths, raw("log_prob", "<f8", {3}, F8{0, 1, 2})}, "(3), not (2)"},
      {{heads, sentence, lengths, raw("labels", "<i4", {2, 2}, I4{0, 0, 0, 0})}, "not hold texts"},
      {{heads, sentence, lengths, raw("labels", "<U1", {2, 1}, I4{65, 65})}, "(2, 1), not (2, 2)"},
      {{heads, sentence, lengths, bad_text}, "no character"},
      {{heads, sentence, raw("sample", "<i8", {2}, I8{0, -5})}, "row 1: sample or rank is -5"},
      {{heads, sentence, raw("sample", "<i8", {2}, I8{0, 0}), raw("rank", "<i8", {2}, I8{0, 0})},
       "both 'sample' and 'rank'"},
      {{heads, raw("sentence", "<i8", {2}, I8{0, 0})}, "row 1: 1 heads, but the tree before"}};
  for (const auto& [arrays, part] : cases) {
    SCOPED_TRACE(part);
    write_raw(path("x.npz"), arrays);
    expect_error(path("x.npz"), part);
  }
  write_raw(path("y.npz"), {heads, sentence, lengths});
  EXPECT_EQ(read_all(path("y.npz")).size(), 2U);
  const std::string whole = get("y.npz");
  expect_error(put("x.npz", "no zip"), "cannot be opened");
  expect_error(put("x.npz", ""), "x.npz");
  expect_error(put("x.npz", whole.substr(0, whole.size() / 2)), "cannot be opened");
  expect_error(path("missing.npz"), "cannot be opened");
  std::string changed = whole;
  changed[changed.find("NUMPY")] = 'M';
  expect_error(put("x.npz", changed), "no array of NumPy's");
  changed = whole;  // A number that is not the one whose checksum was written.
  changed[changed.find("}", changed.find("NUMPY")) + 1] = 'x';
  expect_error(put("x.npz", changed), "CRC");
  // Whatever single byte is wrong: an error or rows, nothing else.
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      try {
        read_all(put("x.npz", changed));
      } catch (const InputError&) {
      }
    }
  }
}

}  // namespace
}  // namespace taproot::cli
