// SPDX-License-Identifier: Apache-2.0
#include "testing/golden_trees.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace taproot::oracle {
namespace {

using nlohmann::json;

double or_minus_infinity(const json& value) {
  return value.is_null() ? -HUGE_VAL : value.get<double>();
}

// Numbers of an array of arrays of any depth, row by row.
void flatten(const json& from, std::vector<double>& to) {
  if (!from.is_array()) return to.push_back(or_minus_infinity(from));
  for (const json& part : from) flatten(part, to);
}

GoldenGraph read_graph(const json& entry) {
  GoldenGraph graph{entry.at("name").get<std::string>(), entry.at("n").get<int>(), {}, 0, {}};
  flatten(entry.at("scores"), graph.scores);
  const std::size_t side = static_cast<std::size_t>(graph.n) + 1;
  if (graph.scores.size() != side * side) throw std::runtime_error("wrong number of scores");
  if (entry.contains("label_scores")) {
    flatten(entry.at("label_scores"), graph.label_scores);
    graph.labels = static_cast<int>(graph.label_scores.size() / (side * side));
  }
  return graph;
}

GoldenTrees read_case(const json& entry) {
  GoldenTrees golden;
  golden.graph = entry.at("graph").get<std::string>();
  golden.root = entry.at("root") == "single" ? RootRule::kSingle : RootRule::kMulti;
  golden.family =
      entry.value("family", "all") == "projective" ? TreeFamily::kProjective : TreeFamily::kAll;
  golden.replacement = entry.value("replacement", true);
  golden.algorithm = entry.at("algorithm").get<std::string>();
  golden.seed = entry.at("seed").get<std::uint64_t>();
  golden.id = entry.value("id", std::uint64_t{0});
  golden.k = entry.at("k").get<std::size_t>();
  golden.trees = entry.at("trees").get<std::vector<Tree>>();
  golden.needs_fused_multiply_add = entry.value("needs_fused_multiply_add", false);
  if (entry.contains("labels")) golden.labels = entry.at("labels").get<decltype(golden.labels)>();
  if (golden.replacement) {
    golden.first_tree = entry.value("first_tree", std::uint32_t{0});
    golden.fallbacks = entry.value("fallbacks", std::uint64_t{0});
  } else {
    golden.log_prob = entry.at("log_prob").get<std::vector<double>>();
    golden.gumbel = entry.at("gumbel").get<std::vector<double>>();
    golden.kappa = or_minus_infinity(entry.at("kappa"));
    golden.exhausted = entry.value("exhausted", false);
  }
  return golden;
}

bool near(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i] || std::abs(a[i] - b[i]) <= 1e-9 * std::max(1.0, std::abs(a[i])))) {
      return false;
    }
  }
  return true;
}

void sample_with_replacement(GoldenTrees& golden, const Factorization& f) {
  const SampleOptions options{algorithm_named(golden.algorithm), golden.seed, 0, golden.first_tree};
  Workspace workspace;
  Sampler sampler;
  SampleStatistics statistics;
  sampler.build(f, options.algorithm, workspace);
  std::vector<std::int32_t> heads(golden.k * static_cast<std::size_t>(f.n()));
  sampler.sample(golden.id, options, golden.k, {heads.data(), f.n()}, {}, &statistics, workspace);
  for (std::size_t s = 0; s < golden.k; ++s) {
    const auto begin = heads.begin() + static_cast<std::ptrdiff_t>(s) * f.n();
    golden.trees.emplace_back(begin, begin + f.n());
  }
  golden.fallbacks = statistics.fallbacks;
}

void sample_without(GoldenTrees& golden, const Factorization& f) {
  Workspace workspace;
  WithoutReplacementSampler sampler;
  WithoutReplacementSample sample;
  sampler.build(f, {without_replacement_algorithm_named(golden.algorithm), golden.seed}, golden.id,
                workspace);
  sampler.sample(golden.k, sample, workspace);
  for (std::size_t s = 0; s < sample.size(); ++s) {
    golden.trees.emplace_back(sample[s].begin(), sample[s].end());
  }
  golden.log_prob = sample.log_prob;
  golden.gumbel = sample.gumbel;
  golden.kappa = sample.kappa;
  golden.exhausted = sample.exhausted;
}

}  // namespace

std::string GoldenTrees::name() const {
  return graph + "/" + (family == TreeFamily::kProjective ? "projective/" : "") +
         std::string(to_string(root)) + "/" + (replacement ? "" : "without_replacement/") +
         algorithm + "/" + std::to_string(seed) + "/" + std::to_string(id);
}

GoldenFile load_golden_trees(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("[load_golden_trees] cannot open " + path);
  try {
    const json document = json::parse(file);
    GoldenFile golden;
    for (const json& entry : document.at("graphs")) {
      GoldenGraph graph = read_graph(entry);
      golden.graphs.emplace(graph.name, graph);
    }
    for (const json& entry : document.at("cases")) golden.cases.push_back(read_case(entry));
    return golden;
  } catch (const std::exception& error) {
    throw std::runtime_error("[load_golden_trees] " + path + ": " + error.what());
  }
}

GoldenTrees sampled(const GoldenTrees& question, const GoldenGraph& graph) {
  GoldenTrees golden = question;
  golden.trees.clear();
  golden.labels.clear();
  ScoreView view(graph.scores.data(), graph.n);
  std::vector<double> memory;
  if (graph.labels > 0) {
    const LabelView labels(graph.label_scores.data(), graph.n, graph.labels);
    view = add_labels(view, labels, LabelSum::kLogSum, memory);
  }
  const Factorization f = factorize(view, golden.root, golden.family);
  golden.replacement ? sample_with_replacement(golden, f) : sample_without(golden, f);
  for (std::size_t s = 0; graph.labels > 0 && s < golden.trees.size(); ++s) {
    golden.labels.emplace_back(static_cast<std::size_t>(graph.n));
    sample_labels(LabelView(graph.label_scores.data(), graph.n, graph.labels), golden.trees[s],
                  golden.seed, golden.id, golden.first_tree + static_cast<std::uint32_t>(s),
                  golden.labels[s]);
  }
  return golden;
}

bool agree(const GoldenTrees& a, const GoldenTrees& b, std::string& difference) {
  difference = a.trees != b.trees              ? "trees"
               : a.labels != b.labels          ? "labels"
               : a.fallbacks != b.fallbacks    ? "fallbacks"
               : a.exhausted != b.exhausted    ? "exhausted"
               : !near(a.log_prob, b.log_prob) ? "log_prob"
               : !near(a.gumbel, b.gumbel)     ? "gumbel"
               : !near({a.kappa}, {b.kappa})   ? "kappa"
                                               : "";
  return difference.empty();
}

}  // namespace taproot::oracle
