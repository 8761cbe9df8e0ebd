// SPDX-License-Identifier: Apache-2.0
//
// show and report through the program; what is in their output, compared with the library.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "input/words.h"
#include "input_files.h"
#include "program.h"
#include "taproot/taproot.h"

namespace taproot::cli {
namespace {

const std::string kData = kDataFolder;
const std::string kDemo = kData + "/demo.npz --words " + kData + "/demo.txt";
using Strings = std::vector<std::string>;

class Views : public InputFiles {
 protected:
  Views() : sentences_(read(kData + "/demo.npz")) {
    WordReader reader(kData + "/demo.txt");
    for (WordSentence words; reader.next(words);) words_.push_back(words.words);
  }

  Result run(const std::string& arguments, const std::string& environment = "") const {
    return run_program(environment + kProgram, arguments, path(""));
  }
  // In a terminal of so many columns.
  Result run_in_terminal(const std::string& arguments, int columns,
                         const std::string& environment = "") const {
    const std::string command =
        fmt::format("stty cols {} && {}{} {}", columns, environment, kProgram, arguments);
    return run_program("script", "-qec '" + command + "' /dev/null", path(""));
  }

  // The best label of every edge of a probability of at least 5 percent, and the probability of
  // both.
  std::map<std::pair<int, int>, std::pair<std::string, double>> best_labels_of(
      const std::string& labels) const {
    std::map<std::pair<int, int>, std::pair<std::string, double>> best;
    std::map<std::pair<int, int>, double> edges;
    std::istringstream rows(run("marginals " + kDemo + labels + " --threshold 0").out);
    for (std::string line; std::getline(rows, line);) {
      const nlohmann::json row = nlohmann::json::parse(line);
      const std::pair<int, int> edge{row.at("head"), row.at("modifier")};
      const double p = row.at("probability");
      edges[edge] += p;
      if (p > best[edge].second) best[edge] = {row.at("label"), p};
    }
    std::erase_if(best, [&](const auto& entry) { return edges[entry.first] < kDrawThreshold; });
    return best;
  }

