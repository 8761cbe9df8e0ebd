// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <concepts>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "commands/commands.h"
#include "parse.h"
#include "taproot/version.h"

namespace taproot::cli {
namespace {

struct Command {
  const char* name;
  const char* what;
  const char* example;
  int (*run)(const Options&);
};

constexpr Command kCommands[] = {
    {"logz", "compute the log-partition function", "taproot logz data/demo.npz", &run_logz},
    {"entropy", "compute the entropy in nats", "taproot entropy data/demo.npz --format text",
     &run_entropy},
    {"marginals", "compute the probability of every edge",
     "taproot marginals data/demo.npz -o marginals.npz", &run_marginals},
    {"argmax", "find the best tree",
     "taproot argmax data/demo.npz --words data/demo.txt --format text", &run_argmax},
    {"sample", "sample trees with replacement", "taproot sample data/demo.npz -k 5 --seed 1",
     &run_sample},
    {"swor", "sample trees without replacement, with Horvitz-Thompson weights",
     "taproot swor data/demo.npz -k 5 --sentences 0:1", &run_swor},
    {"kbest", "find the k best trees in order", "taproot kbest data/demo.npz -k 3", &run_kbest},
    {"mbr", "find the tree with the largest expected number of correct heads",
     "taproot mbr data/demo.npz", &run_mbr},
    {"edges", "list the words whose heads are least certain",
     "taproot edges data/demo.npz --words data/demo.txt", &run_edges},
    {"show", "draw the best tree, samples or all edges in the terminal",
     "taproot show data/demo.npz --words data/demo.txt --sentences :1", &run_show},
    {"report", "write an HTML page with edges by probability, samples and uncertain words",
     "taproot report data/demo.npz --words data/demo.txt -o report.html", &run_report},
    {"info", "summarize files: lengths, entropy, probability of the best tree",
     "taproot info data/demo.npz", &run_info},
};

using Choices = std::vector<std::string>;

const Choices kFormats = {"jsonl", "npz", "conllu", "text"};
const Choices kSampleAlgorithms = {"auto",          "elimination", "wilson",   "wilson-marginal",
                                   "wilson-reject", "colbourn",    "wilson-rc"};
const Choices kSworAlgorithms = {"auto", "trie", "beam", "list"};

// Adds the options of one command. CLI11's own numbers are not used: it reads 010 as octal and
// clamps numbers that are out of range.
class OptionTable {
 public:
  OptionTable(CLI::App& app, Options& options, const Command& command)
      : app_(app), o_(options), command_(command) {}

  void add() {
    app_.add_option("FILE", o_.files,
                    "read scores from .npy or .npz files; several files are one list of sentences")
        ->type_name("")
        ->required();
    add_own();
    add_common();
    app_.footer(fmt::format("Example: {}", command_.example));
  }

 private:
  bool is(std::initializer_list<int (*)(const Options&)> commands) const {
    return std::find(commands.begin(), commands.end(), command_.run) != commands.end();
  }

  template <std::integral T>
  CLI::Option* integer(const std::string& names, T& out, std::uint64_t least, std::uint64_t most,
                       const std::string& help) {
    const std::string name = names.substr(names.find("--"));
    return app_
        .add_option_function<std::string>(
            names,
            [&out, name, least, most](const std::string& text) {
              out = static_cast<T>(parse_integer(name, text, least, most));
            },
            help)
        ->type_name("N")
        ->default_str(fmt::format("{}", out));
  }

  void real(const std::string& name, double& out, const std::string& help) {
    app_.add_option_function<std::string>(
            name, [&out, name](const std::string& text) { out = parse_real(name, text, 0, 1); },
            help)
        ->type_name("P")
        ->default_str(fmt::format("{}", out));
  }

  void choice(const std::string& name, std::string& out, const Choices& choices,
              const std::string& help) {
    CLI::Option* const option =
        app_.add_option(name, out, help)->type_name("NAME")->check(CLI::IsMember(choices));
    if (!out.empty()) option->capture_default_str();
  }

  void file(const std::string& names, std::string& out, const std::string& help) {
    app_.add_option(names, out, help)->type_name("FILE");
  }

