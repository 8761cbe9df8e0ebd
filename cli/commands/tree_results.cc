// SPDX-License-Identifier: Apache-2.0
#include "commands/tree_results.h"

#include <algorithm>
#include <map>
#include <utility>

namespace taproot::cli {

void fill_row(const Context& context, std::size_t i, const SentenceTrees& trees, std::size_t s,
              TreeRow& row) {
  const auto of_tree = [&](const std::vector<std::int32_t>& all) {
    return std::span(all).subspan(s * trees.n, trees.n);
  };
  const auto value = [&](const std::vector<double>& all) {
    return all.empty() ? std::optional<double>() : all[s];
  };
  row.sentence = context.number(i);
  row.index = s;
  row.heads.assign(of_tree(trees.heads).begin(), of_tree(trees.heads).end());
  row.labels.resize(trees.labels.empty() ? 0 : trees.n);
  for (std::size_t m = 0; m < row.labels.size(); ++m) {
    row.labels[m] = context.label_names[static_cast<std::size_t>(of_tree(trees.labels)[m])];
  }
  row.score = value(trees.score);
  row.log_prob = value(trees.log_prob);
  row.gumbel = value(trees.gumbel);
  row.weight = value(trees.weight);
}

namespace {

// Outputs for `count` trees of every sentence; with scores for one that is decoded.
std::vector<TreeOutput> allocate(const DependencyTrees& trees, std::size_t count, bool scores,
                                 std::vector<SentenceTrees>& results) {
  std::vector<TreeOutput> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    SentenceTrees& own = results[i];
    own.n = static_cast<std::size_t>(trees.n(i));
    own.count = count;
    own.heads.resize(count * own.n);
    own.labels.resize(trees.label_count() > 0 ? count * own.n : 0);
    own.log_prob.resize(count);
    own.score.resize(scores ? count : 0);
    TreeOutput& out = outputs.emplace_back();
    out.heads = own.heads.data();
    out.stride = static_cast<std::ptrdiff_t>(own.n);
    out.labels = own.labels.empty() ? nullptr : own.labels.data();
    out.log_prob = own.log_prob.data();
    out.score = own.score.empty() ? nullptr : own.score.data();
  }
  return outputs;
}

void keep_outcomes(const std::vector<Outcome>& outcomes, std::vector<SentenceTrees>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].outcome = outcomes[i];
    if (!outcomes[i].ok()) results[i].count = 0;
  }
}

}  // namespace

std::vector<SentenceTrees> decoded_trees(DependencyTrees& trees, Decoder decoder) {
  std::vector<SentenceTrees> results(trees.size());
  keep_outcomes((trees.*decoder)(allocate(trees, 1, true, results)), results);
  return results;
}

std::vector<SentenceTrees> sample_trees(DependencyTrees& trees, const SampleOptions& how,
                                        std::size_t count, std::vector<SentenceTrees> memory) {
  memory.resize(trees.size());
  keep_outcomes(trees.sample(count, how, allocate(trees, count, false, memory)), memory);
  return memory;
}

EdgeLabels edge_labels(const Context& context, std::size_t i, std::span<const double> marginals) {
  if (context.chunk.labels.empty()) return {};
  const LabelView scores = context.chunk.labels[i].view();
  const std::size_t count = context.label_names.size();
  std::vector<std::int32_t> best(marginals.size());
  best_edge_labels(scores, best);
  EdgeLabels found;
  found.of_all.resize(marginals.size() * count);
  label_marginals(scores, marginals, found.of_all);
  for (std::size_t edge = 0; edge < best.size(); ++edge) {
    const auto label = static_cast<std::size_t>(best[edge]);
    found.best.push_back(context.label_names[label]);
    found.probability.push_back(found.of_all[edge * count + label]);
  }
  return found;
}

std::vector<TreeGroup> grouped(const Context& context, std::size_t i, const SentenceTrees& trees) {
  std::map<std::pair<Tree, std::vector<std::string>>, std::size_t> place;
  std::vector<TreeGroup> groups;
  TreeRow row;
  for (std::size_t s = 0; s < trees.count; ++s) {
    fill_row(context, i, trees, s, row);
    const auto [at, is_new] = place.try_emplace({row.heads, row.labels}, groups.size());
    if (is_new) groups.push_back({row, 0});
    ++groups[at->second].count;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const TreeGroup& a, const TreeGroup& b) {
    return a.count != b.count ? a.count > b.count : a.row.log_prob > b.row.log_prob;
  });
  return groups;
}

}  // namespace taproot::cli
