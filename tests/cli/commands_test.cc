// SPDX-License-Identifier: Apache-2.0
//
// Single commands on small files that are made for one property each.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "formats/tree_reader.h"
#include "input_files.h"
#include "io/npy_column.h"
#include "program.h"
#include "taproot/types.h"

namespace taproot::cli {
namespace {

class Commands : public InputFiles {
 protected:
  Result run(const std::string& arguments) const {
    return run_program(kProgram, arguments, path(""));
  }
  static std::vector<nlohmann::json> lines(const std::string& text) {
    std::vector<nlohmann::json> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
  // Scores 0 for sentences of these lengths.
  std::string zeros(const std::string& name, const std::vector<std::int32_t>& lengths) const {
    std::size_t cells = 0;
    for (const std::int32_t n : lengths) cells += static_cast<std::size_t>((n + 1) * (n + 1));
    return write(name,
                 zip({{"scores", floats(fmt::format("({},)", cells), std::vector<float>(cells))},
                      {"lengths", integers(fmt::format("({},)", lengths.size()), lengths)}}));
  }
};

// A sentence that cannot be read ends the run, but what was found before it is written.
TEST_F(Commands, TreesBeforeAnErrorAreWritten) {
  std::vector<std::pair<std::string, std::string>> arrays;
  for (int i = 0; i < 600; ++i) {
    const std::vector<float> cells(i < 560 ? 4 : 6);
    arrays.emplace_back(fmt::format("{:03}", i), floats(i < 560 ? "(2, 2)" : "(2, 3)", cells));
  }
  const std::string file = write("s.npz", zip(arrays));
  for (const std::string command : {"sample -k 1 ", "argmax ", "logz "}) {
    const Result one = run(command + file + " --threads 1");
    const Result two = run(command + file + " --threads 2");
    EXPECT_EQ(one.code, 2);
    EXPECT_NE(one.errors.find("'560'"), std::string::npos) << one.errors;
    EXPECT_EQ(two.out, one.out);
    const auto rows = lines(one.out);
    EXPECT_GT(rows.size(), 500U) << command;
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].at("sentence"), i);
  }
}

// In float32 both trees would have the same score.
TEST_F(Commands, LabelScoresKeepTheirPrecision) {
  const std::string scores = zeros("s.npz", {2});
  const std::string names = write("names.txt", "a\n");
  for (const std::size_t better : {1U, 2U}) {
    std::vector<double> labels(9, 0.0);
    labels[1] = labels[2] = 16777216;  // ROOT -> 1 and ROOT -> 2.
    labels[better] = 16777217;
    const std::string file =
        write("l.npz", zip({{"label_scores", npy("<f8", "(9,)", bytes_of(labels))},
                            {"lengths", integers("(1,)", {2})}}));
    const std::string both = scores + " --labels " + names + " --label-scores " + file;
    for (const std::string command : {"argmax ", "kbest -k 1 "}) {
      const Result result = run(command + both);
      ASSERT_EQ(result.code, 0) << result.errors;
      const auto row = lines(result.out).at(0);
      EXPECT_EQ(row.at("heads")[better - 1], 0) << result.out;
      EXPECT_EQ(row.at("score"), 16777217.0) << result.out;
    }
  }
}

// A sentence has the trees of its id, wherever it stands; without ids the id is the number.
TEST_F(Commands, IdsDecideTheTrees) {
  const std::string one = zeros("one.npz", {9});
  const std::string three = zeros("three.npz", {9, 9, 9});
  const auto heads = [&](const std::string& arguments, std::size_t sentence) {
    const Result result = run(arguments + " -k 20 --seed 3");
    EXPECT_EQ(result.code, 0) << result.errors;
    std::vector<nlohmann::json> found;
    for (const auto& row : lines(result.out)) {
      if (row.at("sentence") == sentence && row.contains("heads")) found.push_back(row.at("heads"));
    }
    EXPECT_EQ(found.size(), 20U);
    return found;
  };
  const std::string big = "18446744073709551615";
  const std::string ids = write("ids.txt", "5\n" + big + "\n2\n");
  for (const std::string command : {"sample ", "swor "}) {
    const std::string with_ids = command + three + " --ids " + ids;
    EXPECT_EQ(heads(with_ids, 1), heads(command + one + " --ids " + write("a.txt", big + "\n"), 0));
    EXPECT_EQ(heads(with_ids, 2), heads(command + three, 2));
    EXPECT_NE(heads(with_ids, 0), heads(command + three, 0));
  }
  const Result few = run("sample " + one + " --ids " + ids);
  EXPECT_EQ(few.code, 2);
  EXPECT_NE(few.errors.find("3 ids"), std::string::npos) << few.errors;
}

TEST_F(Commands, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddleValues) {
  // One word has one tree; two words with one root have two; three words have nine.
  const Result even = run("info " + zeros("even.npz", {1, 2, 3, 1}));
  EXPECT_NE(even.out.find("0.7500 in the median"), std::string::npos) << even.out;
  const Result odd = run("info " + zeros("odd.npz", {2, 3, 1}));
  EXPECT_NE(odd.out.find("0.5000 in the median"), std::string::npos) << odd.out;
}

// Four words of equal scores have 64 trees with one root, of which 30 are projective.
TEST_F(Commands, ProjectiveTreesOnly) {
  const std::string scores = zeros("four.npz", {4});
  const auto logz = lines(run("logz " + scores + " --projective").out);
  EXPECT_NEAR(logz.at(0).at("log_partition"), std::log(30.0), 1e-12);
  const std::string crossing = "[3,0,2,2]";  // 3 -> 1 passes the root.
  for (const std::string command : {"kbest ", "swor "}) {
    const Result all = run(command + scores + " -k 99");
    const Result projective = run(command + scores + " -k 99 --projective");
    EXPECT_EQ(lines(all.out).size(), 65U);  // And a line that says that these are all.
    EXPECT_EQ(lines(projective.out).size(), 31U);
    EXPECT_NE(all.out.find(crossing), std::string::npos);
    EXPECT_EQ(projective.out.find(crossing), std::string::npos);
  }
  for (const std::string command : {"entropy", "marginals", "argmax", "sample", "mbr", "edges"}) {
    const Result result = run(command + " " + scores + " --projective --format jsonl");
    EXPECT_EQ(result.code, 0) << command << result.errors;
  }
  const auto info = lines(run("info " + scores + " --projective --format jsonl").out).at(0);
  EXPECT_EQ(info.at("projective"), true);
  EXPECT_NEAR(info.at("mean_projective_mass"), 30.0 / 64, 1e-12);
  EXPECT_NE(run("info " + scores).out.find("0.4688 of the probability"), std::string::npos);
  const Result walk = run("sample " + scores + " --projective --algorithm colbourn");
  EXPECT_EQ(walk.code, 2);
  EXPECT_NE(walk.errors.find("does not sample projective trees"), std::string::npos) << walk.errors;
}

TEST_F(Commands, SworToNpzKeepsWhichSentencesAreExhausted) {
  const std::string scores = zeros("s.npz", {2, 4, 1, 3, 2});
  const std::string swor = "swor " + scores + " -k 9";
  const Result direct = run(swor);
  ASSERT_EQ(direct.out.find("\"exhausted\":true,\"trees\":2"), direct.out.find("\"exhausted\""))
      << direct.out;
  ASSERT_EQ(run(swor + " -o " + path("t.npz")).code, direct.code);
  EXPECT_EQ(run("convert " + path("t.npz") + " --format jsonl").out, direct.out);
  ASSERT_EQ(run("convert " + path("t.npz") + " -o " + path("t.jsonl")).code, 0);
  ASSERT_EQ(run("convert " + path("t.jsonl") + " -o " + path("again.npz")).code, 0);
  EXPECT_EQ(contents(path("t.npz")), contents(path("again.npz")));
  // Written also where no sentence is, so that a script can rely on it.
  ASSERT_EQ(run("swor " + scores + " -k 1 --sentences 1:2 -o " + path("none.npz")).code, 0);
  EXPECT_NE(contents(path("none.npz")).find("exhausted.npy"), std::string::npos);
  ASSERT_EQ(run("sample " + scores + " -k 1 -o " + path("sample.npz")).code, 0);
  EXPECT_EQ(contents(path("sample.npz")).find("exhausted.npy"), std::string::npos);
}

TEST_F(Commands, ErrorsSpeakOfWeightsIfTheInputHoldsWeights) {
  const std::pair<float, std::string> cases[] = {{-3.5F, "-3.5"}, {NAN, "nan"}, {INFINITY, "inf"}};
  for (const auto& [weight, shown] : cases) {
    const std::string file = write("w.npy", floats("(3, 3)", {0, 1, 1, 0, 0, weight, 0, 1, 0}));
    for (const std::string command : {"logz ", "sample ", "argmax ", "marginals "}) {
      const Result result = run(command + file + " --weights");
      EXPECT_EQ(result.code, 1);
      const auto row = lines(result.out).at(0);
      EXPECT_EQ(row.at("status"), "bad_score");
      const std::string message = row.at("message");
      EXPECT_EQ(message, "sentence 0: the weight of head 1 -> modifier 2 is " + shown +
                             "; weights must be finite and not negative (0 forbids an edge)");
    }
    EXPECT_NE(run("logz " + file)
                  .out.find(std::isinf(weight) || std::isnan(weight) ? "the score of" : "\"ok\""),
              std::string::npos);
  }
  const std::string words = write("words.txt", "one\n");
  const Result other = run("logz " + write("two.npy", floats("(3, 3)", std::vector<float>(9, 1))) +
                           " --weights --words " + words);
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.errors.find("score"), std::string::npos) << other.errors;
}

