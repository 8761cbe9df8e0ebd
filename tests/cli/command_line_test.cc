// SPDX-License-Identifier: Apache-2.0
//
// What the command line accepts and refuses, and whether its help, manual and completions agree.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "program.h"

namespace taproot::cli {
namespace {

const std::string kData = kDataFolder;

TEST_F(Cli, RefusesWhatMakesNoSense) {
  const std::string demo = kData + "/demo.npz";
  const std::pair<std::string, std::string> cases[] = {
      {"", "name a command, one of logz, entropy,"},
      {"fly " + demo, "there is no command 'fly'; the commands are logz, entropy,"},
      {demo, "the command comes before the file, for example: taproot info " + demo},
      {"--quiet logz " + demo, "no option --quiet before a command"},
      {"logz", "FILE"},
      {"logz nothing.npz", "nothing.npz"},
      {"logz " + kData, kData},
      {"logz " + kData + "/demo.txt", "demo.txt"},
      {"logz " + demo + " --root both", "--root"},
      {"logz " + demo + " --format conllu", "conllu"},
      {"marginals " + demo + " --format text", "marginals"},
      {"logz " + demo + " --format xml", "--format"},
      {"logz " + demo + " --threads -1", "--threads"},
      {"logz " + demo + " --sentences 24", "sentence 24 is not in the input, whose 24 sentences"},
      {"sample " + demo + " --sentences 30:40", "sentences 30:40 are not in the input"},
      {"marginals " + demo + " --sentences 24:", "numbered 0 to 23"},
      {"logz " + demo + " --sentences 5:5", "the range '5:5' is empty"},
      {"logz " + demo + " --sentences 5:3", "5:3"},
      {"logz " + demo + " --sentences a:b", "a:b"},
      {"logz " + demo + " --force 3", "HEAD:MODIFIER"},
      {"logz --force " + demo, "HEAD:MODIFIER"},
      {"logz " + demo + " --constraints nothing.txt", "nothing.txt"},
      {"logz " + demo + " --force '3>3'", "3>3"},
      {"logz " + demo + " --forbid 'x>3'", "x>3"},
      {"logz " + demo + " --roots 0", "--roots"},
      {"logz " + demo + " --roots 1,,2", "--roots"},
      {"sample " + demo + " -k 0", "--samples"},
      {"sample " + demo + " --algorithm gibbs", "gibbs"},
      {"sample " + demo + " --algorithm wilson", "wilson"},
      {"swor " + demo + " --algorithm wilson", "wilson"},
      {"edges " + demo + " --format npz", "--format"},
      {"info " + demo + " --format conllu", "--format"},
      {"report " + demo + " --format svg", "--format"},
      {"marginals " + demo + " --threshold 2", "--threshold"},
      {"report " + demo + " --floor nan", "--floor"},
      {"sample " + demo + " --format npz", "npz"},
      {"sample " + demo + " --format conllu", "words"},
      {"sample " + demo + " --words nothing.txt", "nothing.txt"},
      {"sample " + demo + " --words " + kData + "/labels.txt", "labels.txt"},
      {"sample " + demo + " --labels " + kData + "/labels.txt",
       "--labels is given without --label-scores"},
      {"sample " + demo + " --label-scores " + kData + "/demo_labels.npz",
       "--label-scores is given without --labels"},
      {"sample " + demo + " --labels " + kData + "/demo.txt --label-scores " + kData +
           "/demo_labels.npz",
       "demo.txt"},
      {"sample " + demo + " -o /nowhere/at/all.jsonl", "/nowhere/at/all.jsonl"},
      {"show " + demo + " -k 2 --marginals", "choose"},
      {"show " + demo + " --width 19", "--width"},
      {"show " + demo + " --color sometimes", "--color"},
      {"show " + demo + " --threshold 2", "--threshold"},
      {"show " + demo + " --format svg", "one drawing"},
      {"show " + demo + " --format jsonl", "--format"},
      {"show " + demo + " -k 1 --algorithm gibbs", "gibbs"},
      {"report " + demo + " --floor -1", "--floor"},
      {"report " + demo + " --algorithm gibbs", "gibbs"},
      {"report " + demo + " --words nothing.txt", "nothing.txt"},
      {"report " + demo + " -o /nowhere/at/all.html", "/nowhere/at/all.html"},
      {"eval " + demo + " --gold " + demo, "demo.npz"},
      {"convert " + kData + "/demo.txt -o x.npz", "demo.txt"},
  };
  for (const auto& [arguments, fragment] : cases) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.out << result.errors;
    EXPECT_NE((result.errors + result.out).find(fragment), std::string::npos)
        << arguments << "\n"
        << result.errors << result.out;
  }
}

TEST_F(Cli, SuggestsWhatWasMeant) {
  const std::string demo = " " + kData + "/demo.npz";
  const std::pair<std::string, std::string> cases[] = {
      {"sampel" + demo, "there is no command 'sampel'; did you mean 'sample'?"},
      {"marginal" + demo, "did you mean 'marginals'?"},
      {"sample" + demo + " --sed 3", "sample: there is no option --sed; did you mean --seed?"},
      {"sample" + demo + " --sentence 3", "did you mean --sentences?"},
      {"logz" + demo + " --qqqq", "logz: there is no option --qqqq\n"},
      {"eval a.jsonl b.jsonl --gold g.conllu", "eval: there is one argument too many: 'b.jsonl'"},
  };
  for (const auto& [arguments, fragment] : cases) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_TRUE(result.out.empty()) << result.out;
    EXPECT_NE(result.errors.find(fragment), std::string::npos) << result.errors;
  }
}