  // Options that only some commands have.
  void add_own() {
    constexpr std::uint64_t kMostTrees = std::uint64_t{1} << 30;
    const bool shows = is({&run_show});
    const bool reports = is({&run_report});
    const bool samples = is({&run_sample, &run_swor, &run_show, &run_report});
    if (reports) o_.k = 100;
    if (samples || is({&run_kbest})) {
      CLI::Option* const k = integer("-k,--samples", o_.k, 1, kMostTrees,
                                     shows     ? "show N sampled trees instead of the best tree"
                                     : reports ? "sample N trees per sentence"
                                               : "write N trees per sentence");
      k->each([&o = o_](const std::string&) { o.has_k = true; });
      if (shows) k->default_str("");
    }
    if (shows || reports) {
      real("--threshold", o_.threshold,
           reports ? "set where the slider of the page starts, and which edges bear numbers"
                   : "with --marginals, leave out edges that are less probable");
    }
    if (shows) {
      app_.add_flag("--marginals", o_.marginals, "draw all edges by their probability");
      choice("--color", o_.color, {"auto", "always", "never"},
             "use colors; auto means on a terminal if NO_COLOR is not set");
      integer("--width", o_.width, 20, std::uint64_t{1} << 20,
              "draw lines of N cells (default: the width of the terminal, or 80)")
          ->default_str("");
    }
    if (reports) {
      real("--floor", o_.floor, "leave out edges that are less probable, and count them");
      app_.add_option("--title", o_.title,
                      "set the title of the page (default: the names of the files)");
    }
    if (samples) {
      choice("--algorithm", o_.algorithm, is({&run_swor}) ? kSworAlgorithms : kSampleAlgorithms,
             is({&run_swor}) ? "choose the sampling algorithm"
                             : "choose the sampling algorithm; wilson-rc is biased");
      integer("--seed", o_.seed, 0, std::numeric_limits<std::uint64_t>::max(),
              "choose the random numbers; threads do not change what a seed gives");
    }
    if (is({&run_edges})) integer("--top", o_.top, 0, 1 << 30, "list N words per sentence");
  }

  void add_common() {
    app_.add_option_function<std::string>(
            "--root",
            [&o = o_](const std::string& name) {
              o.root = name == "single" ? RootRule::kSingle : RootRule::kMulti;
            },
            "allow exactly one edge out of ROOT, or any number of them")
        ->type_name("NAME")
        ->check(CLI::IsMember({"single", "multi"}))
        ->default_str("single");
    app_.add_flag("--weights", o_.weights, "read weights instead of scores, which are their logs");
    integer("--threads", o_.threads, 0, 4096, "use N threads; 0 means one per core");
    if (is({&run_logz, &run_entropy, &run_marginals, &run_sample, &run_swor})) {
      app_.add_option_function<std::string>(
              "--device",
              [&o = o_](const std::string& name) {
                o.device = name == "cuda" ? Device::kCuda : Device::kCpu;
              },
              "compute on the CPU or on a GPU, where sample needs auto and swor beam")
          ->type_name("NAME")
          ->check(CLI::IsMember({"cpu", "cuda"}))
          ->default_str("cpu");
    }
    file("--lengths", o_.lengths,
         "read the lengths of a padded batch from FILE (.npy of integers, or text)");
    if (is({&run_sample, &run_swor, &run_show, &run_report})) {
      file("--ids", o_.ids,
           "read the 64-bit ids that samples are keyed by from FILE (.npy of integers, or text)");
    }
    file("--words", o_.words, "read words from FILE (.conllu, or text with a sentence per line)");
    file("--labels", o_.labels, "read the names of labels from FILE, one per line");
    file("--label-scores", o_.label_scores,
         "read label scores from FILE (.npz with label_scores and lengths)");
    add_constraints();
    file("-o,--output", o_.output, "write to FILE (default: standard output)");
    const char* const by_ending = "choose the format (default: by the ending of the output)";
    if (is({&run_show})) {
      choice("--format", o_.format, {"text", "svg"}, by_ending);
    } else if (!is({&run_report, &run_edges, &run_info})) {
      choice("--format", o_.format, kFormats, by_ending);
    }
    app_.add_option_function<std::string>(
            "--sentences",
            [&o = o_](const std::string& text) {
              std::tie(o.first, o.last) = parse_slice("--sentences", text);
            },
            "read only sentences A to B-1")
        ->type_name("A:B");
    app_.add_flag("--quiet", o_.quiet, "show no progress on standard error");
    app_.add_flag("--progress", o_.progress,
                  "show progress even if standard error is not a terminal");
  }