// --- constraints

TEST_F(Commands, AFileHasConstraintsForSingleSentences) {
  const std::string scores = zeros("s.npz", {3, 3, 3, 2});
  const std::string file = write("c.txt", "1 force 3:1\n1 forbid 3:2\n2 roots 2\n3 force 0:3\n");
  const Result result = run("kbest " + scores + " -k 99 --forbid 1:2 --constraints " + file);
  EXPECT_EQ(result.code, 1);
  std::vector<std::vector<Tree>> trees(4);
  for (const auto& row : lines(result.out)) {
    const std::size_t sentence = row.at("sentence");
    if (row.contains("heads")) trees[sentence].push_back(row.at("heads").get<Tree>());
    if (!row.contains("status")) continue;
    EXPECT_EQ(sentence, 3U);
    EXPECT_EQ(row.at("status"), "bad_constraint");
    EXPECT_EQ(row.at("message"), "sentence 3: 'force 0:3' in " + file +
                                     ", line 4 names word 3, but the length of the sentence is 2");
  }
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_FALSE(trees[b].empty());
    for (const Tree& heads : trees[b]) {
      EXPECT_NE(heads[1], 1);  // --forbid holds everywhere.
      EXPECT_TRUE(b != 1 || (heads[0] == 3 && heads[1] != 3));
      EXPECT_TRUE(b != 2 || heads[1] == 0);
    }
  }
  EXPECT_GT(trees[0].size(), trees[1].size());
  EXPECT_GT(trees[0].size(), trees[2].size());
  // The numbers are those of the output.
  const Result moved = run("logz " + scores + " --first-sentence 10 --constraints " + file);
  EXPECT_EQ(moved.code, 2);
  EXPECT_NE(moved.errors.find("there is no sentence 1; those of the input are numbered 10 to 13"),
            std::string::npos)
      << moved.errors;
}