// Nothing is written that its name does not say, and nothing is read before that is known.
TEST_F(Cli, RefusesEndingsThatACommandCannotWrite) {
  const std::pair<std::string, std::string> cases[] = {
      {"logz", "conllu"},   {"logz", "tsv"},   {"entropy", "svg"}, {"marginals", "conllu"},
      {"marginals", "txt"}, {"argmax", "foo"}, {"argmax", "json"}, {"sample", "jsonl.gz"},
      {"swor", "tsv"},      {"kbest", "csv"},  {"mbr", "npy"},     {"edges", "npz"},
      {"edges", "tsv"},     {"show", "jpg"},   {"show", "html"},   {"report", "svg"},
      {"report", "txt"},    {"info", "npz"},
  };
  for (const auto& [command, ending] : cases) {
    const std::string out = file("out." + ending);
    const Result result = run(command + " nothing.npz -o " + out);
    EXPECT_EQ(result.code, 2) << command << ending;
    EXPECT_NE(result.errors.find(out + " ends in ."), std::string::npos) << result.errors;
    EXPECT_NE(result.errors.find("let it end in one of"), std::string::npos) << result.errors;
    EXPECT_FALSE(std::filesystem::exists(out));
  }
  const Result both = run("show nothing.npz --format png -o " + file("a.svg"));
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.errors.find("a.svg ends in .svg, but --format says png"), std::string::npos);
  EXPECT_EQ(run("convert nothing.jsonl -o " + file("a.tsv")).code, 2);
  // An ending that we do not know is fine with a format, and so is none at all.
  const std::string argmax = "argmax " + kData + "/demo.npz ";
  EXPECT_EQ(run(argmax + "--format jsonl -o " + file("a.foo")).code, 0);
  EXPECT_EQ(run(argmax + "-o " + file("plain")).code, 0);
  EXPECT_EQ(run(argmax + "-o " + file("A.JSONL")).code, 0);
  EXPECT_EQ(contents(file("a.foo")), contents(file("plain")));
  EXPECT_EQ(contents(file("A.JSONL")), contents(file("plain")));
  EXPECT_EQ(run(argmax + "-o -").out, contents(file("plain")));
  EXPECT_NE(run("sample nothing.npz --format npz").errors.find("name a file with -o"),
            std::string::npos);
  EXPECT_NE(run("sample nothing.npz --format conllu").errors.find("--words"), std::string::npos);
}

