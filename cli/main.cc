// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "edges.h"

namespace {

constexpr int kUsage = 2;  // Also for input that cannot be read.

int run(int argc, char** argv) {
  CLI::App app{"Exact inference over distributions of dependency trees"};
  app.set_version_flag("--version", TAPROOT_VERSION);
  app.require_subcommand(1);

  taproot::cli::EdgesOptions edges;
  CLI::App* command = app.add_subcommand(
      "edges", "log-partition, entropy and the most probable heads of the least certain words");
  command->add_option("FILE", edges.scores, "scores (.npz)")->required();
  command->add_option("--words", edges.words, "words, one sentence a line");
  std::string root = "single";
  command->add_option("--root", root, "how many edges may leave ROOT")
      ->check(CLI::IsMember({"single", "multi"}))
      ->capture_default_str();
  command->add_option("--top", edges.top, "so many words of each sentence")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--threads", edges.threads, "0: one for each core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->footer("Example: taproot edges data/demo.npz --words data/demo.txt");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  edges.root = root == "single" ? taproot::RootRule::kSingle : taproot::RootRule::kMulti;
  return taproot::cli::run_edges(edges);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "taproot: {}\n", error.what());
    return kUsage;
  }
}
