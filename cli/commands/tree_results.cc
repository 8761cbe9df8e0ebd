// SPDX-License-Identifier: Apache-2.0
#include "commands/tree_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "formats/tree_writer.h"

namespace taproot::cli {

void Context::name_labels(std::span<const std::int32_t> labels, TreeRow& row) const {
  for (const std::int32_t l : labels)
    row.labels.push_back(label_names[static_cast<std::size_t>(l)]);
}

int write_trees(const Options& options, IndexKind kind, std::size_t trees, const TreeQuery& query) {
  Engine engine(options);
  ChunkReader reader(options, trees);
  const auto writer =
      TreeWriter::open(chosen_format(options.format, options.output), options.output, kind);
  Chunk chunk;
  bool failed = false;
  while (reader.next(chunk)) {
    const Context context{options, chunk, reader.label_names()};
    std::vector<SentenceTrees> results(chunk.size());
    query(engine, context, results);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::size_t number = context.number(i);
      writer->sentence(number, chunk.sentences[i].n, chunk.words_of(i));
      for (const TreeRow& row : results[i].rows) writer->tree(row);
      if (!results[i].outcome.ok()) {
        failed = true;
        writer->failed(chunk.failure(i, results[i].outcome));
      } else if (results[i].exhausted) {
        writer->exhausted({number, results[i].rows.size()});
      }
    }
  }
  writer->finish();
  return failed ? kSomeFailed : kAllFine;
}

TreeRow row_of(const Context& context, std::size_t i, std::size_t index, TreeView heads) {
  TreeRow row;
  row.sentence = context.number(i);
  row.index = index;
  row.heads.assign(heads.begin(), heads.end());
  return row;
}

void complete(const Context& context, std::size_t i, const Factorization& f, TreeRow& row) {
  std::vector<std::int32_t> labels(row.heads.size());
  double of_labels = 0;
  row.score = score(context.chunk.sentences[i].view(), row.heads);
  if (context.labeled()) {
    const LabelView view = context.labels(i);
    best_labels(view, row.heads, labels);
    context.name_labels(labels, row);
    *row.score += labels_score(view, row.heads, labels);
    of_labels = labels_log_prob(view, row.heads, labels);
  }
  // If the scores are too large for inference, though not for decoding, there is no probability.
  row.log_prob = f.outcome().ok() ? log_prob(f, row.heads) + of_labels : NAN;
}

void decode(Pool& pool, const Context& context, std::size_t k,
            std::vector<SentenceTrees>& results) {
  const std::size_t size = results.size();
  const Scores scores(context.chunk.decode_views, context.options.root);
  std::vector<Outcome> outcomes(size);
  std::vector<std::vector<ScoredTree>> trees(size);
  kbest(pool, scores, k, outcomes, trees);
  for (std::size_t i = 0; i < size; ++i) results[i].outcome = outcomes[i];
  const Scores inference(context.chunk.views, context.options.root);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t rank = 0; rank < trees[i].size(); ++rank) {
      results[i].rows.push_back(row_of(context, i, rank, trees[i][rank].heads));
    }
  }
  const Factorization none;
  std::vector<std::uint8_t> completed(size, 0);
  for_each_factorization(pool, inference, outcomes,
                         [&](std::size_t i, const Factorization& f, Workspace&) {
                           for (TreeRow& row : results[i].rows) complete(context, i, f, row);
                           completed[i] = 1;
                         });
  for (std::size_t i = 0; i < size; ++i) {
    if (completed[i] != 0) continue;
    for (TreeRow& row : results[i].rows) complete(context, i, none, row);
  }
}

void sample_trees(const Context& context, std::size_t i, const SampleOptions& how,
                  const Factorization& f, Workspace& workspace, std::vector<TreeRow>& rows,
                  const std::int32_t* sampled) {
  static thread_local Sampler sampler;
  if (sampled == nullptr) sampler.build(f, how, workspace);
  const auto number = static_cast<std::uint32_t>(context.number(i));
  Tree heads(static_cast<std::size_t>(f.n()));
  std::vector<std::int32_t> labels(heads.size());
  rows.reserve(context.options.k);
  for (std::size_t s = 0; s < context.options.k; ++s) {
    const auto index = static_cast<std::uint32_t>(s);
    if (sampled != nullptr) {
      std::copy_n(sampled + s * heads.size(), heads.size(), heads.data());
    } else {
      sampler.sample(number, index, 1, {heads.data(), 0}, workspace);
    }
    TreeRow row = row_of(context, i, s, heads);
    row.log_prob = log_prob(f, heads);
    if (context.labeled()) {
      const LabelView view = context.labels(i);
      sample_labels(view, heads, how.seed, number, index, labels);
      context.name_labels(labels, row);
      *row.log_prob += labels_log_prob(view, heads, labels);
    }
    rows.push_back(std::move(row));
  }
}

std::vector<TreeGroup> grouped(const std::vector<TreeRow>& rows) {
  std::map<std::pair<Tree, std::vector<std::string>>, std::size_t> place;
  std::vector<TreeGroup> groups;
  for (const TreeRow& row : rows) {
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
