// SPDX-License-Identifier: Apache-2.0
//
// Files appear complete or not at all.
#include "io/output_file.h"

#include <sys/wait.h>

#include <csignal>

#include "formats/convert.h"
#include "formats/tree_files.h"

namespace taproot::cli {
namespace {

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
      remove_unfinished_on_signals();
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
}  // namespace
}  // namespace taproot::cli
