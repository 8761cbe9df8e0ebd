// SPDX-License-Identifier: Apache-2.0
//
// Commands that write trees.
#include <cmath>
#include <functional>
#include <optional>

#include "chunk.h"
#include "commands/commands.h"
#include "error.h"
#include "taproot/taproot.h"
#include "trees/tree_writer.h"

namespace taproot::cli {
namespace {

/// The trees of one sentence, or why there are none.
struct Result {
  Outcome outcome;
  std::vector<TreeRow> rows;
  bool exhausted = false;
};

struct Context {
  const Options& options;
  const Chunk& chunk;
  const std::vector<std::string>& label_names;

  bool labelled() const { return !label_names.empty(); }
  std::size_t number(std::size_t i) const { return chunk.sentences[i].number; }
  void name_labels(std::span<const std::int32_t> labels, TreeRow& row) const {
    for (const std::int32_t l : labels)
      row.labels.push_back(label_names[static_cast<std::size_t>(l)]);
  }
};

TreeRow row_of(const Context& context, std::size_t i, std::size_t index, TreeView heads) {
  TreeRow row;
  row.sentence = context.number(i);
  row.index = index;
  row.heads.assign(heads.begin(), heads.end());
  return row;
}

// A decoded tree: labels, score, and its probability where the scores have one.
void complete(const Context& context, std::size_t i, const Factorization& f, TreeRow& row) {
  std::vector<std::int32_t> labels(row.heads.size());
  double of_labels = 0;
  row.score = score(context.chunk.sentences[i].view(), row.heads);
  if (context.labelled()) {
    const LabelView view = context.chunk.label_view(i, context.label_names.size());
    best_labels(view, row.heads, labels);
    context.name_labels(labels, row);
    *row.score += labels_score(view, row.heads, labels);
    of_labels = labels_log_prob(view, row.heads, labels);
  }
  // None if the scores are too large for inference, though not for decoding.
  row.log_prob = f.outcome().ok() ? log_prob(f, row.heads) + of_labels : NAN;
}

using PerChunk = std::function<void(Pool&, const Context&, std::vector<Result>&)>;

int run_trees(const Options& options, IndexKind kind, std::size_t trees, const PerChunk& run) {
  ChunkReader reader(options, trees);
  const Format format =
      options.format.empty() ? format_of(options.output) : format_named(options.format);
  const auto writer = TreeWriter::open(format, options.output, kind);
  Pool pool(options.threads);
  Chunk chunk;
  bool failed = false;
  while (reader.next(chunk)) {
    const Context context{options, chunk, reader.label_names()};
    std::vector<Result> results(chunk.size());
    run(pool, context, results);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::size_t number = context.number(i);
      writer->sentence(number, chunk.sentences[i].n,
                       chunk.words.empty() ? nullptr : &chunk.words[i]);
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

std::vector<Outcome> outcomes_of(std::size_t size) { return std::vector<Outcome>(size); }

// Decoding takes scores that inference does not: what it finds counts.
void keep_outcomes(const std::vector<Outcome>& outcomes, std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) results[i].outcome = outcomes[i];
}

void decode(Pool& pool, const Context& context, std::size_t k, std::vector<Result>& results) {
  const std::size_t size = results.size();
  const Scores scores(context.chunk.decode_views, context.options.root);
  std::vector<Outcome> outcomes = outcomes_of(size);
  std::vector<std::vector<ScoredTree>> trees(size);
  kbest(pool, scores, k, outcomes, trees);
  keep_outcomes(outcomes, results);
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

}  // namespace

int run_argmax(const Options& options) {
  return run_trees(options, IndexKind::kNone, 1,
                   [](Pool& pool, const Context& context, std::vector<Result>& results) {
                     decode(pool, context, 1, results);
                   });
}

int run_kbest(const Options& options) {
  return run_trees(options, IndexKind::kRank, options.k,
                   [&](Pool& pool, const Context& context, std::vector<Result>& results) {
                     decode(pool, context, options.k, results);
                   });
}

int run_mbr(const Options& options) {
  return run_trees(options, IndexKind::kNone, 1,
                   [](Pool& pool, const Context& context, std::vector<Result>& results) {
                     const Scores scores(context.chunk.views, context.options.root);
                     std::vector<Outcome> outcomes = outcomes_of(results.size());
                     for_each_factorization(
                         pool, scores, outcomes,
                         [&](std::size_t i, const Factorization& f, Workspace& workspace) {
                           Tree heads(static_cast<std::size_t>(f.n()));
                           mbr(f, heads, workspace);
                           results[i].rows.push_back(row_of(context, i, 0, heads));
                           complete(context, i, f, results[i].rows.back());
                         });
                     keep_outcomes(outcomes, results);
                   });
}

namespace {

// The trees of a chunk from the device, k n heads a sentence.
std::vector<std::vector<std::int32_t>> sample_on_device(Cuda& cuda, const Scores& scores,
                                                        const SampleOptions& how, std::size_t k,
                                                        std::uint32_t first) {
  std::vector<std::vector<std::int32_t>> trees(scores.size());
  std::vector<TreeBuffer> out;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    trees[i].resize(k * static_cast<std::size_t>(scores[i].n()));
    out.push_back({trees[i].data(), scores[i].n()});
  }
  std::vector<Outcome> outcomes(scores.size());
  sample(cuda, scores, k, how, outcomes, out, first);
  return trees;
}

}  // namespace

int run_sample(const Options& options) {
  const SampleOptions how{algorithm_named(options.algorithm), options.seed, 0};
  std::optional<Cuda> cuda;
  if (options.device == Device::kCuda) cuda.emplace();
  return run_trees(
      options, IndexKind::kSample, options.k,
      [&](Pool& pool, const Context& context, std::vector<Result>& results) {
        const Scores scores(context.chunk.views, options.root);
        std::vector<Outcome> outcomes = outcomes_of(results.size());
        std::vector<std::vector<std::int32_t>> trees;
        if (cuda) {
          trees = sample_on_device(*cuda, scores, how, options.k, context.chunk.first());
        }
        for_each_factorization(
            pool, scores, outcomes,
            [&](std::size_t i, const Factorization& f, Workspace& workspace) {
              static thread_local Sampler sampler;
              if (!cuda) sampler.build(f, how, workspace);
              const auto number = static_cast<std::uint32_t>(context.number(i));
              Tree heads(static_cast<std::size_t>(f.n()));
              std::vector<std::int32_t> labels(heads.size());
              results[i].rows.reserve(options.k);
              for (std::size_t s = 0; s < options.k; ++s) {
                const auto index = static_cast<std::uint32_t>(s);
                if (cuda) {
                  std::copy_n(trees[i].data() + s * heads.size(), heads.size(), heads.data());
                } else {
                  sampler.draw(number, index, 1, {heads.data(), 0}, workspace);
                }
                TreeRow row = row_of(context, i, s, heads);
                row.log_prob = log_prob(f, heads);
                if (context.labelled()) {
                  const LabelView view = context.chunk.label_view(i, context.label_names.size());
                  sample_labels(view, heads, options.seed, number, index, labels);
                  context.name_labels(labels, row);
                  *row.log_prob += labels_log_prob(view, heads, labels);
                }
                results[i].rows.push_back(std::move(row));
              }
            });
        keep_outcomes(outcomes, results);
      });
}

int run_swor(const Options& options) {
  const DistinctOptions how{distinct_algorithm_named(options.algorithm), options.seed};
  std::optional<Cuda> cuda;
  if (options.device == Device::kCuda) cuda.emplace();
  return run_trees(
      options, IndexKind::kSample, options.k,
      [&](Pool& pool, const Context& context, std::vector<Result>& results) {
        const Scores scores(context.chunk.views, options.root);
        std::vector<Outcome> outcomes = outcomes_of(results.size());
        std::vector<DistinctSample> samples(results.size());
        if (cuda) {
          sample_without_replacement(*cuda, scores, options.k, how, outcomes, samples,
                                     context.chunk.first());
        } else {
          sample_without_replacement(pool, scores, options.k, how, outcomes, samples,
                                     context.chunk.first());
        }
        for (std::size_t i = 0; i < results.size(); ++i) {
          const DistinctSample& sample = samples[i];
          std::vector<std::int32_t> labels(static_cast<std::size_t>(sample.n));
          for (std::size_t s = 0; s < sample.size(); ++s) {
            TreeRow row = row_of(context, i, s, sample[s]);
            row.log_prob = sample.log_prob[s];
            row.gumbel = sample.gumbel[s];
            row.weight = sample.weight[s];
            if (context.labelled()) {  // The trees are distinct; their labels are drawn.
              sample_labels(context.chunk.label_view(i, context.label_names.size()), sample[s],
                            options.seed, static_cast<std::uint32_t>(context.number(i)),
                            static_cast<std::uint32_t>(s), labels);
              context.name_labels(labels, row);
            }
            results[i].rows.push_back(std::move(row));
          }
          results[i].exhausted = sample.exhausted;
        }
        keep_outcomes(outcomes, results);
      });
}

}  // namespace taproot::cli