// A message names the file, which may have any name: JSON stays JSON, and a comment has one line.
TEST_F(Commands, FailuresNameFilesOfAnyName) {
  const std::string scores = zeros("s.npz", {2});
  const std::string file = write("c\xff\nd.txt", "0 force 99:1\n");
  const std::string how = scores + " --constraints '" + file + "'";
  for (const std::string command : {"logz ", "entropy ", "marginals ", "edges ", "argmax "}) {
    const Result result = run(command + how + " --format jsonl");
    ASSERT_EQ(result.code, 1) << command << result.errors;
    const auto row = lines(result.out).at(0);
    EXPECT_EQ(row.at("status"), "bad_constraint");
    const std::string message = row.at("message");
    EXPECT_NE(message.find("c\xef\xbf\xbd<U+000A>d.txt, line 1 names word 99"), std::string::npos);
  }
  const std::string start = "bad_constraint: sentence 0: 'force 99:1' in ";
  for (const std::string command : {"logz ", "edges ", "argmax ", "marginals ", "show "}) {
    const bool tsv = command == "marginals ";
    std::string text = run(command + how + (tsv ? " --format tsv" : " --format text")).out;
    if (tsv) text.erase(0, text.find('\n') + 1);
    EXPECT_TRUE(text.starts_with((command == "show " ? "" : "# ") + start)) << command << text;
    EXPECT_EQ(text.find('\n'), text.find_last_not_of('\n') + 1) << command << text;
  }
  // CoNLL-U can be read again.
  const std::string words = " --words " + write("w.txt", "a b\n");
  ASSERT_EQ(run("argmax " + how + words + " -o " + path("t.conllu")).code, 1);
  EXPECT_EQ(run("convert " + path("t.conllu")).out, run("argmax " + how).out);
  const Result report = run("report " + how);
  EXPECT_EQ(report.code, 1) << report.errors;
  EXPECT_NE(report.out.find("names word 99"), std::string::npos);
}