// Whatever stands before it, a file is read.
TEST_F(Cli, NoOptionSwallowsTheFileThatFollows) {
  std::ofstream(file("constraints")) << "0 force 2:1\n";
  const std::string values[] = {"--force 2:1",
                                "--force 2:1 --force 4:3",
                                "--forbid 0:1",
                                "--roots 2,4",
                                "--constraints " + file("constraints"),
                                "--sentences 0",
                                "--first-sentence 0",
                                "--root multi",
                                "--threads 1",
                                "--words " + kData + "/demo.txt",
                                "--weights=false",
                                "--format jsonl",
                                "--seed 3",
                                "-k 2",
                                "--algorithm auto",
                                "--quiet",
                                "--progress"};
  for (const std::string& value : values) {
    const std::string first = "sample " + value + " " + kData + "/demo.npz";
    const std::string last = "sample " + kData + "/demo.npz " + value;
    const Result result = run(first);
    EXPECT_FALSE(result.out.empty()) << value << result.errors;
    EXPECT_EQ(result.out, run(last).out) << value;
  }
}

TEST_F(Cli, HelpSaysWhatConstraintsAndSeedsApplyTo) {
  std::string help = run("sample --help").out;
  for (std::size_t at = 0; (at = help.find_first_of(" \n", at)) != std::string::npos; ++at) {
    const std::size_t end = help.find_first_not_of(" \n", at);
    if (end != std::string::npos) help.replace(at, end - at, " ");
  }
  for (const char* const said :
       {"--force HEAD:MODIFIER require this edge in every tree of every sentence",
        "--forbid HEAD:MODIFIER exclude this edge from every tree of every sentence",
        "to these words only, in every sentence",
        "--constraints FILE read constraints of single sentences from FILE",
        "choose the random numbers; the default is 0"}) {
    EXPECT_NE(help.find(said), std::string::npos) << said << "\n" << help;
  }
}

TEST_F(Cli, HelpHasExamplesThatWork) {
  const Result help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (const std::string command : {"logz", "entropy", "marginals", "argmax", "sample", "swor",
                                    "kbest", "mbr", "info", "edges", "show", "report"}) {
    const Result own = run(command + " --help");
    EXPECT_EQ(own.code, 0);
    EXPECT_NE(help.out.find(command), std::string::npos);
    const std::size_t at = own.out.find("Example: taproot ");
    ASSERT_NE(at, std::string::npos) << command;
    std::string example = own.out.substr(at + 17);
    example = example.substr(0, example.find('\n'));
    for (std::size_t i = 0; (i = example.find("data/", i)) != std::string::npos;
         i += kData.size() + 1) {
      example.replace(i, 5, kData + "/");
    }
    if (const std::size_t o = example.find("-o "); o != std::string::npos) {
      example = example.substr(0, o + 3) + file(example.substr(o + 3));
    }
    const Result result = run(example);
    EXPECT_EQ(result.code, 0) << example << "\n" << result.errors;
  }
}

TEST_F(Cli, IntegersAreDecimalAndNeverClamped) {
  const std::string sample = "sample " + kData + "/demo.npz --sentences :3 ";
  for (const std::string bad : {"18446744073709551616", "99999999999999999999999", "-1", "abc",
                                "0x10", "1e3", "1.5", "''", "' 1'", "+1", "1,000"}) {
    const Result result = run(sample + "--seed " + bad);
    EXPECT_EQ(result.code, 2) << bad;
    EXPECT_NE(result.errors.find("--seed: '"), std::string::npos) << bad << result.errors;
    EXPECT_NE(result.errors.find("from 0 to 18446744073709551615"), std::string::npos) << bad;
  }
  EXPECT_EQ(run(sample + "--seed 010").out, run(sample + "--seed 10").out);
  EXPECT_NE(run(sample + "--seed 010").out, run(sample + "--seed 8").out);
  EXPECT_NE(run(sample + "--seed 18446744073709551615").out,
            run(sample + "--seed 18446744073709551614").out);
  EXPECT_EQ(run(sample + "-k 012").out, run(sample + "-k 12").out);
  for (const std::string bad : {"-k 0", "-k 1073741825", "-k 0x2", "-k 4294967297",
                                "--threads 5000", "--threads -1", "--threads 0b1"}) {
    EXPECT_EQ(run(sample + bad).code, 2) << bad;
  }
  EXPECT_EQ(run("edges " + kData + "/demo.npz --top 03").out,
            run("edges " + kData + "/demo.npz --top 3").out);
  EXPECT_EQ(run("edges " + kData + "/demo.npz --top -1").code, 2);
  EXPECT_EQ(run("show " + kData + "/demo.npz --width 0x50").code, 2);
}

