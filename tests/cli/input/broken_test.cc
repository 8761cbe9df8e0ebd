// SPDX-License-Identifier: Apache-2.0
//
// What the readers of scores refuse, and that they say what is wrong with it.
#include "input/label_reader.h"
#include "input_files.h"
#include "program.h"

namespace taproot::cli {
namespace {

class BrokenInput : public InputFiles {
 protected:
  // `file` must be refused, with a message that names it and holds `fragment`.
  void refuse(const std::string& file, const std::string& fragment, ReadOptions options = {}) {
    options.files.push_back(file);
    const std::string text = message([&] { read(options); });
    EXPECT_NE(text.find(fragment), std::string::npos) << fragment << " is not in: " << text;
    EXPECT_NE(text.find(options.lengths.empty() ? file : options.lengths), std::string::npos)
        << text;
    // The program says the same, and nothing is written.
    std::string arguments = "logz '" + file + "'" + (options.weights ? " --weights" : "");
    if (!options.lengths.empty()) arguments += " --lengths '" + options.lengths + "'";
    if (options.files.size() > 1) return;
    const Result result = run_program(kProgram, arguments + " -o " + path("out"), path(""));
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(result.errors, "taproot: " + text + "\n");
    EXPECT_FALSE(std::filesystem::exists(path("out")));
  }
  void refuse_npy(const std::string& bytes, const std::string& fragment) {
    refuse(write("a.npy", bytes), fragment);
    // Within an archive the same is wrong.
    if (!bytes.empty()) refuse(write("b.npz", zip({{"x", bytes}})), fragment);
  }
  void refuse_header(const std::string& dictionary, const std::string& fragment) {
    refuse_npy(npy_with(dictionary, std::string(16, '\0')), fragment);
  }
  void refuse_npz(const std::string& bytes, const std::string& fragment) {
    refuse(write("a.npz", bytes), fragment);
  }
  void refuse_ragged(const std::string& scores, const std::string& lengths,
                     const std::string& fragment) {
    for (const bool deflate : {false, true}) {
      refuse_npz(zip({{"scores", scores}, {"lengths", lengths}}, deflate), fragment);
    }
  }
  void refuse_lengths(const std::string& lengths, const std::string& fragment) {
    ReadOptions options;
    options.lengths = write("lengths", lengths);
    refuse(write("a.npy", floats("(2, 2, 2)", {1, 2, 3, 4, 5, 6, 7, 8})), fragment, options);
  }

  const std::string four_ = floats("(2, 2)", {1, 2, 3, 4});
};

TEST_F(BrokenInput, Files) {
  refuse(path("missing.npy"), "No such file");
  refuse(path("missing.npz"), "No such file");
  refuse(write("empty.npy", ""), "is empty");
  refuse(write("empty.npz", ""), "is empty");
  std::filesystem::create_directory(path("folder.npz"));
  std::filesystem::create_directory(path("folder.npy"));
  refuse(path("folder.npz"), "is a folder");
  refuse(path("folder.npy"), "is a folder");
  refuse("/dev/null", "not a regular file");
  refuse(write("a.dat", four_), "is an .npy array; rename it to end in .npy");
  refuse(write("b.dat", zip({{"x", four_}})), "is a zip archive; rename it to end in .npz");
  refuse(write("c.txt", "1 2 3\n"), "is text");
  refuse(write("d.gz", "\x1f\x8b\x08"), "is a gzip file");
  refuse(write("e.h5", "\x89HDF\r\n\x1a\n"), "is an HDF5 file");
  refuse(write("f.pkl", "\x80\x04\x95"), "is a Python pickle");
  refuse(write("g.npy", zip({{"x", four_}})), "a zip archive; rename");
  refuse(write("h.npz", four_), "an .npy array; rename");
  EXPECT_NE(message([&] { read(ReadOptions{}); }).find("no input file"), std::string::npos);
  // Also when it is the last of several files, before the first sentence is read.
  ReadOptions options;
  options.files = {write("good.npy", four_), path("missing.npy")};
  EXPECT_NE(message([&] { ScoreReader reader(options); }).find("missing.npy"), std::string::npos);
}

TEST_F(BrokenInput, NpyBeforeTheHeader) {
  refuse_npy("\x93NUM", "is not an .npy array");
  refuse_npy("text, and no array", "is not an .npy array");
  refuse_npy(four_.substr(0, 9), "ends within its header");
  refuse_npy(four_.substr(0, 40), "ends within its header");
  std::string version = four_;
  version[6] = 4;
  refuse_npy(version, "version 4.0");
  version[6] = 0;
  refuse_npy(version, "version 0.0");
  version[6] = 1;
  version[7] = 9;
  refuse_npy(version, "version 1.9");
  refuse_npy(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "header of 4294967295 bytes");
}

TEST_F(BrokenInput, NpyHeader) {
  refuse_header("", "'{' is missing");
  refuse_header("[1, 2]", "'{' is missing");
  refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)", "',' is missing");
  refuse_header("{'descr': '<f4', 'fortran_order': False}", "key 'shape' is missing");
  refuse_header("{'descr': '<f4', 'shape': (2, 2)}", "key 'fortran_order' is missing");
  refuse_header("{'fortran_order': False, 'shape': (2, 2)}", "key 'descr' is missing");
  refuse_header("{'descr': '<f4', 'descr': '<f4'}", "'descr' is unknown or appears twice");
  refuse_header("{'wrong': 1}", "'wrong' is unknown");
  refuse_header("{'descr': '<f4}", "does not end");
  refuse_header("{'descr' '<f4'}", "':' is missing");
  refuse_header("{descr: 1}", "a string is missing");
  refuse_header("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2)}", "True or False");
  const auto shape = [&](const std::string& text, const std::string& fragment) {
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + text + "}", fragment);
  };
  shape("(-1, 2)", "negative");
  shape("(2, x)", "not a number");
  shape("(4)", "needs a comma");
  shape("2", "'(' is missing");
  shape("(99999999999999999999, 1)", "too large");
  shape("(4294967296, 4294967296)", "impossible shape (4294967296, 4294967296)");
  std::string ones;
  for (int i = 0; i < 40; ++i) ones += "1, ";
  shape("(" + ones + ")", "too many dimensions");
  shape("(2, 2)} x", "something follows");
  refuse_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2)}", "records");
}