// --- empty answers

TEST_F(Commands, EvaluationNeedsGoldHeads) {
  const std::string trees =
      write("t.jsonl", "{\"sentence\":0,\"heads\":[2,0],\"labels\":[\"a\",\"b\"]}\n");
  const auto gold = [&](const std::string& second) {
    return write("g.conllu",
                 "1\tx\t_\t_\t_\t_\t2\ta\t_\t_\n2\ty\t_\t_\t_\t_\t" + second + "\t_\t_\n\n");
  };
  const Result none = run("eval " + trees + " --gold " + gold("_\t_"));
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.errors.find("no gold head for word 2 of sentence 0"), std::string::npos)
      << none.errors;
  const Result fine = run("eval " + trees + " --gold " + gold("0\tb"));
  EXPECT_EQ(fine.code, 0) << fine.errors;
  EXPECT_NE(fine.out.find("LAS        1.0000"), std::string::npos) << fine.out;
  EXPECT_NE(fine.out.find("sentences  1\n"), std::string::npos) << fine.out;
  // Where only some of the gold sentences have a tree, that is said.
  const std::string two = write("two.conllu",
                                "1\tx\t_\t_\t_\t_\t2\ta\t_\t_\n2\ty\t_\t_\t_\t_\t0\tb\t_"
                                "\t_\n\n1\tz\t_\t_\t_\t_\t0\tb\t_\t_\n\n");
  EXPECT_NE(run("eval " + trees + " --gold " + two).out.find("sentences  1 of 2 in "),
            std::string::npos);
  const Result unlabeled = run("eval " + trees + " --gold " + gold("0\t_"));
  EXPECT_EQ(unlabeled.code, 0) << unlabeled.errors;
  EXPECT_NE(unlabeled.out.find("UAS        1.0000"), std::string::npos) << unlabeled.out;
  EXPECT_NE(unlabeled.out.find("LAS        - ("), std::string::npos) << unlabeled.out;
  for (const std::string rows :
       {"\n", "{\"sentence\":0,\"status\":\"no_tree\",\"message\":\"m\"}\n"}) {
    const Result empty = run("eval " + write("e.jsonl", rows) + " --gold " + gold("0\tb"));
    EXPECT_EQ(empty.code, 2);
    EXPECT_NE(empty.errors.find("has no trees to compare"), std::string::npos) << empty.errors;
  }
  const Result wordless = run("eval " + write("e.jsonl", "{\"sentence\":0,\"heads\":[]}\n") +
                              " --gold " + write("e.conllu", "# nothing\n\n"));
  EXPECT_EQ(wordless.code, 2) << wordless.out;
  EXPECT_NE(wordless.errors.find("no tree of " + path("e.jsonl") + " has a word"),
            std::string::npos)
      << wordless.errors;
}

TEST_F(Commands, OneSentenceIsChosenByItsNumber) {
  const std::string scores = zeros("s.npz", {1, 2, 3});
  EXPECT_EQ(run("logz " + scores + " --sentences 1").out,
            run("logz " + scores + " --sentences 1:2").out);
  for (const std::string outside : {"3", "3:", "7:9"}) {
    for (const std::string command : {"logz", "sample", "show", "report", "info", "edges"}) {
      const Result result = run(command + " " + scores + " --sentences " + outside);
      EXPECT_EQ(result.code, 2) << command << outside;
      EXPECT_EQ(result.out, "") << command << outside;
      EXPECT_NE(result.errors.find("not in the input, whose 3 sentences are numbered 0 to 2"),
                std::string::npos)
          << result.errors;
    }
  }
  EXPECT_EQ(lines(run("logz " + scores + " --sentences 2:99").out).size(), 1U);
}

// --- input

// A corpus in pieces gives the trees of the whole.
TEST_F(Commands, TheFirstSentenceHasTheNumberThatIsGiven) {
  const std::string words = write("w.txt", "a\nb c d\ne f\ng h i j\n");
  const std::string whole = zeros("whole.npz", {1, 3, 2, 4});
  const std::string second = zeros("second.npz", {2, 4});
  const std::string second_words = write("w2.txt", "e f\ng h i j\n");
  for (const std::string command : {"sample -k 4 --seed 3 ", "swor -k 3 ", "argmax "}) {
    for (const std::string format : {"jsonl", "text", "conllu"}) {
      const std::string how = " --format " + format;
      const Result expected = run(command + whole + how + " --sentences 2: --words " + words);
      const Result found =
          run(command + second + how + " --first-sentence 2 --words " + second_words);
      ASSERT_EQ(found.code, 0) << found.errors;
      EXPECT_EQ(found.out, expected.out);
    }
  }
  EXPECT_EQ(run("argmax " + second + " --first-sentence -1").code, 2);
}

