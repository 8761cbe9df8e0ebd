// SPDX-License-Identifier: Apache-2.0
//
// Runs the program: every command, format and root rule on the bundled data, answers compared with
// the library's.
#include <gtest/gtest.h>
#include <algorithm>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/tree_reader.h"
#include "input/score_reader.h"
#include "program.h"
#include "taproot/taproot.h"

namespace taproot::cli {
namespace {

const std::string kData = kDataFolder;

std::vector<Sentence> sentences(const std::string& name) {
  ReadOptions options;
  options.files = {kData + "/" + name};
  ScoreReader reader(options);
  std::vector<Sentence> all;
  for (Sentence sentence; reader.next(sentence);) all.push_back(sentence);
  return all;
}

std::vector<nlohmann::json> lines(const std::string& text) {
  std::vector<nlohmann::json> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

RootRule rule_named(const std::string& name) {
  return name == "single" ? RootRule::kSingle : RootRule::kMulti;
}

TEST_F(Cli, NumbersAreTheLibrarys) {
  for (const std::string root : {"single", "multi"}) {
    const auto logz = run("logz " + kData + "/demo.npz --root " + root);
    const auto entropies = run("entropy " + kData + "/demo.npz --root " + root);
    const auto matrices = run("marginals " + kData + "/demo.npz --root " + root);
    ASSERT_EQ(logz.code, 0) << logz.errors;
    ASSERT_EQ(matrices.code, 0) << matrices.errors;
    const auto z = lines(logz.out);
    const auto h = lines(entropies.out);
    const auto p = lines(matrices.out);
    const auto all = sentences("demo.npz");
    ASSERT_EQ(z.size(), all.size());
    ASSERT_EQ(p.size(), all.size());
    for (std::size_t b = 0; b < all.size(); ++b) {
      const Factorization f = eliminate(all[b].view(), rule_named(root));
      EXPECT_EQ(z[b].at("sentence"), b);
      EXPECT_EQ(z[b].at("n"), f.n());
      EXPECT_EQ(z[b].at("status"), "ok");
      EXPECT_EQ(z[b].at("log_partition").get<double>(), log_partition(f));
      EXPECT_EQ(h[b].at("entropy").get<double>(), entropy(f));
      const std::vector<double> expected = marginals(f);
      std::vector<double> found;
      for (const auto& row : p[b].at("marginals")) {
        for (const auto& x : row) found.push_back(x.get<double>());
      }
      EXPECT_EQ(found, expected);
    }
  }
}

TEST_F(Cli, NumbersAreTheSameInEveryFormat) {
  for (const std::string root : {"single", "multi"}) {
    for (const std::string command : {"logz", "entropy"}) {
      const std::string key = command == "logz" ? "log_partition" : "entropy";
      const std::string base = command + " " + kData + "/demo.npz --root " + root;
      const auto json = lines(run(base).out);
      std::istringstream text(run(base + " --format text").out);
      ASSERT_EQ(run(base + " -o " + file("numbers.npz")).code, 0);
      const std::string archive = contents(file("numbers.npz"));
      for (const auto& row : json) {
        std::size_t sentence = 0;
        int n = 0;
        std::string value;
        text >> sentence >> n >> value;
        EXPECT_EQ(row.at("sentence"), sentence);
        EXPECT_EQ(row.at("n"), n);
        EXPECT_EQ(row.at(key).get<double>(), std::stod(value));
        // Stored, little-endian: the bytes of each number are in the archive.
        const auto number = row.at(key).get<double>();
        const std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
        EXPECT_NE(archive.find(bytes), std::string::npos);
      }
    }
    // The marginals of an archive are matrices in the layout of the input: they can be read back.
    const std::string base = "marginals " + kData + "/demo.npz --root " + root;
    ASSERT_EQ(run(base + " -o " + file("p.npz")).code, 0);
    const std::string archive = contents(file("p.npz"));
    for (const auto& row : lines(run(base).out)) {
      std::string bytes;
      for (const auto& cells : row.at("marginals")) {
        for (const auto& cell : cells) {
          const auto p = cell.get<double>();
          bytes.append(reinterpret_cast<const char*>(&p), sizeof p);
        }
      }
      EXPECT_NE(archive.find(bytes), std::string::npos) << row.at("sentence");
    }
  }
}

TEST_F(Cli, TreesAreTheLibrarysInEveryFormat) {
  const auto all = sentences("demo.npz");
  for (const std::string root : {"single", "multi"}) {
    for (const std::string command : {"argmax", "mbr", "kbest", "sample", "swor"}) {
      std::vector<TreeRow> first;
      for (const std::string ending : {"jsonl", "npz", "conllu"}) {
        const std::string out = file(command + "." + ending);
        const bool many = command != "argmax" && command != "mbr";
        const Result result = run(command + " " + kData + "/demo.npz --words " + kData +
                                  "/demo.txt --root " + root + (many ? " -k 4" : "") +
                                  (many && command != "kbest" ? " --seed 7" : "") + " -o " + out);
        ASSERT_EQ(result.code, 0) << result.errors;
        std::vector<TreeRow> rows;
        const auto reader = TreeReader::open(out);
        for (AnyRow row; reader->next(row);) {
          if (std::holds_alternative<TreeRow>(row)) rows.push_back(std::get<TreeRow>(row));
        }
        if (first.empty()) first = rows;
        ASSERT_EQ(rows.size(), first.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
          EXPECT_EQ(rows[i].sentence, first[i].sentence);
          EXPECT_EQ(rows[i].index, first[i].index);
          EXPECT_EQ(rows[i].heads, first[i].heads);
          EXPECT_EQ(rows[i].log_prob, first[i].log_prob);
          EXPECT_EQ(rows[i].weight, first[i].weight);
        }
      }
      ASSERT_FALSE(first.empty());
      const RootRule rule = rule_named(root);
      for (const TreeRow& row : first) {
        const Factorization f = eliminate(all[row.sentence].view(), rule);
        EXPECT_TRUE(is_tree(row.heads, rule));
        EXPECT_NEAR(row.log_prob.value(), log_prob(f, row.heads), 1e-12);
        if (command == "argmax") {
          EXPECT_EQ(row.heads, argmax(all[row.sentence].view(), rule).heads);
        }
        if (command == "mbr") {
          EXPECT_EQ(row.heads, mbr(f));
        }
        if (command == "kbest") {
          const BestTrees best = kbest(all[row.sentence].view(), 4, rule);
          EXPECT_TRUE(std::ranges::equal(row.heads, best[row.index]));
        }
        if (command == "sample") {
          Sampler sampler;
          Workspace workspace;
          sampler.build(f, Algorithm::kAuto, workspace);
          Tree heads(row.heads.size());
          const SampleOptions how{Algorithm::kAuto, 7, 0, static_cast<std::uint32_t>(row.index)};
          sampler.sample(row.sentence, how, 1, {heads.data(), 0}, {}, nullptr, workspace);
          EXPECT_EQ(row.heads, heads);
        }
        if (command == "swor") {
          WithoutReplacementSampler sampler;
          Workspace workspace;
          sampler.build(f, {WithoutReplacementAlgorithm::kAuto, 7}, row.sentence, workspace);
          WithoutReplacementSample sample;
          sampler.sample(4, sample, workspace);
          EXPECT_EQ(row.weight.value(), sample.weight[row.index]);
          EXPECT_EQ(row.gumbel.value(), sample.gumbel[row.index]);
        }
      }
    }
  }
}

TEST_F(Cli, OutputDoesNotDependOnThreadsOrSlices) {
  for (const std::string command : {"sample", "swor", "kbest", "argmax", "mbr"}) {
    const bool many = command != "argmax" && command != "mbr";
    for (const std::string format : {"jsonl", "text", "conllu", "npz"}) {
      const std::string base = command + " " + kData + "/demo.npz --words " + kData + "/demo.txt" +
                               (many ? " -k 3" : "") + " --format " + format;
      const std::string one = file("one");
      const std::string two = file("two");
      ASSERT_EQ(run(base + " --threads 1 -o " + one).code, 0);
      ASSERT_EQ(run(base + " --threads 2 -o " + two).code, 0);
      EXPECT_EQ(contents(one), contents(two)) << base;
      if (format == "npz") continue;
      const std::string a = run(base + " --sentences :9").out;
      const std::string b = run(base + " --sentences 9:20").out;
      const std::string c = run(base + " --sentences 20:").out;
      EXPECT_EQ(a + b + c, contents(one)) << base;
    }
  }
}

// More trees than are sampled, made text of and written at a time.
TEST_F(Cli, ManyTreesComeInOrderForAnyNumberOfThreads) {
  for (const std::string format : {"jsonl", "conllu"}) {
    for (const std::string which : {" --sentences 0 -k 60000", " -k 3000"}) {
      const std::string base = "sample " + kData + "/demo.npz --words " + kData + "/demo.txt" +
                               which + " --format " + format;
      ASSERT_EQ(run(base + " --threads 1 -o " + file("one." + format)).code, 0);
      for (const std::string threads : {"2", "3"}) {
        ASSERT_EQ(run(base + " --threads " + threads + " -o " + file("many")).code, 0);
        EXPECT_TRUE(contents(file("one." + format)) == contents(file("many"))) << base;
      }
      const auto reader = TreeReader::open(file("one." + format));
      const std::size_t k = which.ends_with("60000") ? 60000 : 3000;
      std::size_t trees = 0;
      for (AnyRow row; reader->next(row); ++trees) {
        ASSERT_EQ(std::get<TreeRow>(row).sentence, trees / k);
        ASSERT_EQ(std::get<TreeRow>(row).index, trees % k);
      }
      EXPECT_EQ(trees % k, 0U);
      EXPECT_GE(trees, k);
    }
  }
}

TEST_F(Cli, ConvertsThereAndBack) {
  const std::string trees = file("trees.npz");
  ASSERT_EQ(run("swor " + kData + "/demo.npz -k 3 -o " + trees).code, 0);
  ASSERT_EQ(run("convert " + trees + " --words " + kData + "/demo.txt -o " + file("t.conllu")).code,
            0);
  ASSERT_EQ(run("convert " + file("t.conllu") + " -o " + file("back.npz")).code, 0);
  EXPECT_EQ(contents(trees), contents(file("back.npz")));
  ASSERT_EQ(run("convert " + trees + " -o " + file("t.jsonl")).code, 0);
  ASSERT_EQ(run("convert " + file("t.jsonl") + " -o " + file("again.npz")).code, 0);
}

TEST_F(Cli, EvaluatesAndExplains) {
  ASSERT_EQ(
      run("argmax " + kData + "/demo.npz --words " + kData + "/demo.txt --labels " + kData +
          "/labels.txt --label-scores " + kData + "/demo_labels.npz -o " + file("gold.conllu"))
          .code,
      0);
  const Result same = run("eval " + file("gold.conllu") + " --gold " + file("gold.conllu"));
  EXPECT_EQ(same.code, 0) << same.errors;
  EXPECT_NE(same.out.find("UAS        1.0000"), std::string::npos) << same.out;
  EXPECT_NE(same.out.find("LAS        1.0000"), std::string::npos) << same.out;
  ASSERT_EQ(run("sample " + kData + "/demo.npz -k 20 -o " + file("s.jsonl")).code, 0);
  const Result mean = run("eval " + file("s.jsonl") + " --over mean --gold " + file("gold.conllu"));
  EXPECT_EQ(mean.code, 0) << mean.errors;
  EXPECT_NE(mean.out.find("UAS        0."), std::string::npos) << mean.out;
  const Result info = run("info " + kData + "/demo.npz " + kData + "/en_ewt.npz");
  EXPECT_EQ(info.code, 0);
  EXPECT_NE(info.out.find("sentences        324"), std::string::npos) << info.out;
}

TEST_F(Cli, ConstraintsHoldAndFailSentenceBySentence) {
  const Result forced = run("sample " + kData + "/demo.npz -k 3 --force '4>7' --sentences 0:1");
  ASSERT_EQ(forced.code, 0) << forced.errors;
  for (const auto& line : lines(forced.out)) EXPECT_EQ(line.at("heads")[6], 4);
  const Result beyond = run("argmax " + kData + "/demo.npz --force '1>8'");
  EXPECT_EQ(beyond.code, 1);
  bool failed = false;
  bool fine = false;
  for (const auto& line : lines(beyond.out)) {
    if (line.contains("status")) {
      EXPECT_EQ(line.at("status"), "bad_constraint");
      EXPECT_TRUE(line.contains("message"));
      failed = true;
    } else {
      EXPECT_EQ(line.at("heads")[7], 1);
      fine = true;
    }
  }
  EXPECT_TRUE(failed && fine);
  const Result contradiction =
      run("logz " + kData + "/demo.npz --force '1>2' --force '2>1' --sentences 0:1");
  EXPECT_EQ(contradiction.code, 1);
  EXPECT_EQ(lines(contradiction.out)[0].at("status"), "no_tree");
  const Result roots = run("argmax " + kData + "/demo.npz --roots 1 --sentences 0:1");
  EXPECT_EQ(lines(roots.out)[0].at("heads")[0], 0);
}

// On a device, the CPU's answers; where there is none, an error, and never a run on the CPU.
TEST_F(Cli, Device) {
  for (const std::string command :
       {"logz", "entropy", "marginals", "sample -k 3 --seed 4", "swor -k 3",
        "swor -k 3 --algorithm beam", "argmax", "mbr", "logz --projective",
        "marginals --projective", "sample -k 3 --projective", "swor -k 3 --projective",
        "argmax --projective"}) {
    SCOPED_TRACE(command);
    const std::string own = command + " " + kData + "/demo.npz";
    const Result cuda = run(own + " --device cuda");
    if (!cuda_available()) {
      EXPECT_EQ(cuda.code, 2);
      EXPECT_TRUE(cuda.out.empty());
      EXPECT_NE(cuda.errors.find("[cuda]"), std::string::npos) << cuda.errors;
      continue;
    }
    ASSERT_EQ(cuda.code, 0) << cuda.errors;
    const auto found = lines(cuda.out);
    const auto expected = lines(run(own).out);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const char* key : {"sentence", "status", "heads"}) {
        EXPECT_EQ(found[i].contains(key), expected[i].contains(key));
        if (!found[i].contains(key)) continue;
        EXPECT_EQ(found[i][key], expected[i][key]);
      }
      for (const char* key : {"log_partition", "entropy", "score", "log_prob", "gumbel"}) {
        if (!found[i].contains(key)) continue;
        EXPECT_NEAR(found[i][key].get<double>(), expected[i][key].get<double>(), 1e-9);
      }
    }
  }
  EXPECT_EQ(run("sample " + kData + "/demo.npz --device tpu").code, 2);
  EXPECT_EQ(run("swor " + kData + "/demo.npz --device cuda --algorithm trie").code, 2);
  EXPECT_EQ(run("sample " + kData + "/demo.npz --device cuda --algorithm colbourn").code, 2);
  EXPECT_EQ(run("kbest " + kData + "/demo.npz --device cuda").code, 2);
}

}  // namespace
}  // namespace taproot::cli