  std::vector<Sentence> sentences_;
  std::vector<Strings> words_;
};

TextOptions wide(std::size_t width) {
  TextOptions options;
  options.width = width;
  return options;
}

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

TEST_F(Views, ShowDrawsTheBestTree) {
  const Result result = run("show " + kDemo + " --width 100");
  ASSERT_EQ(result.code, 0) << result.errors;
  for (std::size_t b = 0; b < sentences_.size(); ++b) {
    const Tree heads = argmax(sentences_[b].view()).heads;
    EXPECT_TRUE(has(result.out, fmt::format("sentence {}: best tree, probability ", b)));
    EXPECT_TRUE(has(result.out, tree_text(words_[b], heads, wide(100)))) << b;
  }
  EXPECT_TRUE(has(result.out, "sentence 0: best tree, probability 0.5408\n"));
  EXPECT_TRUE(has(result.out, "sentence 2: best tree, probability 1 - ")) << result.out;
  const Result numbers = run("show " + kData + "/demo.npz --sentences 2:3");
  EXPECT_TRUE(has(numbers.out, tree_text({}, argmax(sentences_[2].view()).heads)));
}

TEST_F(Views, ShowDrawsSamplesByFrequency) {
  const Result result = run("show " + kDemo + " --sentences 0:1 -k 50 --seed 3");
  ASSERT_EQ(result.code, 0) << result.errors;
  const Factorization f = eliminate(sentences_[0].view());
  Sampler sampler;
  Workspace workspace;
  sampler.build(f, Algorithm::kAuto, workspace);
  std::map<Tree, int> counts;
  for (std::uint32_t s = 0; s < 50; ++s) {
    Tree heads(8);
    sampler.sample(0, {Algorithm::kAuto, 3, 0, s}, 1, {heads.data(), 0}, {}, nullptr, workspace);
    ++counts[heads];
  }
  std::size_t last = 1000;
  for (const auto& [heads, count] : counts) {
    EXPECT_TRUE(
        has(result.out,
            fmt::format("sentence 0: {} of 50 samples, probability {:.4g}\n{}\n", count,
                        std::exp(log_prob(f, heads)), tree_text(words_[0], heads, wide(80)))))
        << result.out;
  }
  const std::string caption = "sentence 0: ";
  for (std::size_t at = 0; (at = result.out.find(caption, at)) != std::string::npos; ++at) {
    const std::size_t count = std::stoul(result.out.substr(at + caption.size()));
    EXPECT_LE(count, last);
    last = count;
  }
}

TEST_F(Views, ShowDrawsMarginals) {
  const Result result =
      run("show " + kDemo + " --sentences 3:4 --marginals --threshold 0.02 --root multi");
  ASSERT_EQ(result.code, 0) << result.errors;
  const Factorization f = eliminate(sentences_[3].view(), RootRule::kMulti);
  const std::vector<double> p = marginals(f);
  TextOptions options;
  options.threshold = 0.02;
  EXPECT_TRUE(has(result.out, marginals_text(words_[3], p, options))) << result.out;
  const auto less = std::count_if(p.begin(), p.end(), [](double x) { return x > 0 && x < 0.02; });
  EXPECT_TRUE(has(result.out, fmt::format("sentence 3: entropy {:.4g} nats; edges from 2 % on, {} "
                                          "less probable ones not drawn\n",
                                          entropy(f), less)))
      << result.out;
}

TEST_F(Views, ShowFitsTheTerminalAndColorsThere) {
  const std::string show = "show " + kDemo + " --sentences 20:21";
  const auto widest = [](const std::string& text) {
    std::size_t most = 0;
    std::string plain = text;
    for (std::size_t at = 0; (at = plain.find('\x1b')) != std::string::npos;) {
      plain.erase(at, plain.find('m', at) + 1 - at);
    }
    replace_all(plain, "\r", "");
    std::istringstream in(plain);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("sentence")) continue;
      const auto marks =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      most = std::max(most, static_cast<std::size_t>(marks));
    }
    return most;
  };
  EXPECT_LE(widest(run(show).out), 80U);
  EXPECT_LE(widest(run(show + " --width 50").out), 50U);
  EXPECT_LE(widest(run(show, "COLUMNS=60 ").out), 60U);
  EXPECT_GT(widest(run(show, "COLUMNS=200 ").out), 100U);
  const Result terminal = run_in_terminal(show, 70, "NO_COLOR= ");
  EXPECT_LE(widest(terminal.out), 70U) << terminal.out;
  EXPECT_GT(widest(terminal.out), 50U) << terminal.out;
  EXPECT_TRUE(has(terminal.out, "\x1b["));
  EXPECT_FALSE(has(run_in_terminal(show, 70, "NO_COLOR=1 ").out, "\x1b["));
  EXPECT_FALSE(has(run_in_terminal(show + " --color never", 70).out, "\x1b["));
  EXPECT_FALSE(has(run(show).out, "\x1b["));
  EXPECT_TRUE(has(run(show + " --color always", "NO_COLOR=1 ").out, "\x1b["));
}

TEST_F(Views, ShowWritesOneSvg) {
  const std::string file = path("tree.svg");
  ASSERT_EQ(run("show " + kDemo + " --sentences 0:1 -o " + file).code, 0);
  EXPECT_EQ(contents(file), tree_svg(words_[0], argmax(sentences_[0].view()).heads));
  EXPECT_EQ(run("show " + kDemo + " --sentences 0:1 --marginals --format svg").out,
            marginals_svg(words_[0], marginals(eliminate(sentences_[0].view()))));
  const Result two = run("show " + kDemo + " --sentences 0:2 -o " + path("two.svg"));
  EXPECT_EQ(two.code, 2);
  EXPECT_TRUE(has(two.errors, "one drawing"));
  EXPECT_FALSE(std::filesystem::exists(path("two.svg")));
  EXPECT_EQ(run("show " + kDemo + " --sentences 99: -o " + path("none.svg")).code, 2);
  const Result bad = run("show " + kDemo + " --sentences 2:3 --force '1>8' -o " + path("bad.svg"));
  EXPECT_EQ(bad.code, 1);
  EXPECT_TRUE(has(bad.errors, "bad_constraint"));
  EXPECT_FALSE(std::filesystem::exists(path("bad.svg")));
}

