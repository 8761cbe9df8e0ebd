// SPDX-License-Identifier: Apache-2.0
#include "input/constraint_list.h"

#include <cmath>

#include "input_files.h"

namespace taproot::cli {
namespace {

// Which of the edges of a sentence of n words are ruled out, row by row.
std::vector<std::string> ruled_out(const ConstraintList& list, std::size_t sentence, int n) {
  std::string problem;
  const Constraints constraints = list.of(sentence, n, problem);
  EXPECT_EQ(problem, "");
  const std::vector<double> zeros(static_cast<std::size_t>((n + 1) * (n + 1)));
  std::vector<double> memory;
  const ScoreView view = constraints.apply(ScoreView(zeros.data(), n), memory);
  std::vector<std::string> edges;
  for (int h = 0; h <= n; ++h) {
    for (int m = 1; m <= n; ++m) {
      if (h != m && std::isinf(view(h, m))) edges.push_back(fmt::format("{}:{}", h, m));
    }
  }
  return edges;
}

using Strings = std::vector<std::string>;

TEST_F(InputFiles, ConstraintsForEverySentenceAndForOne) {
  ConstraintList list;
  EXPECT_TRUE(list.empty());
  list.add(ConstraintKind::kForbid, "--forbid", "1:2");
  list.read(write("c.txt",
                  "# sentence, kind, edges or words\n"
                  "\n"
                  "3 force 2:1\r\n"
                  "  7\tforbid 0:1 0>2\n"
                  "3 roots 2,3\n"));
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(ruled_out(list, 0, 3), Strings{"1:2"});
  EXPECT_EQ(ruled_out(list, 3, 3), (Strings{"0:1", "1:2", "3:1"}));
  EXPECT_EQ(ruled_out(list, 7, 3), (Strings{"0:1", "0:2", "1:2"}));
  EXPECT_NO_THROW(list.check_sentences(0, 8));
  EXPECT_NO_THROW(list.check_sentences(3, 5));
  EXPECT_NE(message([&] {
              list.check_sentences(0, 7);
            }).find("line 4: there is no sentence 7; those of the input are numbered 0 to 6"),
            std::string::npos);
  EXPECT_THROW(list.check_sentences(4, 100), InputError);
  EXPECT_THROW(list.check_sentences(0, 0), InputError);
}

TEST_F(InputFiles, ConstraintsThatASentenceIsTooShortFor) {
  ConstraintList list;
  list.add(ConstraintKind::kForce, "--force", "1:8");
  list.read(write("c.txt", "2 roots 1,9\n"));
  std::string problem;
  EXPECT_TRUE(list.of(0, 7, problem).empty());
  EXPECT_EQ(problem, "--force 1:8 names word 8, but the length of the sentence is 7");
  EXPECT_FALSE(list.of(0, 8, problem).empty());
  EXPECT_EQ(problem, "");
  EXPECT_TRUE(list.of(2, 8, problem).empty());
  EXPECT_EQ(problem, fmt::format("'roots 1,9' in {}, line 1 names word 9, but the length of the "
                                 "sentence is 8",
                                 path("c.txt")));
}

TEST_F(InputFiles, BrokenFilesOfConstraints) {
  const std::pair<std::string, std::string> cases[] = {
      {"0 force\n", "expected 'SENTENCE force HEAD:MODIFIER'"},
      {"0\n", "not '0'"},
      {"\n0 push 1:2\n", "line 2: expected 'SENTENCE force HEAD:MODIFIER'"},
      {"x force 1:2\n", "'x' is not a whole number"},
      {"-1 force 1:2\n", "'-1' is not a whole number"},
      {"0 force cat:The\n", "line 1: expected HEAD:MODIFIER, two numbers"},
      {"0 force 1:2 2\n", "not '2'"},
      {"0 roots 1,x\n", "expected the numbers of words"},
  };
  for (const auto& [text, fragment] : cases) {
    const std::string said = message([&, text = text] {
      ConstraintList list;
      list.read(write("c.txt", text));
    });
    EXPECT_NE(said.find(fragment), std::string::npos) << said;
    EXPECT_NE(said.find(path("c.txt")), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace taproot::cli
