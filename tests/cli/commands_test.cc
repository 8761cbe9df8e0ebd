// SPDX-License-Identifier: Apache-2.0
//
// Single commands on small files that are made for one property each.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/tree_reader.h"
#include "input_files.h"
#include "program.h"

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

}  // namespace
}  // namespace taproot::cli