TEST_F(Views, ShowTakesLabelsAndConstraints) {
  const std::string labels =
      " --labels " + kData + "/labels.txt --label-scores " + kData + "/demo_labels.npz";
  for (const std::string what : {"", " -k 2"}) {
    const Result result = run("show " + kDemo + labels + " --sentences 2:3" + what);
    ASSERT_EQ(result.code, 0) << result.errors;
    EXPECT_TRUE(has(result.out, "nsubj")) << result.out;
    EXPECT_TRUE(has(result.out, "root")) << result.out;
  }
  // The number beside a label is the probability of the edge with this label, not the edge's.
  const auto best = best_labels_of(labels + " --sentences 3:4");
  ASSERT_GE(best.size(), 5U);
  for (const std::string what : {" --width 200", " --format svg"}) {
    const Result all = run("show " + kDemo + labels + " --sentences 3:4 --marginals" + what);
    ASSERT_EQ(all.code, 0) << all.errors;
    for (const auto& [edge, label] : best) {
      const long whole = std::lround(100 * label.second);
      if (whole == 100 || whole == 0) continue;
      const std::string piece = label.first + " " + std::to_string(whole) + "%";
      EXPECT_TRUE(has(all.out, piece)) << piece << "\n" << all.out;
    }
    EXPECT_FALSE(has(all.out, "compound 56%")) << all.out;  // The edge, with any label.
    if (what == " --width 200") {
      EXPECT_TRUE(has(all.out, "numbers are of edges with their labels"));
    }
  }
  const Result forced = run("show " + kDemo + " --force '1>8'");
  EXPECT_EQ(forced.code, 1);
  EXPECT_TRUE(has(forced.out, "bad_constraint: sentence 2: ")) << forced.out;
  EXPECT_TRUE(has(forced.out, "sentence 0: best tree, ")) << forced.out;
}

TEST_F(Views, WordsCannotReachTheTerminal) {
  const std::string words =
      write("w.txt", "a\nb\n\x1b]0;title\x07 \xe2\x80\xae\xd7\xa9\xd7\x9c \x1b[2J\x9b\n");
  EXPECT_EQ(run("show " + kData + "/demo.npz --sentences 2:3 --words " + words).code, 2);  // 0x9b.
  write("w.txt", "a\nb\n\x1b]0;title\x07 \xe2\x80\xae\xd7\xa9\xd7\x9c \x1b[2J\xc2\x9b\n");
  for (const std::string what : {"", " -k 2", " --marginals", " --format svg"}) {
    const Result result =
        run("show " + kData + "/demo.npz --sentences 2:3 --words " + words + what);
    EXPECT_EQ(result.code, 0) << result.errors;
    for (const char* bad : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae"}) {
      EXPECT_FALSE(has(result.out, bad)) << what;
    }
    EXPECT_TRUE(has(result.out, "U+001B")) << result.out;
    EXPECT_TRUE(has(result.out, "U+202E")) << result.out;
  }
}

// --- report

std::string unpacked(const std::string& base64) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<std::uint32_t>(letters.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count));
  }
  std::string text(std::size_t{1} << 24, '\0');
  uLongf size = text.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  text.resize(size);
  return text;
}

// The blocks of a page as a browser finds them: each ends at the first "</script>".
struct Page {
  std::vector<nlohmann::json> sentences;
  std::size_t scripts = 0;
};

Page page_of(const std::string& html) {
  Page page;
  for (std::size_t at = 0; (at = html.find("<script", at)) != std::string::npos;) {
    ++page.scripts;
    const std::size_t begin = html.find('>', at) + 1;
    const std::size_t end = html.find("</script>", begin);
    const std::string tag = html.substr(at, begin - at);
    const std::string content = html.substr(begin, end - begin);
    if (has(tag, "class=\"sentence\"")) page.sentences.push_back(nlohmann::json::parse(content));
    if (has(tag, "class=\"details\"")) {
      page.sentences.back().update(nlohmann::json::parse(unpacked(content)));
    }
    at = end;
  }
  return page;
}