TEST_F(BrokenInput, NpyContent) {
  refuse_npy(npy("|O", "(2, 2)", std::string(32, '\0')), "(Python objects)");
  refuse_npy(npy("<i8", "(2, 2)", std::string(32, '\0')), "not '<i8'");
  refuse_npy(npy("<f16", "(2, 2)", std::string(64, '\0')), "not '<f16'");
  refuse_npy(npy("<c8", "(2, 2)", std::string(32, '\0')), "not '<c8'");
  refuse_npy(npy("\x1b[2J", "(2, 2)", ""), "'\\x1b[2J'");
  refuse_npy(npy("|b1", "(2, 2)", std::string(4, '\0')), "not '|b1'");
  refuse_npy(npy("|f4", "(2, 2)", std::string(16, '\0')), "not '|f4'");
  refuse_npy(floats("(2, 3)", {1, 2, 3, 4, 5, 6}), "has shape (2, 3)");
  refuse_npy(floats("(4,)", {1, 2, 3, 4}), "has shape (4,)");
  refuse_npy(floats("()", {1}), "has shape ()");
  refuse_npy(floats("(1, 1, 1, 1)", {1}), "has shape (1, 1, 1, 1)");
  refuse_npy(floats("(0, 0)", {}), "n+1 rows and columns");
  refuse_npy(floats("(2, 2)", {1, 2, 3}), "truncated: its shape (2, 2) needs 16 bytes");
  refuse_npy(floats("(2, 2)", {1, 2, 3, 4, 5}), "longer than it says");
  refuse_npy(four_ + "x", "longer than it says");
  refuse_npy(four_.substr(0, four_.size() - 1), "truncated");
  refuse(write("a.npy", floats("(1, 2, 3)", {1, 2, 3, 4, 5, 6})), "batch of square matrices");
  refuse(write("a.npy", floats("(2, 0, 0)", {})), "n+1 rows and columns");
  refuse(write("a.npz", zip({{"x", floats("(1, 1, 1)", {1})}})), "must have the name 'scores'");
  // A batch in Fortran order that is too large to be kept; most of the file is a hole.
  const std::string file = write("f.npy", npy("<f4", "(300000, 30, 30)", "", true));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + 300000ULL * 900 * 4);
  refuse(file, "save it in C order");
}

