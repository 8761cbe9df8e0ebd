// SPDX-License-Identifier: Apache-2.0
//
// Trees that are written and read back in every format.
#include <fmt/ranges.h>

#include "formats/convert.h"
#include "formats/tree_files.h"

namespace taproot::cli {
namespace {

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

// Sentence s of kWords: its trees, and how it ends.
void write_sentence(TreeWriter& writer, std::size_t s, const std::vector<TreeRow>& rows) {
  writer.sentence(s, static_cast<int>(kWords[s].words.size()), &kWords[s]);
  for (const TreeRow& row : rows) {
    if (row.sentence == s) writer.tree(row);
  }
  if (s == 1) writer.exhausted({s, 1});
  if (s == 2) writer.failed({s, "no_tree", "none"});
}

TEST_F(Trees, PartsGiveTheBytesOfTheWhole) {
  for (const char* const ending : {"jsonl", "conllu", "txt"}) {
    for (const bool labeled : {false, true}) {
      const std::vector<TreeRow> rows = some_trees(labeled);
      const auto open = [&](const std::string& name) {
        return TreeWriter::open(format_of(name + ending), path(name + ending), IndexKind::kSample);
      };
      const auto whole = open("whole.");
      for (const std::size_t s : {0U, 1U, 2U, 0U}) write_sentence(*whole, s, rows);
      whole->finish();
      const auto writer = open("parts.");
      write_sentence(*writer, 0, {rows[0]});
      const auto a = writer->part();
      const auto b = writer->part();
      write_sentence(*b, 1, rows);  // The second part is ready first.
      write_sentence(*b, 2, rows);
      write_sentence(*a, 0, {rows[1]});
      writer->add(*a);
      writer->add(*b);
      write_sentence(*a, 0, {rows[0]});  // It is empty again, and knows the sentence still.
      write_sentence(*a, 0, {rows[1]});
      writer->add(*a);
      writer->finish();
      EXPECT_EQ(get(std::string("parts.") + ending), get(std::string("whole.") + ending));
    }
  }
  EXPECT_EQ(TreeWriter::open(Format::kNpz, path("x.npz"), IndexKind::kNone)->part(), nullptr);
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
                  "# bad_score: sentence 1: it is bad\n");
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
            "# log_prob = -0.25\n"  // Relations of the input do not belong to these heads.
            "1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "1\tvamos\tir\tVERB\t_\tMood=Imp\t2\t_\t0:root\tA=b\n"
            "2\tnos\tnos\tPRON\t_\t_\t0\t_\t_\t_\n"
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
  EXPECT_NE(get("t.txt").find("2 0 -745.1332191019412 5.1/0/root\n"), std::string::npos)
      << get("t.txt");
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
  const auto read = read_all(path("d.npz"));  // The message of sentence 0 has no place there.
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(std::get<TreeRow>(read[0]).sentence, 1U);
  EXPECT_EQ(std::get<ExhaustedRow>(read[1]).sentence, 1U);
  EXPECT_EQ(std::get<ExhaustedRow>(read[1]).trees, 1U);
  EXPECT_EQ(std::get<ExhaustedRow>(read[2]).sentence, 2U);
  EXPECT_EQ(std::get<ExhaustedRow>(read[2]).trees, 0U);
  put("wrong.jsonl",
      "{\"sentence\":1,\"heads\":[0]}\n"
      "{\"sentence\":1,\"exhausted\":true,\"trees\":2}\n");
  EXPECT_THROW(convert(path("wrong.jsonl"), path("e.npz"), Format::kNpz, ""), InputError);
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
  EXPECT_THROW(TreeWriter::open(Format::kSvg, path("x.svg"), IndexKind::kNone), InputError);
  const auto npz = TreeWriter::open(Format::kNpz, path("x.npz"), IndexKind::kNone);
  npz->tree({0, 0, {0, 1}, {}, {}, -1.0, {}, {}});
  EXPECT_THROW(npz->tree({0, 0, {0, 1}, {}, {}, {}, {}, {}}), InputError);
  EXPECT_THROW(npz->tree({0, 0, {0}, {}, {}, -1.0, {}, {}}), InputError);
  EXPECT_THROW(npz->tree({0, 0, {0, 1}, {"a", "b"}, {}, -1.0, {}, {}}), InputError);
  EXPECT_THROW(npz->tree({std::size_t{1} << 40U, 0, {0}, {}, {}, -1.0, {}, {}}), InputError);
  const auto conllu = TreeWriter::open(Format::kConllu, path("x.conllu"), IndexKind::kNone);
  EXPECT_THROW(conllu->sentence(0, 3, nullptr), InputError);
  EXPECT_THROW(conllu->sentence(0, 2, &kWords[0]), InputError);
  WordSentence cut = words_of({"a"});
  cut.lines = {"1\ta\t_"};
  cut.line_of_word = {0};
  try {
    conllu->sentence(0, 1, &cut);
    ADD_FAILURE() << "a line of three columns was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("has 3 columns separated by tabs, not ten"),
              std::string::npos)
        << error.what();
  }
  conllu->sentence(0, 3, &kWords[0]);
  EXPECT_THROW(conllu->tree({0, 0, {0, 1}, {}, {}, {}, {}, {}}), InputError);
  EXPECT_THROW(conllu->tree({0, 0, {0, 1, 1}, {"", "a", "b"}, {}, {}, {}, {}}), InputError);
  EXPECT_THROW(conllu->tree({0, 0, {0, 1, 1}, {"a\tb", "a", "b"}, {}, {}, {}, {}}), InputError);
}
}  // namespace
}  // namespace taproot::cli