TEST_F(Commands, StandardInputIsAFileLikeOthers) {
  const std::string npz = zeros("s.npz", {1, 2, 3});
  const std::string npy = write("s.npy", floats("(3, 3)", std::vector<float>(9, 1)));
  for (const std::string& file : {npz, npy}) {
    const std::string expected = run("logz " + file).out;
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(run("logz - < " + file).out, expected);
    EXPECT_EQ(run_program("cat " + file + " | " + kProgram, "logz -", path("")).out, expected);
  }
  EXPECT_EQ(run("logz " + npy + " - < " + npz).out, run("logz " + npy + " " + npz).out);
  // Trees, whatever their format; words.
  for (const std::string name : {"t.jsonl", "t.npz", "t.conllu"}) {
    const std::string words = write("w.txt", "a\nb c\nd e f\n");
    ASSERT_EQ(run("kbest -k 2 " + npz + " --words " + words + " -o " + path(name)).code, 0);
    const Result result =
        run_program("cat " + path(name) + " | " + kProgram, "convert - --format jsonl", path(""));
    EXPECT_EQ(result.out, run("kbest -k 2 " + npz).out) << result.errors;
    EXPECT_EQ(run("kbest -k 2 " + npz + " --format text --words - < " + words).out,
              run("kbest -k 2 " + npz + " --format text --words " + words).out);
  }
  // A pipe with a name can be opened only once. Blocks come before its first tree.
  const std::string words = write("w.txt", "a\nb c\nd e f\n");
  const std::string trees = "kbest -k 2 " + npz + " --force 1:2 --words " + words;
  ASSERT_EQ(run(trees + " -o " + path("t.conllu")).code, 1);
  ASSERT_EQ(mkfifo(path("p.conllu").c_str(), 0600), 0);
  const std::string evaluate = "eval --gold " + path("t.conllu") + " ";
  for (const std::string& command : {std::string("convert "), evaluate}) {
    const Result expected = run(command + path("t.conllu"));
    const std::string cat = "timeout 20 sh -c 'cat " + path("t.conllu") + " > " + path("p.conllu");
    const Result piped =
        run_program(cat + "' & timeout 20 " + kProgram, command + path("p.conllu"), path(""));
    EXPECT_EQ(piped.code, expected.code) << piped.errors;
    EXPECT_EQ(piped.out, expected.out);
  }
  const std::pair<std::string, std::string> broken[] = {
      {write("text", "hello"),
       "standard input is text; it must be an .npy array or an .npz archive"},
      {write("nothing", ""), "standard input is empty"},
      {write("half", contents(npz).substr(0, 100)), "standard input is a damaged or truncated"}};
  for (const auto& [file, fragment] : broken) {
    const Result result = run("logz - < " + file);
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.errors.find(fragment), std::string::npos) << result.errors;
  }
  const Result terminal =
      run_program("script", "-qec '" + std::string(kProgram) + " logz -' /dev/null", path(""));
  EXPECT_NE(terminal.out.find("which is a terminal"), std::string::npos) << terminal.out;
}

// --- output

