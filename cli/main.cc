// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <exception>
#include <functional>
#include <string>

#include "commands/commands.h"
#include "error.h"
#include "taproot/sample.h"
#include "taproot/without_replacement.h"

namespace taproot::cli {
namespace {

// What CLI11 fills before it becomes Options.
struct Raw {
  Options options;
  std::string root = "single";
  std::string device = "cpu";
  std::string slice;
  std::vector<std::string> force;
  std::vector<std::string> forbid;
  std::string roots;
  bool has_roots = false;
};

std::int64_t number(std::string_view text, const std::string& whole, const char* what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    fail("{}: '{}' is no number", what, whole);
  }
  return value;
}

// 'h>m'
std::pair<int, int> edge(const std::string& text, const char* option) {
  const std::size_t at = text.find('>');
  if (at == std::string::npos)
    fail("{} takes head>modifier, as in 0>2, and not '{}'", option, text);
  const auto head = number(std::string_view(text).substr(0, at), text, option);
  const auto modifier = number(std::string_view(text).substr(at + 1), text, option);
  constexpr std::int64_t kMost = 1 << 30;
  if (head > kMost || modifier > kMost || modifier == 0 || head == modifier) {
    fail("{}: {} is no edge from ROOT (0) or a word to another word", option, text);
  }
  return {static_cast<int>(head), static_cast<int>(modifier)};
}

Options finished(Raw& raw) {
  Options options = raw.options;
  options.root = raw.root == "single" ? RootRule::kSingle : RootRule::kMulti;
  options.device = device_named(raw.device);
  for (const std::string& text : raw.force) {
    const auto [head, modifier] = edge(text, "--force");
    options.constraints.force(head, modifier);
  }
  for (const std::string& text : raw.forbid) {
    const auto [head, modifier] = edge(text, "--forbid");
    options.constraints.forbid(head, modifier);
  }
  if (raw.has_roots) {
    std::vector<std::int32_t> roots;
    for (std::size_t begin = 0; begin <= raw.roots.size();) {
      const std::size_t end = std::min(raw.roots.find(',', begin), raw.roots.size());
      const auto word = number(raw.roots.substr(begin, end - begin), raw.roots, "--roots");
      if (word == 0 || word > 1 << 30) fail("--roots: {} is no word", word);
      roots.push_back(static_cast<std::int32_t>(word));
      begin = end + 1;
    }
    options.constraints.allow_roots(roots);
  }
  if (!raw.slice.empty()) {
    const std::size_t at = raw.slice.find(':');
    if (at == std::string::npos) fail("--sentences takes A:B, and not '{}'", raw.slice);
    const std::string first = raw.slice.substr(0, at);
    const std::string last = raw.slice.substr(at + 1);
    if (!first.empty()) {
      options.first = static_cast<std::size_t>(number(first, raw.slice, "--sentences"));
    }
    if (!last.empty()) {
      options.last = static_cast<std::size_t>(number(last, raw.slice, "--sentences"));
    }
    if (options.last < options.first) fail("--sentences: {} ends before it begins", raw.slice);
  }
  return options;
}

struct Command {
  const char* name;
  const char* what;
  const char* example;
  int (*run)(const Options&);
  bool trees;    // Has -k.
  bool samples;  // Has --algorithm and --seed.
  bool device;   // Has --device.
};

constexpr Command kCommands[] = {
    {"logz", "the log-partition function", "taproot logz data/demo.npz", &run_logz, false, false,
     true},
    {"entropy", "the entropy, in nats", "taproot entropy data/demo.npz --format text", &run_entropy,
     false, false, false},
    {"marginals", "the probability of every edge",
     "taproot marginals data/demo.npz -o marginals.npz", &run_marginals, false, false, true},
    {"argmax", "the best tree", "taproot argmax data/demo.npz --words data/demo.txt --format text",
     &run_argmax, false, false, false},
    {"sample", "trees drawn with replacement", "taproot sample data/demo.npz -k 5 --seed 1",
     &run_sample, true, true, true},
    {"swor", "trees drawn without replacement, with Horvitz-Thompson weights",
     "taproot swor data/demo.npz -k 5 --sentences 0:1", &run_swor, true, true, true},
    {"kbest", "the k best trees, in order", "taproot kbest data/demo.npz -k 3", &run_kbest, true,
     false, false},
    {"mbr", "the tree with the largest expected number of right heads", "taproot mbr data/demo.npz",
     &run_mbr, false, false, false},
    {"edges", "the words that a parser is least certain of, and their heads",
     "taproot edges data/demo.npz --words data/demo.txt", &run_edges, false, false, false},
    {"show", "draws trees in the terminal: the best, samples, or all edges by probability",
     "taproot show data/demo.npz --words data/demo.txt --sentences :1", &run_show, true, true,
     false},
    {"report", "one page for a browser: edges by probability, samples, doubts",
     "taproot report data/demo.npz --words data/demo.txt -o report.html", &run_report, true, true,
     false},
    {"info", "what a file holds: lengths, entropy, how peaked", "taproot info data/demo.npz",
     &run_info, false, false, false},
};

void add_options(CLI::App& app, Raw& raw, const Command& command) {
  Options& o = raw.options;
  app.add_option("FILE", o.files, "scores: .npy or .npz; several are one long list")->required();
  const bool shows = command.run == &run_show;
  const bool reports = command.run == &run_report;
  if (command.trees) {
    if (reports) o.k = 100;
    CLI::Option* k =
        app.add_option("-k,--samples", o.k,
                       shows ? "draws so many samples, not the best tree" : "trees a sentence")
            ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
    if (!shows) k->capture_default_str();
  }
  if (shows || reports) {
    app.add_option("--threshold", o.threshold,
                   reports ? "where the page's slider stands at first"
                           : "with --marginals, edges less probable are not drawn")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
  }
  if (shows) {
    app.add_flag("--marginals", o.marginals, "all edges, by their probability");
    app.add_option("--color", o.color, "auto: if it is a terminal and NO_COLOR is not set")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.add_option("--width", o.width, "cells of a line; else the terminal's, or 80")
        ->check(CLI::Range(std::size_t{20}, std::size_t{1} << 20));
  }
  if (reports) {
    app.add_option("--floor", o.floor, "edges less probable are left out of the file, and counted")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--title", o.title, "of the page; else the names of the files");
  }
  if (command.samples) {
    const bool distinct = std::string(command.name) == "swor";
    app.add_option("--algorithm", o.algorithm,
                   distinct
                       ? "auto, trie, beam or list"
                       : "auto, elimination, wilson, wilson-marginal, wilson-reject, colbourn; "
                         "wilson-rc is biased")
        ->capture_default_str();
    app.add_option("--seed", o.seed, "same seed, same trees, whatever the threads")
        ->capture_default_str();
  }
  if (command.run == &run_edges) {
    app.add_option("--top", o.top, "so many words of each sentence")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
  }
  app.add_option("--root", raw.root, "how many edges may leave ROOT")
      ->check(CLI::IsMember({"single", "multi"}))
      ->capture_default_str();
  app.add_flag("--weights", o.weights, "the files hold weights, not their logs");
  app.add_option("--threads", o.threads, "0: one for each core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  if (command.device) {
    app.add_option("--device", raw.device, "cuda: on the GPU; sample by auto, swor by beam")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
  }
  app.add_option("--lengths", o.lengths, "of a padded .npy batch: an integer .npy, or text");
  app.add_option("--words", o.words, ".conllu, or one sentence a line");
  app.add_option("--labels", o.labels, "names of labels, one a line");
  app.add_option("--label-scores", o.label_scores, ".npz with label_scores and lengths");
  app.add_option("--force", raw.force, "an edge that trees must have, head>modifier");
  app.add_option("--forbid", raw.forbid, "an edge that they must not have");
  app.add_option("--roots", raw.roots, "words that may hang off ROOT, a,b,...");
  app.add_option("-o,--output", o.output, "where to; else standard output");
  if (shows) {
    app.add_option("--format", o.format,
                   "text, or svg for one drawing; else by the output's ending")
        ->check(CLI::IsMember({"text", "svg"}));
  } else if (!reports) {
    app.add_option("--format", o.format, "jsonl, npz, conllu or text; else by the output's ending")
        ->check(CLI::IsMember({"jsonl", "npz", "conllu", "text"}));
  }
  app.add_option("--sentences", raw.slice, "A:B, from A up to B");
  app.add_flag("--quiet", o.quiet, "no progress on standard error");
  app.add_flag("--progress", o.progress, "progress though it is no terminal");
  app.footer(std::string("Example: ") + command.example);
}

int run(int argc, char** argv) {
  CLI::App app{"Exact inference over distributions of dependency trees", "taproot"};
  app.set_version_flag("--version", TAPROOT_VERSION);
  app.require_subcommand(1);
  app.footer("Example: taproot sample data/demo.npz -k 3 --words data/demo.txt --format text");
  std::function<int()> action;

  std::vector<Raw> raws(std::size(kCommands));
  for (std::size_t i = 0; i < std::size(kCommands); ++i) {
    const Command& command = kCommands[i];
    CLI::App* sub = app.add_subcommand(command.name, command.what);
    add_options(*sub, raws[i], command);
    sub->callback([&, i, sub] {
      raws[i].has_roots = sub->count("--roots") > 0;
      raws[i].options.has_k = kCommands[i].trees && sub->count("--samples") > 0;
      action = [&, i] { return kCommands[i].run(finished(raws[i])); };
    });
  }

  EvalOptions eval;
  CLI::App* sub =
      app.add_subcommand("eval", "compares trees with gold trees: UAS, LAS, exact match");
  sub->add_option("TREES", eval.trees, "jsonl, npz or conllu")->required();
  sub->add_option("--gold", eval.gold, "the gold trees, .conllu")->required();
  sub->add_option("--over", eval.over, "of several trees a sentence: the best, or the mean")
      ->check(CLI::IsMember({"best", "mean"}))
      ->capture_default_str();
  sub->footer("Example: taproot eval trees.jsonl --gold gold.conllu");
  sub->callback([&] { action = [&] { return run_eval(eval); }; });

  ConvertOptions convert;
  sub = app.add_subcommand("convert", "writes trees in another format");
  sub->add_option("TREES", convert.trees, "jsonl, npz or conllu")->required();
  sub->add_option("-o,--output", convert.output, "where to; else standard output");
  sub->add_option("--format", convert.format, "jsonl, npz, conllu or text; else by the ending")
      ->check(CLI::IsMember({"jsonl", "npz", "conllu", "text"}));
  sub->add_option("--words", convert.words, ".conllu, or one sentence a line");
  sub->footer("Example: taproot convert trees.jsonl -o trees.npz");
  sub->callback([&] { action = [&] { return run_convert(convert); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kAllFine : kUsage;
  }
  return action();
}

}  // namespace
}  // namespace taproot::cli

int main(int argc, char** argv) {
  try {
    return taproot::cli::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "taproot: {}\n", error.what());
    return taproot::cli::kUsage;
  }
}
