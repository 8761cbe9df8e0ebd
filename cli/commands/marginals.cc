// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/edge_file.h"
#include "commands/number_file.h"

namespace taproot::cli {

std::vector<Outcome> find_marginals(DependencyTrees& trees,
                                    std::vector<std::vector<double>>& matrices) {
  std::vector<EdgeMatrix> out;
  matrices.resize(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const std::size_t side = static_cast<std::size_t>(trees.n(i)) + 1;
    matrices[i].resize(side * side);
    out.push_back({matrices[i].data(), static_cast<std::ptrdiff_t>(side)});
  }
  return trees.marginals(out);
}

int run_marginals(const Options& options) {
  const bool as_edges = options.has_threshold || options.format == Format::kTsv;
  const auto open = [&](const std::vector<std::string>& names) -> std::unique_ptr<NumberSink> {
    if (as_edges) return std::make_unique<EdgeFile>(options, names);
    return std::make_unique<NumberFile>(options, "marginals");
  };
  return write_numbers(options, open, &find_marginals);
}

}  // namespace taproot::cli