// Scores of three sentences, the second of which has no tree, and their words.
TEST_F(Commands, MarginalsAsAListOfEdges) {
  const float no = -INFINITY;
  const std::string scores =
      write("s.npz", zip({{"a", floats("(3, 3)", {0, 1, 3, 0, 0, 2, 0, 1, 0})},
                          {"b", floats("(2, 2)", {no, no, no, no})},
                          {"c", floats("(2, 2)", {0, 0, 0, 0})}}));
  const std::string words = write("w.txt", "\"Hi\" \xc3\xa9t\xc3\xa9\nx\nz\n");
  const std::string base = "marginals " + scores + " --words " + words;
  const auto dense = lines(run("marginals " + scores).out);
  for (const double threshold : {0.0, 0.3, 1.0}) {
    std::vector<nlohmann::json> expected;
    for (const auto& sentence : dense) {
      if (!sentence.contains("marginals")) continue;
      const std::size_t n = sentence.at("n");
      for (std::size_t m = 1; m <= n; ++m) {
        for (std::size_t h = 0; h <= n; ++h) {
          const double p = sentence.at("marginals")[h][m];
          if (p == 0 || p < threshold) continue;
          const std::vector<std::string> own =
              sentence.at("sentence") == 0
                  ? std::vector<std::string>{"ROOT", "\"Hi\"", "\xc3\xa9t\xc3\xa9"}
                  : std::vector<std::string>{"ROOT", "z"};
          expected.push_back({{"sentence", sentence.at("sentence")},
                              {"head", h},
                              {"modifier", m},
                              {"probability", p},
                              {"head_word", own[h]},
                              {"modifier_word", own[m]}});
        }
      }
    }
    ASSERT_FALSE(expected.empty());
    const std::string how = fmt::format(" --threshold {}", threshold);
    const Result json = run(base + how);
    EXPECT_EQ(json.code, 1);
    auto found = lines(json.out);
    ASSERT_EQ(std::erase_if(found, [](const auto& row) { return row.contains("status"); }), 1U);
    EXPECT_EQ(found, expected);
    // TSV.
    std::istringstream tsv(run(base + how + " --format tsv").out);
    std::string line;
    ASSERT_TRUE(std::getline(tsv, line));
    EXPECT_EQ(line, "sentence\thead\tmodifier\tprobability\thead_word\tmodifier_word");
    std::size_t i = 0;
    std::size_t comments = 0;
    while (std::getline(tsv, line)) {
      if (line.starts_with("# no_tree: sentence 1: ")) {
        ++comments;
        continue;
      }
      const auto& row = expected.at(i++);
      EXPECT_EQ(line,
                fmt::format("{}\t{}\t{}\t{}\t{}\t{}", row["sentence"].get<int>(),
                            row["head"].get<int>(), row["modifier"].get<int>(),
                            row["probability"].get<double>(), row["head_word"].get<std::string>(),
                            row["modifier_word"].get<std::string>()));
    }
    EXPECT_EQ(i, expected.size());
    EXPECT_EQ(comments, 1U);
    // npz.
    ASSERT_EQ(run(base + how + " -o " + path("e.npz")).code, 1);
    const Archive archive(path("e.npz"));
    NpyColumn sentence(open_array(archive, "sentence"));
    NpyColumn head(open_array(archive, "head"));
    NpyColumn modifier(open_array(archive, "modifier"));
    NpyColumn probability(open_array(archive, "probability"));
    NpyColumn head_word(open_array(archive, "head_word"));
    NpyColumn modifier_word(open_array(archive, "modifier_word"));
    EXPECT_EQ(sentence.array().header().count, expected.size());
    for (const auto& row : expected) {
      EXPECT_EQ(row["sentence"], sentence.next_integer());
      EXPECT_EQ(row["head"], head.next_integer());
      EXPECT_EQ(row["modifier"], modifier.next_integer());
      EXPECT_EQ(row["probability"], probability.next_double());
      EXPECT_EQ(row["head_word"], head_word.next_text());
      EXPECT_EQ(row["modifier_word"], modifier_word.next_text());
    }
  }
  // TSV is always a list; without words it has four columns.
  EXPECT_EQ(run("marginals " + scores + " --sentences 2 --format tsv").out,
            "sentence\thead\tmodifier\tprobability\n2\t0\t1\t1\n");
}