TEST_F(BrokenInput, LengthsInArchives) {
  refuse_ragged(floats("(5,)", {1, 2, 3, 4, 5}), integers("(1,)", {1}),
                "too many for its 1 lengths");
  refuse_ragged(floats("(4,)", {1, 2, 3, 4}), integers("(2,)", {1, 0}), "end within sentence 1");
  refuse_ragged(floats("(4,)", {1, 2, 3, 4}), integers("(1,)", {-3}), "length 0 is -3");
  refuse_ragged(floats("(4,)", {1, 2, 3, 4}), integers("(2,)", {1, 2147483647}),
                "length 1 is 2147");
  refuse_ragged(floats("(4,)", {1, 2, 3, 4}), npy("<u8", "(1,)", std::string(8, '\xff')),
                "length 0 is 9223372036854775807");
  refuse_ragged(floats("(4,)", {1, 2, 3, 4}), floats("(1,)", {1}), "must hold integers");
  refuse_ragged(floats("(4,)", {1, 2, 3, 4}), integers("(1, 1)", {1}), "one dimension");
  refuse_ragged(four_, integers("(1,)", {1}), "one dimension");
  refuse_ragged(npy("<i4", "(4,)", std::string(16, '\0')), integers("(1,)", {1}),
                "scores must hold float");
  refuse_ragged("nothing", integers("(1,)", {1}), "scores is not an .npy array");
  refuse_ragged(floats("(4,)", {1, 2, 3, 4}), "nothing", "lengths is not an .npy array");
  refuse_ragged(npy("<f4", "(4294967296,)", ""), integers("(1,)", {65535}), "truncated");
  refuse_ragged(floats("(1, 2, 2)", {1, 2, 3, 4}), integers("(2,)", {1, 1}), "there are 2 lengths");
  refuse_ragged(floats("(1, 2, 2)", {1, 2, 3, 4}), integers("(1,)", {2}),
                "outside 0..1, because its shape is (1, 2, 2); lengths count words, not ROOT");
  refuse_ragged(floats("(1, 2, 1)", {1, 2}), integers("(1,)", {1}), "padded (B, N+1, N+1)");
  refuse_ragged(npy("<f4", "(1, 2, 2)", std::string(16, '\0'), true), integers("(1,)", {1}),
                "numpy.ascontiguousarray");
  refuse_npz(zip({{"lengths", integers("(1,)", {1})}}), "no array 'scores'; it has 'lengths'");
  refuse_npz(
      zip({{"label_scores", floats("(4,)", {1, 2, 3, 4})}, {"lengths", integers("(1,)", {1})}}),
      "no scores of edges; give it with --label-scores");
  refuse_npz(zip({{"scores", floats("(4,)", {1, 2, 3, 4})}}), "no array 'lengths'");
}

TEST_F(BrokenInput, Archives) {
  const std::string good = zip({{"one", four_}, {"two", four_}});
  refuse_npz("PK\x03\x04 and nothing more", "damaged or truncated");
  refuse_npz("some text", "but text");
  refuse_npz(good.substr(0, good.size() / 2), "damaged or truncated");
  refuse_npz(std::string("PK\x05\x06") + std::string(18, '\0'), "is an archive without arrays");
  refuse_npz(zip({{"/etc/x.npy", four_}}), "the entry '/etc/x.npy' has a path");
  refuse_npz(zip({{"../x.npy", four_}}), "the entry '../x.npy' has a path");
  refuse_npz(zip({{"a/b.npy", four_}}), "the entry 'a/b.npy' has a path");
  refuse_npz(zip({{"a\\b.npy", four_}}), "the entry 'a\\b.npy' has a path");
  refuse_npz(zip({{"folder/", ""}}), "the entry 'folder/' has a path");
  refuse_npz(zip({{"notes.txt", "hello"}}), "'notes.txt' is not an .npy array");
  refuse_npz(zip({{"empty", ""}}), "is not an .npy array");
  std::string bytes = good;
  replace_all(bytes, "two.npy", "one.npy");
  refuse_npz(bytes, "two arrays are named 'one'");
  bytes = good;  // The flag of encryption, in the directory of the archive.
  for (std::size_t at = 0; (at = bytes.find("PK\x01\x02", at)) != std::string::npos; ++at) {
    bytes[at + 8] = static_cast<char>(bytes[at + 8] | 1);
  }
  refuse_npz(bytes, "is encrypted");
  bytes = good;
  replace_all(bytes, bytes_of<float>({3}), bytes_of<float>({9}));
  refuse_npz(bytes, "CRC");
}

TEST_F(BrokenInput, ArchivesThatLieAboutSizes) {
  // A megabyte of zeros; the directory claims a thousand times as much, or less than there is.
  const std::vector<float> zeros(512 * 512);
  const std::string honest = floats("(512, 512)", zeros);
  const std::string good = zip({{"x", honest}}, true);
  const auto size = static_cast<std::uint32_t>(honest.size());
  for (const std::uint32_t claim : {size * 1000, size - 4, size - 512 * 512}) {
    std::string bytes = good;
    replace_all(bytes, bytes_of<std::uint32_t>({size}), bytes_of<std::uint32_t>({claim}));
    refuse_npz(bytes, claim > size ? "longer than it says" : "truncated");
  }
  // Header and directory agree on more than the entry holds.
  std::string more = honest;
  replace_all(more, "(512, 512)", "(999, 999)");
  std::string bytes = zip({{"x", more}}, true);
  const auto claim = static_cast<std::uint32_t>(honest.size() - 512 * 512 * 4 + 999 * 999 * 4);
  replace_all(bytes, bytes_of<std::uint32_t>({size}), bytes_of<std::uint32_t>({claim}));
  const std::string text = message([&] { read(write("a.npz", bytes)); });
  EXPECT_TRUE(text.find("damaged") != std::string::npos ||
              text.find("truncated") != std::string::npos)
      << text;
}