  void add_constraints() {
    app_.add_option_function<std::vector<std::string>>(
            "--force",
            [&o = o_](const std::vector<std::string>& edges) {
              for (const std::string& text : edges) {
                const auto [head, modifier] = parse_edge("--force", text);
                o.constraints.force(head, modifier);
              }
            },
            "require this edge in every tree")
        ->type_name("HEAD>MODIFIER")
        ->allow_extra_args(false);
    app_.add_option_function<std::vector<std::string>>(
            "--forbid",
            [&o = o_](const std::vector<std::string>& edges) {
              for (const std::string& text : edges) {
                const auto [head, modifier] = parse_edge("--forbid", text);
                o.constraints.forbid(head, modifier);
              }
            },
            "exclude this edge from every tree")
        ->type_name("HEAD>MODIFIER")
        ->allow_extra_args(false);
    app_.add_option_function<std::string>(
            "--roots",
            [&o = o_](const std::string& text) {
              o.constraints.allow_roots(parse_words("--roots", text));
            },
            "allow edges out of ROOT to these words only")
        ->type_name("WORD,...");
  }

  CLI::App& app_;
  Options& o_;
  const Command& command_;
};

void add_eval(CLI::App& app, EvalOptions& options) {
  app.add_option("TREES", options.trees, "read trees from a jsonl, npz or conllu file")
      ->type_name("")
      ->required();
  app.add_option("--gold", options.gold, "read gold trees from FILE (.conllu)")
      ->type_name("FILE")
      ->required();
  app.add_option("--over", options.over,
                 "of several trees per sentence, use the most probable one, or the mean over all")
      ->type_name("NAME")
      ->check(CLI::IsMember({"best", "mean"}))
      ->capture_default_str();
  app.footer("Example: taproot eval trees.jsonl --gold gold.conllu");
}

void add_convert(CLI::App& app, ConvertOptions& options) {
  app.add_option("TREES", options.trees, "read trees from a jsonl, npz or conllu file")
      ->type_name("")
      ->required();
  app.add_option("-o,--output", options.output, "write to FILE (default: standard output)")
      ->type_name("FILE");
  app.add_option("--format", options.format,
                 "choose the format (default: by the ending of the output)")
      ->type_name("NAME")
      ->check(CLI::IsMember(kFormats));
  app.add_option("--words", options.words,
                 "read words from FILE (.conllu, or text with a sentence per line)")
      ->type_name("FILE");
  app.footer("Example: taproot convert trees.jsonl -o trees.npz");
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Exact inference over distributions of dependency trees", "taproot"};
  app.set_version_flag("--version", TAPROOT_VERSION, "print the version and exit");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(1);
  app.footer("Example: taproot sample data/demo.npz -k 3 --words data/demo.txt --format text");
  std::function<int()> action;

  std::vector<Options> options(std::size(kCommands));
  for (std::size_t i = 0; i < std::size(kCommands); ++i) {
    CLI::App* const sub = app.add_subcommand(kCommands[i].name, kCommands[i].what);
    OptionTable(*sub, options[i], kCommands[i]).add();
    sub->callback([&, i] { action = [&, i] { return kCommands[i].run(options[i]); }; });
  }
  EvalOptions eval;
  CLI::App* const sub_eval =
      app.add_subcommand("eval", "compare trees with gold trees (UAS, LAS, exact match)");
  add_eval(*sub_eval, eval);
  sub_eval->callback([&] { action = [&] { return run_eval(eval); }; });
  ConvertOptions convert;
  CLI::App* const sub_convert = app.add_subcommand("convert", "write trees in another format");
  add_convert(*sub_convert, convert);
  sub_convert->callback([&] { action = [&] { return run_convert(convert); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kAllFine : kUsage;
  }
  return action();
}

}  // namespace taproot::cli