// Two words and two labels: an edge and a label have a row, and the rows of an edge sum to it.
TEST_F(Commands, MarginalsAsAListOfLabeledEdges) {
  const std::string scores =
      write("s.npz", zip({{"a", floats("(3, 3)", {0, 1, 3, 0, 0, 2, 0, 1, 0})}}));
  const float no = -INFINITY;
  std::vector<float> of_labels(18, 0);
  of_labels[1 * 2 + 1] = 1;                     // ROOT -> 1 is rather "b",
  of_labels[(3 + 2) * 2] = no;                  // 1 -> 2 is always "b",
  of_labels[(2 * 3 + 1) * 2] = std::log(3.0F);  // and 2 -> 1 is "a" three times out of four.
  const std::string label_scores = write("l.npz", zip({{"label_scores", floats("(18,)", of_labels)},
                                                       {"lengths", integers("(1,)", {2})}}));
  const std::string labels = write("l.txt", "a\"\nb\n");
  const std::string base = "marginals " + scores + " --labels " + labels + " --label-scores " +
                           label_scores + " --words " + write("w.txt", "x y\n");
  const auto dense = lines(run(base).out).at(0).at("marginals");
  const Result all = run(base + " --threshold 0");
  ASSERT_EQ(all.code, 0) << all.errors;
  std::map<std::pair<int, int>, double> sum;
  std::map<std::tuple<int, int, std::string>, double> found;
  for (const auto& row : lines(all.out)) {
    const int h = row.at("head");
    const int m = row.at("modifier");
    const double p = row.at("probability");
    sum[{h, m}] += p;
    EXPECT_TRUE(found.emplace(std::tuple(h, m, row.at("label").get<std::string>()), p).second);
    EXPECT_EQ(row.at("modifier_word"), m == 1 ? "x" : "y");
  }
  ASSERT_EQ(sum.size(), 4U);
  for (const auto& [edge, p] : sum) {
    EXPECT_NEAR(p,
                dense[static_cast<std::size_t>(edge.first)][static_cast<std::size_t>(edge.second)]
                    .get<double>(),
                1e-15);
  }
  EXPECT_EQ(found.size(), 7U);
  EXPECT_FALSE(found.contains({1, 2, "a\""}));
  EXPECT_NEAR((found.at({2, 1, "a\""}) / sum.at({2, 1})), 0.75, 1e-7);
  EXPECT_NEAR((found.at({0, 1, "b"}) / found.at({0, 1, "a\""})), std::exp(1), 1e-6);
  // The threshold is on the edge with its label, in each of the formats.
  const double limit = found.at({2, 1, "a\""}) * 0.999;
  const auto above = static_cast<std::size_t>(
      std::ranges::count_if(found, [&](const auto& row) { return row.second >= limit; }));
  ASSERT_LT(above, found.size());
  const std::string how = fmt::format(" --threshold {}", limit);
  EXPECT_EQ(lines(run(base + how).out).size(), above);
  std::istringstream tsv(run(base + how + " --format tsv").out);
  std::string line;
  ASSERT_TRUE(std::getline(tsv, line));
  EXPECT_EQ(line, "sentence\thead\tmodifier\tlabel\tprobability\thead_word\tmodifier_word");
  ASSERT_TRUE(std::getline(tsv, line));
  EXPECT_EQ(line, fmt::format("0\t2\t1\ta\"\t{}\ty\tx", found.at({2, 1, "a\""})));
  ASSERT_EQ(run(base + how + " -o " + path("e.npz")).code, 0);
  const Archive archive(path("e.npz"));
  NpyColumn label(open_array(archive, "label"));
  EXPECT_EQ(label.array().header().count, above);
  EXPECT_EQ(label.next_text(), "a\"");
  EXPECT_EQ(NpyColumn(open_array(archive, "probability")).next_double(), found.at({2, 1, "a\""}));
}

TEST_F(Commands, EdgesCallOnlyExactlyOneCertain) {
  const std::string near = write("n.npy", floats("(3, 3)", {0, 5, 0, 0, 0, 5, 0, 0, 0}));
  const std::string text = run("edges " + near).out;
  EXPECT_NE(text.find("ROOT > 99.9 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("100.0 %"), std::string::npos) << text;
  const std::string certain = run("edges " + zeros("s.npz", {1})).out;
  EXPECT_NE(certain.find("ROOT 100.0 %"), std::string::npos) << certain;
}

TEST_F(Commands, EdgesAndInfoAsJson) {
  const std::string scores = zeros("s.npz", {2, 1});
  const std::string words = write("w.txt", "a b\nc\n");
  const auto edges = lines(run("edges " + scores + " --format jsonl --words " + words).out);
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].at("sentence"), 0);
  EXPECT_EQ(edges[0].at("n"), 2);
  EXPECT_EQ(edges[0].at("status"), "ok");
  EXPECT_NEAR(edges[0].at("log_partition"), std::log(2.0), 1e-12);
  EXPECT_NEAR(edges[0].at("entropy"), std::log(2.0), 1e-12);
  const auto& doubt = edges[0].at("least_certain");
  ASSERT_EQ(doubt.size(), 2U);
  EXPECT_EQ(doubt[0].at("modifier"), 1);
  EXPECT_EQ(doubt[0].at("modifier_word"), "a");
  ASSERT_EQ(doubt[0].at("heads").size(), 2U);
  EXPECT_EQ(doubt[0].at("heads")[0].at("head"), 0);
  EXPECT_EQ(doubt[0].at("heads")[0].at("head_word"), "ROOT");
  EXPECT_NEAR(doubt[0].at("heads")[0].at("probability"), 0.5, 1e-12);
  EXPECT_EQ(doubt[0].at("heads")[1].at("head_word"), "b");
  EXPECT_FALSE(
      lines(run("edges " + scores + " --format jsonl").out)[0].at("least_certain")[0].contains(
          "modifier_word"));
  const auto bad = lines(run("edges " + scores + " --force 1:2 -o -  --format jsonl").out);
  EXPECT_EQ(bad.at(1).at("status"), "bad_constraint");
  EXPECT_EQ(bad.at(1).at("message"),
            "sentence 1: --force 1:2 names word 2, but the length of the sentence is 1");

  ASSERT_EQ(run("info " + scores + " -o " + path("i.jsonl")).code, 0);
  const auto info = nlohmann::json::parse(contents(path("i.jsonl")));
  EXPECT_EQ(info.at("sentences"), 2);
  EXPECT_EQ(info.at("words"), 3);
  EXPECT_EQ(info.at("shortest"), 1);
  EXPECT_EQ(info.at("longest"), 2);
  EXPECT_EQ(info.at("root"), "single");
  EXPECT_NEAR(info.at("mean_entropy"), std::log(2.0) / 2, 1e-12);
  EXPECT_NEAR(info.at("mean_entropy_per_word"), std::log(2.0) / 3, 1e-12);
  EXPECT_NEAR(info.at("mean_best_probability"), 0.75, 1e-12);
  EXPECT_NEAR(info.at("median_best_probability"), 0.75, 1e-12);
  EXPECT_NEAR(info.at("mean_expected_tries"), 1.25, 1e-12);
  EXPECT_NEAR(info.at("mean_projective_mass"), 1, 1e-12);
  EXPECT_FALSE(info.contains("projective"));
  EXPECT_TRUE(info.at("failed").empty());
  const auto failed =
      nlohmann::json::parse(run("info " + scores + " --force 1:2 --format jsonl").out);
  EXPECT_EQ(failed.at("failed").at("bad_constraint"), 1);
}

