// SPDX-License-Identifier: Apache-2.0
#include "input/words.h"

#include "input_files.h"

namespace taproot::cli {
namespace {

using Strings = std::vector<std::string>;

// A row of CoNLL-U.
std::string row(const std::string& id, const std::string& form, const std::string& head = "_",
                const std::string& relation = "_") {
  return id + "\t" + form + "\t_\t_\t_\t_\t" + head + "\t" + relation + "\t_\t_\n";
}

class Words : public InputFiles {
 protected:
  std::vector<WordSentence> words(const std::string& file) {
    WordReader reader(file);
    std::vector<WordSentence> sentences;
    for (WordSentence sentence; reader.next(sentence);) sentences.push_back(sentence);
    return sentences;
  }
  void refuse(const std::string& text, const std::string& fragment) {
    const std::string file = write("a.conllu", text);
    const std::string error = message([&] { words(file); });
    EXPECT_NE(error.find(fragment), std::string::npos) << fragment << " is not in: " << error;
    EXPECT_NE(error.find(file), std::string::npos) << error;
  }
};

TEST_F(Words, ReadsConllu) {
  std::string text = "# text = du bist\n" + row("1-2", "dubist") + row("1", "du", "2", "nsubj") +
                     row("1.1", "leer") + row("2", "bist", "0", "root") + "\n\n" + row("1", "Ja") +
                     "\n# none\n\n" + row("1", "x", "0", "root");
  for (const bool windows : {false, true}) {
    if (windows) {
      replace_all(text, "\n", "\r\n");
      text = "\xef\xbb\xbf" + text;
    }
    for (const bool ends : {true, false}) {
      std::string file = text;
      if (!ends) file.resize(file.size() - (windows ? 2 : 1));
      const auto sentences = words(write("a.conllu", file));
      ASSERT_EQ(sentences.size(), 4U);
      EXPECT_EQ(sentences[0].words, (Strings{"du", "bist"}));
      EXPECT_EQ(sentences[0].lines.size(), 5U);
      EXPECT_EQ(sentences[0].lines[0], "# text = du bist");
      EXPECT_EQ(sentences[0].line_of_word, (std::vector<std::size_t>{2, 4}));
      EXPECT_EQ(sentences[0].heads, (std::vector<std::int32_t>{2, 0}));
      EXPECT_EQ(sentences[0].relations, (Strings{"nsubj", "root"}));
      EXPECT_EQ(sentences[1].heads, (std::vector<std::int32_t>{-1}));
      EXPECT_TRUE(sentences[2].words.empty());
      EXPECT_EQ(sentences[3].words, Strings{"x"});
      EXPECT_EQ(sentences[3].lines[0] + "\n", row("1", "x", "0", "root"));
    }
  }
}

TEST_F(Words, ReadsText) {
  const auto sentences =
      words(write("a.txt", "I  saw\tthe man \r\n\nm\xc3\xbc\xc3\x9f\xe2\x82\xac"));
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_EQ(sentences[0].words, (Strings{"I", "saw", "the", "man"}));
  EXPECT_TRUE(sentences[1].words.empty());
  EXPECT_EQ(sentences[2].words, Strings{"m\xc3\xbc\xc3\x9f\xe2\x82\xac"});
  EXPECT_TRUE(sentences[0].lines.empty());
  EXPECT_TRUE(words(write("b.txt", "")).empty());
}

TEST_F(Words, SkipsToASentence) {
  const std::string file = write("a.txt", "a\nb\nc\n");
  WordReader reader(file);
  WordSentence sentence;
  reader.read(1, sentence);
  EXPECT_EQ(sentence.words, Strings{"b"});
  reader.read(2, sentence);
  EXPECT_EQ(sentence.words, Strings{"c"});
  EXPECT_EQ(message([&] { reader.read(3, sentence); }),
            file + " has 3 sentences, but no words for sentence 3");
}

TEST_F(Words, RefusesBrokenConllu) {
  refuse("1\ta\n", "line 1: the line has 2 columns, not 10");
  refuse("1 a b c d e f g h i\n", "line 1: the line has 1 columns");
  refuse(row("1", "a\tb"), "line 1: the line has 11 columns");
  refuse(row("1", ""), "line 1: column 2 is empty");
  refuse(row("1", "a") + row("3", "b"), "line 2: the ID is 3, and should be 2");
  refuse(row("1", "a") + row("1", "b"), "line 2: the ID is 1, and should be 2");
  refuse(row("0", "a"), "line 1: the ID is 0");
  refuse(row("x", "a"), "line 1: the ID 'x' is not a number");
  refuse(row("99999999999", "a"), "is not a number");
  refuse(row("-1", "a"), "the ID '-1'");
  refuse(row("1-", "a"), "the ID '1-'");
  refuse(row("1.x", "a"), "the ID '1.x'");
  refuse(row("2-3", "a"), "line 1: the range 2-3");
  refuse(row("1-0", "a"), "line 1: the range 1-0");
  refuse("\n" + row("1-2", "a") + row("1", "a"),
         "begins in line 2 has 1 words, but a range up to 2");
  refuse(row("2.1", "a"), "the empty node 2.1");
  refuse(row("1", "a", "x"), "the HEAD 'x'");
  refuse(row("1", "a", "-1"), "the HEAD '-1'");
  refuse(row("1", "a", "1"), "word 1 is its own HEAD");
  refuse("# c\n" + row("1", "a", "2") + "\n",
         "line 2: the HEAD is 2, but the sentence has 1 words");
  refuse(row("1", "a", "2"), "line 1: the HEAD is 2");
  for (const char* bytes : {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xc3",
                            "\xf4\x90\x80\x80", "\xf0\x80\x80\x80"}) {
    refuse(row("1", "a") + row("2", bytes), "line 2: the line is not UTF-8");
  }
  refuse(row("1", std::string("\0", 1)), "line 1: the line holds a zero byte");
}

TEST_F(Words, RefusesFilesThatCannotBeRead) {
  EXPECT_NE(message([&] { words(path("none.txt")); }).find("No such file"), std::string::npos);
  EXPECT_NE(message([&] { words(path("")); }).find("is a folder"), std::string::npos);
}

}  // namespace
}  // namespace taproot::cli
