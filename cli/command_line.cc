// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "error.h"
#include "option_table.h"
#include "suggest.h"
#include "taproot/cuda.h"
#include "taproot/dependency_trees.h"
#include "taproot/version.h"

namespace taproot::cli {
namespace {

constexpr Format kNumbers[] = {Format::kJsonl, Format::kNpz, Format::kText};
constexpr Format kMarginals[] = {Format::kJsonl, Format::kNpz, Format::kTsv};
constexpr Format kTrees[] = {Format::kJsonl, Format::kNpz, Format::kConllu, Format::kText};
constexpr Format kSummaries[] = {Format::kText, Format::kJsonl};
constexpr Format kDrawings[] = {Format::kText, Format::kSvg, Format::kPng, Format::kPdf};
constexpr Format kPages[] = {Format::kHtml, Format::kPng, Format::kPdf};

constexpr Command kCommands[] = {
    {"logz", "compute the log-partition function", "taproot logz data/demo.npz", kNumbers,
     &run_logz},
    {"entropy", "compute the entropy in nats", "taproot entropy data/demo.npz --format text",
     kNumbers, &run_entropy},
    {"marginals", "compute the probability of every edge",
     "taproot marginals data/demo.npz --words data/demo.txt --threshold 0.05 -o edges.tsv",
     kMarginals, &run_marginals},
    {"argmax", "find the best tree",
     "taproot argmax data/demo.npz --words data/demo.txt --format text", kTrees, &run_argmax},
    {"sample", "sample trees with replacement", "taproot sample data/demo.npz -k 5 --seed 1",
     kTrees, &run_sample},
    {"swor", "sample trees without replacement, with Horvitz-Thompson weights",
     "taproot swor data/demo.npz -k 5 --sentences 0:1", kTrees, &run_swor},
    {"kbest", "find the k best trees in order", "taproot kbest data/demo.npz -k 3", kTrees,
     &run_kbest},
    {"mbr", "find the tree with the largest expected number of correct heads",
     "taproot mbr data/demo.npz", kTrees, &run_mbr},
    {"edges", "list the words whose heads are least certain",
     "taproot edges data/demo.npz --words data/demo.txt", kSummaries, &run_edges},
    {"show", "draw the best tree, samples or all edges in the terminal",
     "taproot show data/demo.npz --words data/demo.txt --sentences 0", kDrawings, &run_show},
    {"report", "write an HTML page with edges by probability, samples and uncertain words",
     "taproot report data/demo.npz --words data/demo.txt -o report.html", kPages, &run_report},
    {"info", "summarize files: lengths, entropy, probability of the best tree",
     "taproot info data/demo.npz", kSummaries, &run_info},
};

void add_trees(CLI::App& app, std::string& trees) {
  app.add_option("TREES", trees,
                 "read trees from a jsonl, npz or conllu file, or from standard input (-)")
      ->type_name("")
      ->required();
}

void add_eval(CLI::App& app, EvalOptions& options) {
  add_trees(app, options.trees);
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
  add_trees(app, options.trees);
  add_output(app, options.output, options.format_name, kTrees);
  app.add_option("--words", options.words,
                 "read words from FILE (.conllu, or text with a sentence per line)")
      ->type_name("FILE");
  app.footer("Example: taproot convert trees.jsonl -o trees.npz");
}

// Refuses what cannot be written there, before any work.
Format checked_format(std::span<const Format> formats, const std::string& name,
                      const std::string& output) {
  const Format format = chosen_format(formats, name, output);
  if (!output.empty()) return format;
  if (format == Format::kNpz) {
    fail("an .npz archive cannot be written to standard output; name a file with -o");
  }
  if ((format == Format::kPng || format == Format::kPdf) && isatty(STDOUT_FILENO) != 0) {
    fail("a {} picture cannot be shown in a terminal; name a file with -o", to_string(format));
  }
  return format;
}

int run_checked(const Command& command, Options& options) {
  options.format = checked_format(command.formats, options.format_name, options.output);
  if (options.format == Format::kConllu && options.words.empty()) {
    fail("the scores come without words, and CoNLL-U needs them; name a file with --words");
  }
  return command.run(options);
}

[[noreturn]] void refuse_command(const std::string& typed, const std::vector<std::string>& names) {
  if (const std::string meant = closest(typed, names); !meant.empty()) {
    fail("there is no command '{}'; did you mean '{}'?", typed, meant);
  }
  if (std::filesystem::exists(typed)) {
    fail("the command comes before the file, for example: taproot info {}", typed);
  }
  fail("there is no command '{}'; the commands are {}", typed, fmt::join(names, ", "));
}

// Says what is wrong with the arguments of a command.
std::string usage_message(const CLI::App& command, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (const std::string& argument : command.remaining()) {
    const std::string typed = argument.substr(0, argument.find('='));
    if (!typed.starts_with('-') || typed == "-") continue;
    const std::string meant = closest(typed, options);
    return fmt::format("there is no option {}{}", typed,
                       meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
  }
  return fmt::format("there is one argument too many: '{}'", command.remaining().front());
}

// For bug reports. The first line is the version alone, for scripts.
std::string version_text() {
  return fmt::format("{}\nbuild: {}\ninstruction set: {}\nthreads: {}\nCUDA: {}", TAPROOT_VERSION,
                     build_description(), instruction_set(), Pool().threads(), cuda_description());
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Exact inference over distributions of dependency trees", "taproot"};
  app.set_version_flag("--version", version_text, "print the version and exit");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(1);
  app.footer("Example: taproot sample data/demo.npz -k 3 --words data/demo.txt --format text");
  std::function<int()> action;

  std::vector<Options> options(std::size(kCommands));
  for (std::size_t i = 0; i < std::size(kCommands); ++i) {
    CLI::App* const sub = app.add_subcommand(kCommands[i].name, kCommands[i].what);
    add_options(*sub, options[i], kCommands[i]);
    sub->callback([&, i] { action = [&, i] { return run_checked(kCommands[i], options[i]); }; });
  }
  EvalOptions eval;
  CLI::App* const sub_eval =
      app.add_subcommand("eval", "compare trees with gold trees (UAS, LAS, exact match)");
  add_eval(*sub_eval, eval);
  sub_eval->callback([&] { action = [&] { return run_eval(eval); }; });
  ConvertOptions convert;
  CLI::App* const sub_convert = app.add_subcommand("convert", "write trees in another format");
  add_convert(*sub_convert, convert);
  sub_convert->callback([&] {
    action = [&] {
      convert.format = checked_format(kTrees, convert.format_name, convert.output);
      return run_convert(convert);
    };
  });

  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  const std::string typed = argc > 1 ? argv[1] : "";
  const bool is_command = std::ranges::find(names, typed) != names.end();
  if (!typed.empty() && !typed.starts_with('-') && !is_command) refuse_command(typed, names);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version.
    if (!is_command && typed.starts_with('-')) {
      fail("there is no option {} before a command; 'taproot --help' lists the commands", typed);
    }
    if (!is_command) {
      fail("name a command, one of {}; 'taproot --help' describes them", fmt::join(names, ", "));
    }
    fail("{1}: {0}\nRun 'taproot {1} --help' for its options.",
         usage_message(*app.get_subcommand(typed), error), typed);
  }
  return action();
}

}  // namespace taproot::cli
