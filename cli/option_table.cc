// SPDX-License-Identifier: Apache-2.0
#include "option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <tuple>

#include "commands/commands.h"
#include "parse.h"

namespace taproot::cli {
namespace {

using Choices = std::vector<std::string>;

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
    app_.add_option(
            "FILE", o_.files,
            "read scores from .npy or .npz files, or from standard input (-); several files are "
            "one list of sentences")
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

  CLI::Option* real(const std::string& name, double& out, const std::string& help) {
    return app_
        .add_option_function<std::string>(
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
    if (is({&run_marginals})) {
      real("--threshold", o_.threshold,
           "write one row per edge, for edges of at least this probability, instead of matrices")
          ->each([&o = o_](const std::string&) { o.has_threshold = true; })
          ->default_str("");
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
      integer(
          "--seed", o_.seed, 0, std::numeric_limits<std::uint64_t>::max(),
          "choose the random numbers; the default is 0, so a command that is run again gives the "
          "same trees, for any number of threads");
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
    app_.add_flag("--projective", o_.projective,
                  "count only projective trees: all words between a head and its modifier descend "
                  "from the head");
    app_.add_flag("--weights", o_.weights, "read weights instead of scores, which are their logs");
    integer("--threads", o_.threads, 0, 4096, "use N threads; 0 means one per core");
    if (is({&run_logz, &run_entropy, &run_marginals, &run_sample, &run_swor, &run_argmax,
            &run_mbr})) {
      app_.add_option_function<std::string>(
              "--device",
              [&o = o_](const std::string& name) {
                o.device = name == "cuda" ? Device::kCuda : Device::kCpu;
              },
              "compute on the CPU or on a GPU; on a GPU sample accepts only the algorithm auto, "
              "and swor "
              "auto or beam (with --projective auto alone)")
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
    add_output(app_, o_.output, o_.format_name, command_.formats);
    app_.add_option_function<std::string>(
            "--sentences",
            [&o = o_](const std::string& text) {
              std::tie(o.first, o.last) = parse_slice("--sentences", text);
            },
            "read only sentences A to B-1, or with a single number only that sentence")
        ->type_name("A:B");
    integer("--first-sentence", o_.first_number, 0, std::uint64_t{1} << 62U,
            "number the sentences of the input from N on, as if others came before them");
    app_.add_flag("--quiet", o_.quiet, "show no progress on standard error");
    app_.add_flag("--progress", o_.progress,
                  "show progress even if standard error is not a terminal");
  }

  void add_constraints() {
    constraint("--force", ConstraintKind::kForce, "HEAD:MODIFIER",
               "require this edge in every tree of every sentence; may be given several times");
    constraint("--forbid", ConstraintKind::kForbid, "HEAD:MODIFIER",
               "exclude this edge from every tree of every sentence; may be given several times");
    constraint(
        "--roots", ConstraintKind::kRoots, "WORD,...",
        "allow edges out of ROOT to these words only, in every sentence; if given several times, "
        "to the words that all of them name");
    app_.add_option_function<std::string>(
            "--constraints", [&o = o_](const std::string& file) { o.constraints.read(file); },
            "read constraints of single sentences from FILE, with lines such as '3 force 2:1', '3 "
            "forbid 0:1' and '3 roots 2,4', where 3 is the sentence")
        ->type_name("FILE");
  }

  // Each occurrence takes one value, because the word after that value is the next argument.
  void constraint(const std::string& name, ConstraintKind kind, const char* type,
                  const std::string& help) {
    app_.add_option_function<std::vector<std::string>>(
            name,
            [&o = o_, name, kind](const std::vector<std::string>& values) {
              for (const std::string& value : values) o.constraints.add(kind, name, value);
            },
            help)
        ->type_name(type)
        ->expected(1)
        ->take_all();
  }

  CLI::App& app_;
  Options& o_;
  const Command& command_;
};

}  // namespace

void add_options(CLI::App& app, Options& options, const Command& command) {
  OptionTable(app, options, command).add();
}

void add_output(CLI::App& app, std::string& output, std::string& format,
                std::span<const Format> formats) {
  app.add_option_function<std::string>(
         "-o,--output", [&output](const std::string& file) { output = file == "-" ? "" : file; },
         "write to FILE (default: standard output)")
      ->type_name("FILE");
  Choices names;
  for (const Format one : formats) names.emplace_back(to_string(one));
  app.add_option("--format", format,
                 fmt::format("choose the format (default: by the ending of the output, or {})",
                             names.front()))
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
}

}  // namespace taproot::cli