TEST_F(Views, ReportHoldsTheDistribution) {
  for (const std::string trees : {"single", "multi", "single --projective"}) {
    const std::string file = path("report.html");
    const Result result =
        run("report " + kDemo + " -k 40 --seed 5 --floor 0.01 -o " + file + " --root " + trees);
    ASSERT_EQ(result.code, 0) << result.errors;
    const std::string html = contents(file);
    const Page page = page_of(html);
    ASSERT_EQ(page.sentences.size(), sentences_.size());
    const RootRule rule = trees == "multi" ? RootRule::kMulti : RootRule::kSingle;
    const bool projective = has(trees, "--projective");
    const TreeFamily family = projective ? TreeFamily::kProjective : TreeFamily::kAll;
    EXPECT_TRUE(has(html, projective ? "\"projective\":true" : "\"projective\":false"));
    for (std::size_t b = 0; b < sentences_.size(); ++b) {
      const nlohmann::json& s = page.sentences[b];
      const Factorization f = factorize(sentences_[b].view(), rule, family);
      const auto n = static_cast<std::size_t>(f.n());
      const std::vector<double> p = marginals(f);
      EXPECT_EQ(s.at("number"), b);
      EXPECT_EQ(s.at("words").get<Strings>(), words_[b]);
      EXPECT_NEAR(s.at("entropy"), entropy(f), 1e-5 * entropy(f));
      EXPECT_NEAR(s.at("log_partition"), log_partition(f), 1e-5 * std::abs(log_partition(f)));
      double of_words = 0;
      for (std::size_t m = 1; m <= n; ++m) {
        double expected = 0;
        for (std::size_t h = 0; h <= n; ++h) {
          const double q = p[h * (n + 1) + m];
          expected -= q > 0 ? q * std::log(q) : 0;
        }
        of_words += expected;
        EXPECT_NEAR(s.at("entropy_of_words")[m - 1], expected, 1e-3 * expected + 1e-12);
      }
      EXPECT_GE(of_words, entropy(f) - 1e-9);  // Words are not independent.
      std::size_t samples = 0;
      std::vector<std::uint8_t> drawn(p.size(), 0);
      std::size_t last = 40;
      for (const auto& tree : s.at("trees")) {
        const auto heads = tree.at("heads").get<Tree>();
        EXPECT_TRUE(is_tree(heads, rule));
        const double exact = log_prob(f, heads);
        EXPECT_NEAR(tree.at("log_prob"), exact, 1e-5 * std::abs(exact));
        const std::size_t count = tree.at("count");
        EXPECT_LE(count, last);
        last = count;
        samples += count;
        for (std::size_t m = 1; m <= n; ++m) {
          drawn[static_cast<std::size_t>(heads[m - 1]) * (n + 1) + m] = 1;
        }
      }
      EXPECT_EQ(samples, 40U);
      SvgOptions options;
      options.threshold = 0.01;
      options.text_from = kDrawThreshold;
      options.also = drawn;
      options.hints = false;
      EXPECT_EQ(s.at("svg"), marginals_svg(words_[b], p, options));
      std::size_t below = 0;
      for (std::size_t e = 0; e < p.size(); ++e) {
        below += p[e] > 0 && p[e] < 0.01 && drawn[e] == 0 ? 1U : 0U;
      }
      EXPECT_EQ(s.at("below_floor"), below);
    }
  }
}

TEST_F(Views, ReportNamesSentences) {
  const std::string row = "\t_\t_\t_\t_\t_\t_\t_\t_\n";
  const auto rows = [&](std::size_t b) {
    std::string all;
    for (std::size_t i = 0; i < words_[b].size(); ++i) {
      all += std::to_string(i + 1) + "\t" + words_[b][i] + row;
    }
    return all + "\n";
  };
  const std::string words =
      write("w.conllu", "# newdoc\n# sent_id = a\xe2\x80\xae 1 \n" + rows(0) + "#sent_id=b\n" +
                            rows(1) + "# sent_identity = c\n# sent_id =\n" + rows(2));
  const Page page =
      page_of(run("report " + kData + "/demo.npz --sentences 0:3 --words " + words).out);
  ASSERT_EQ(page.sentences.size(), 3U);
  EXPECT_EQ(page.sentences[0].at("sent_id"), "a<U+202E> 1");
  EXPECT_EQ(page.sentences[1].at("sent_id"), "b");
  EXPECT_FALSE(page.sentences[2].contains("sent_id"));
}

TEST_F(Views, ReportDoesNotDependOnThreads) {
  const std::string base = "report " + kDemo + " --threads ";
  EXPECT_EQ(run(base + "1").out, run(base + "3").out);
}

TEST_F(Views, ReportHoldsTheLabelsOfEdges) {
  const std::string labels =
      " --labels " + kData + "/labels.txt --label-scores " + kData + "/demo_labels.npz";
  const Page page = page_of(run("report " + kDemo + labels + " --sentences 3:4").out);
  const auto best = best_labels_of(labels + " --sentences 3:4");
  std::map<std::pair<int, int>, nlohmann::json> found;
  for (const auto& edge : page.sentences.at(0).at("labels")) found[{edge[0], edge[1]}] = edge;
  for (const auto& [edge, label] : best) {
    const nlohmann::json& own = found.at(edge);
    EXPECT_EQ(own[2], label.first);
    EXPECT_NEAR(own[3], label.second, 1e-3 * label.second);
    for (std::size_t i = 5; i < own.size(); i += 2) EXPECT_LE(own[i], own[i - 2]);
  }
  // Also the labels that were sampled, however improbable.
  for (const auto& tree : page.sentences[0].at("trees")) {
    for (std::size_t m = 1; m <= words_[3].size(); ++m) {
      const nlohmann::json& own = found.at({tree.at("heads")[m - 1], static_cast<int>(m)});
      EXPECT_NE(std::find(own.begin() + 2, own.end(), tree.at("labels")[m - 1]), own.end());
    }
  }
  EXPECT_FALSE(
      page_of(run("report " + kDemo + " --sentences 3:4").out).sentences[0].contains("labels"));
}