TEST_F(BrokenInput, ZipBombs) {
  // A sentence of 1.6 GB from some hundred bytes, by all that the file says of itself.
  const std::string start = npy("<f4", "(20001, 20001)", std::string(4096, '\0'));
  const auto size = static_cast<std::uint32_t>(start.size());
  const std::uint32_t claim = size - 4096 + 20001U * 20001U * 4U;
  std::string bytes = zip({{"x", start}}, true);
  replace_all(bytes, bytes_of<std::uint32_t>({size}), bytes_of<std::uint32_t>({claim}));
  refuse_npz(bytes, "like a zip bomb");
}

TEST_F(BrokenInput, LengthsFiles) {
  refuse_lengths("1", "1 lengths, which are too few");
  refuse_lengths("1 1 1", "3 lengths, but there are 2 sentences");
  refuse_lengths("1 2", "length 1 is 2, outside 0..1");
  refuse_lengths("1 2", "lengths count words, not ROOT");
  refuse_lengths("1 -1", "length 1 is -1");
  refuse_lengths("1 x", "length 1 is 'x'");
  refuse_lengths("1.0 1", "length 0 is '1.0'");
  refuse_lengths("1 99999999999999999999", "length 1 is '99999999999999999999'");
  refuse_lengths(std::string("1\0", 2), "zero byte");
  refuse_lengths("", "is empty");
  refuse_lengths(zip({{"x", four_}}), "is a zip archive");
  refuse_lengths(floats("(2,)", {1, 1}), "must hold integers");
  refuse_lengths(integers("(2,)", {1, 5}), "length 1 is 5, outside 0..1");
  refuse_lengths(integers("(2,)", {1, -5}), "length 1 is -5");
  refuse_lengths(integers("(2,)", {1}), "truncated");
  ReadOptions options;
  options.lengths = path("none");
  refuse(write("a.npy", four_), "No such file", options);
  options.lengths = write("lengths", "1");
  refuse(write("a.npy", four_), "only those take lengths", options);
}

TEST_F(BrokenInput, Labels) {
  const auto refuse_labels = [&](const Entries& entries, const std::string& fragment) {
    const std::string file = write("l.npz", zip(entries));
    const std::string text = message([&] {
      LabelReader reader(file, 2);
      LabelScores out;
      reader.read(0, 0, out);
      reader.read(1, 0, out);
    });
    EXPECT_NE(text.find(fragment), std::string::npos) << text;
    EXPECT_NE(text.find(file), std::string::npos) << text;
  };
  const std::string two = floats("(2,)", {1, 2});
  refuse_labels({{"label_scores", two}, {"lengths", integers("(1,)", {0})}}, "none for sentence 1");
  refuse_labels({{"label_scores", floats("(8,)", {1, 2, 3, 4, 5, 6, 7, 8})},
                 {"lengths", integers("(1,)", {1})}},
                "sentence 0 has 1 words, but 0");
  refuse_labels({{"label_scores", floats("(1,)", {1})}, {"lengths", integers("(1,)", {0})}},
                "too few");
  refuse_labels({{"scores", two}, {"lengths", integers("(1,)", {0})}}, "no array 'label_scores'");
  refuse_labels({{"label_scores", two}}, "no array 'lengths'");
  refuse_labels({{"label_scores", floats("(1, 3)", {1, 2, 3})}, {"lengths", integers("(1,)", {0})}},
                "has shape (1, 3)");
  refuse_labels(
      {{"label_scores", floats("(1, 1, 1, 3)", {1, 2, 3})}, {"lengths", integers("(1,)", {0})}},
      "padded (B, N+1, N+1, 2), and has shape (1, 1, 1, 3)");
  const auto refuse_names = [&](const std::string& names, const std::string& fragment) {
    const std::string text = message([&] { read_label_names(write("names", names)); });
    EXPECT_NE(text.find(fragment), std::string::npos) << text;
  };
  refuse_names("", "is empty");
  refuse_names("a\n\nb\n", "line 2: the line is empty");
  refuse_names("a\nb c\n", "line 2: the name 'b c' holds blanks");
  refuse_names("a\nb\na\n", "line 3: the name 'a' appears twice");
  refuse_names("a\n\xff\n", "line 2: the line is not UTF-8");
}

}  // namespace
}  // namespace taproot::cli