// The names in "NAME:{a,b,c}", separated by blanks; empty if the option is not a choice.
std::string choices_in(const std::string& help) {
  const std::size_t begin = help.find(":{");
  if (begin == std::string::npos) return "";
  std::string names = help.substr(begin + 2, help.find('}', begin) - begin - 2);
  for (char& c : names) c = c == ',' ? ' ' : c;
  return names;
}

// The line of `text` that holds both pieces.
std::string line_with(const std::string& text, const std::string& one, const std::string& two) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find(one) != std::string::npos && line.find(two) != std::string::npos) return line;
  }
  return "";
}

// The line of fish's completions that holds `option` and names the command.
std::string fish_line_of(const std::string& fish, const std::string& command,
                         const std::string& option) {
  const std::string begin = "__fish_seen_subcommand_from ";
  std::istringstream in(fish);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(begin);
    if (at == std::string::npos || line.find(option) == std::string::npos) continue;
    const std::size_t end = line.find('\'', at);
    const std::string names = line.substr(at + begin.size() - 1, end - at - begin.size() + 1) + " ";
    if (names.find(" " + command + " ") != std::string::npos) return line;
  }
  return "";
}

// The part of `text` from `begin` up to `end`.
std::string part(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return "";
  return text.substr(at, text.find(end, at + begin.size()) - at);
}

std::string in_roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '-' ? std::string("\\-") : std::string(1, c);
  return escaped;
}

// Everything that --help of a command lists, the manual and the completions know, choices included.
TEST_F(Cli, TheManualAndTheCompletionsAreComplete) {
  const std::string cli = kData + "/../cli/";
  const std::string manual = contents(cli + "taproot.1");
  const std::string bash = contents(cli + "completions/taproot.bash");
  const std::string zsh = contents(cli + "completions/_taproot");
  const std::string fish = contents(cli + "completions/taproot.fish");
  std::istringstream help(run("--help").out);
  bool commands = false;
  int options = 0;
  int choices = 0;
  for (std::string line; std::getline(help, line);) {
    if (line == "Subcommands:") commands = true;
    if (!commands || line.compare(0, 2, "  ") != 0 || line[2] == ' ') continue;
    const std::string command = line.substr(2, line.find(' ', 2) - 2);
    const std::string what = line.substr(line.find_first_not_of(' ', 2 + command.size()));
    SCOPED_TRACE(command);
    EXPECT_NE(manual.find(".B " + command + "\n" + in_roff(what)), std::string::npos) << what;
    EXPECT_NE(fish.find("-a " + command + " -d '" + what), std::string::npos) << what;
    const std::string in_bash = line_with(bash, " " + command + ") options=", "");
    const std::string in_zsh = part(zsh, "    " + command + ")\n", ";;");
    std::istringstream own(run(command + " --help").out);
    for (std::string row; std::getline(own, row);) {
      const std::size_t at = row.find("--");
      if (row.compare(0, 3, "  -") != 0 || at == std::string::npos) continue;
      const std::string option = row.substr(at + 2, row.find_first_of(" ,", at) - at - 2);
      SCOPED_TRACE(option);
      ++options;
      const std::string paragraph = part(manual, in_roff("--" + option), ".TP");
      const std::string zsh_line = line_with(in_zsh, "'--" + option + "[", "");
      const std::string fish_line = fish_line_of(fish, command, " -l " + option + " ");
      EXPECT_FALSE(paragraph.empty());
      EXPECT_NE(in_bash.find("--" + option), std::string::npos);
      EXPECT_FALSE(zsh_line.empty());
      EXPECT_FALSE(fish_line.empty());
      const std::string names = choices_in(row);
      if (names.empty()) continue;
      ++choices;
      EXPECT_NE(bash.find('"' + names + '"'), std::string::npos) << names;
      EXPECT_NE(zsh_line.find("(" + names + ")"), std::string::npos) << zsh_line;
      EXPECT_NE(fish_line.find("-a '" + names + "'"), std::string::npos) << fish_line;
      std::istringstream each(names);
      for (std::string name; each >> name;) {
        EXPECT_NE(paragraph.find(in_roff(name)), std::string::npos) << name;
      }
    }
  }
  EXPECT_GT(options, 100);
  EXPECT_GT(choices, 30);
}

}  // namespace
}  // namespace taproot::cli