TEST_F(Views, ReportDoesNotGoToATerminal) {
  const Result refused = run_in_terminal("report " + kDemo, 80);
  EXPECT_TRUE(has(refused.out, "for example with -o report.html")) << refused.out;
  EXPECT_FALSE(has(refused.out, "<html")) << refused.out;
}

TEST_F(Views, ReportFetchesNothing) {
  const std::string html = run("report " + kDemo).out;
  std::string all = html;
  for (const auto& sentence : page_of(html).sentences) all += sentence.at("svg");
  for (const char* bad : {"src=", "href", "@import", "url(", "fetch(", "XMLHttp", "eval("}) {
    EXPECT_FALSE(has(all, bad)) << bad;
  }
  const std::string name = "http://www.w3.org/2000/svg";
  for (std::size_t at = 0; (at = all.find("http:", at)) != std::string::npos; ++at) {
    EXPECT_EQ(all.substr(at, name.size()), name);
  }
  EXPECT_FALSE(has(all, "https:"));
  EXPECT_TRUE(has(html, "default-src 'none'; script-src 'sha256-"));
}

TEST_F(Views, ReportEscapesWhatUsersWrite) {
  const std::string words = write(
      "w.txt", "a\nb\n</script><script>alert(1)</script> <!--<script> \"&'\x01\xf0\x9f\x98\x80\n");
  const Result result = run("report " + kData + "/demo.npz --sentences 2:3 --words " + words +
                            " --title '</title><script>alert(2)</script>{{about}}'");
  ASSERT_EQ(result.code, 0) << result.errors;
  const Page page = page_of(result.out);
  EXPECT_EQ(page.scripts, 4U);  // The options, the sentence's two, the page's own.
  EXPECT_FALSE(has(result.out, "alert(1)</script>"));
  EXPECT_FALSE(has(result.out, "<script>alert"));
  EXPECT_FALSE(has(result.out, "<!--<"));
  EXPECT_TRUE(
      has(result.out, "<title>&lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt;{{about}}"));
  EXPECT_EQ(page.sentences[0].at("words")[0], "</script><script>alert(1)</script>");
  EXPECT_EQ(page.sentences[0].at("words")[2], "\"&'<U+0001>\xf0\x9f\x98\x80");
  EXPECT_FALSE(has(page.sentences[0].at("svg"), "<script"));
}

TEST_F(Views, ReportShowsFailuresAmongTheOthers) {
  const Result result = run("report " + kDemo + " --force '1>8'");
  EXPECT_EQ(result.code, 1);
  const Page page = page_of(result.out);
  ASSERT_EQ(page.sentences.size(), sentences_.size());
  EXPECT_EQ(page.sentences[2].at("failed"), "bad_constraint");
  EXPECT_EQ(page.sentences[2].at("words").get<Strings>(), words_[2]);
  EXPECT_TRUE(has(page.sentences[2].at("message"), "sentence 2"));
  EXPECT_FALSE(page.sentences[0].contains("failed"));
  const std::string labels =
      " --labels " + kData + "/labels.txt --label-scores " + kData + "/demo_labels.npz";
  const Page labeled = page_of(run("report " + kDemo + labels).out);
  EXPECT_EQ(labeled.sentences[0].at("trees")[0].at("labels").size(), words_[0].size());
}

// Scores that say nothing: every edge is drawn, every sample a new tree. As large as it gets.
TEST_F(Views, ReportStaysSmall) {
  std::vector<float> scores(100 * 26 * 26);
  std::uint32_t state = 1;
  for (float& score : scores) {
    state = state * 1664525U + 1013904223U;
    score = static_cast<float>(state >> 8U) / static_cast<float>(1U << 23U);
  }
  const std::string file = write("s.npy", floats("(100, 26, 26)", scores));
  const std::string html = run("report " + file).out;
  EXPECT_EQ(page_of(html).sentences.size(), 100U);
  EXPECT_LT(html.size(), 3'000'000U);
}

}  // namespace
}  // namespace taproot::cli