TEST_F(Commands, TextKeepsLabels) {
  const std::string scores = zeros("s.npz", {2});
  const std::string names = write("names.txt", "dep\nroot\n");
  std::vector<float> labels(18, 0);
  for (std::size_t m = 0; m < 3; ++m) labels[2 * m + 1] = 1;  // Out of ROOT: "root".
  const std::string file =
      write("l.npz",
            zip({{"label_scores", floats("(18,)", labels)}, {"lengths", integers("(1,)", {2})}}));
  const std::string argmax = "argmax " + scores + " --force 2:1 --format text --labels " + names +
                             " --label-scores " + file;
  const std::string plain = run(argmax).out;
  EXPECT_TRUE(plain.ends_with(" 2/dep 0/root\n")) << plain;
  const std::string with_words = run(argmax + " --words " + write("w.txt", "a b\n")).out;
  EXPECT_TRUE(with_words.ends_with(" a/2/dep b/0/root\n")) << with_words;
}

// Two words have two trees with one root, three words nine.
TEST_F(Commands, KbestSaysThatThereAreNoMoreTrees) {
  const std::string scores = zeros("s.npz", {2, 3});
  const auto exhausted = [&](int k) {
    std::vector<std::size_t> trees;
    for (const auto& row : lines(run(fmt::format("kbest {} -k {}", scores, k)).out)) {
      if (row.contains("exhausted")) trees.push_back(row.at("trees"));
    }
    return trees;
  };
  EXPECT_EQ(exhausted(1), std::vector<std::size_t>{});
  EXPECT_EQ(exhausted(2), std::vector<std::size_t>{2});
  EXPECT_EQ(exhausted(8), std::vector<std::size_t>{2});
  EXPECT_EQ(exhausted(9), (std::vector<std::size_t>{2, 9}));
  EXPECT_EQ(exhausted(50), (std::vector<std::size_t>{2, 9}));
  const Result direct = run("kbest " + scores + " -k 8");
  EXPECT_EQ(lines(direct.out).size(), 2U + 1U + 8U);
  ASSERT_EQ(run("kbest " + scores + " -k 8 -o " + path("t.npz")).code, 0);
  EXPECT_EQ(run("convert " + path("t.npz")).out, direct.out);
  const Result text = run("kbest " + scores + " -k 2 --format text");
  EXPECT_NE(text.out.find("# sentence 0: exhausted after 2 trees\n"), std::string::npos)
      << text.out;
  EXPECT_EQ(text.out.find("# sentence 1"), std::string::npos) << text.out;
  ASSERT_EQ(run("kbest " + scores + " -k 1 -o " + path("few.npz")).code, 0);
  EXPECT_NE(contents(path("few.npz")).find("exhausted.npy"), std::string::npos);
}

}  // namespace
}  // namespace taproot::cli
