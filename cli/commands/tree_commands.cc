// SPDX-License-Identifier: Apache-2.0
//
// Commands that write trees.
#include <functional>
#include <optional>

#include "commands/commands.h"
#include "commands/tree_results.h"
#include "trees/tree_writer.h"

namespace taproot::cli {
namespace {

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

void keep_outcomes(const std::vector<Outcome>& outcomes, std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) results[i].outcome = outcomes[i];
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
        for_each_factorization(pool, scores, outcomes,
                               [&](std::size_t i, const Factorization& f, Workspace& workspace) {
                                 sample_trees(context, i, how, f, workspace, results[i].rows,
                                              cuda ? trees[i].data() : nullptr);
                               });
        keep_outcomes(outcomes, results);
      });
}

int run_swor(const Options& options) {
  const WithoutReplacementOptions how{without_replacement_algorithm_named(options.algorithm),
                                      options.seed};
  std::optional<Cuda> cuda;
  if (options.device == Device::kCuda) cuda.emplace();
  return run_trees(
      options, IndexKind::kSample, options.k,
      [&](Pool& pool, const Context& context, std::vector<Result>& results) {
        const Scores scores(context.chunk.views, options.root);
        std::vector<Outcome> outcomes = outcomes_of(results.size());
        std::vector<WithoutReplacementSample> samples(results.size());
        if (cuda) {
          sample_without_replacement(*cuda, scores, options.k, how, outcomes, samples,
                                     context.chunk.first());
        } else {
          sample_without_replacement(pool, scores, options.k, how, outcomes, samples,
                                     context.chunk.first());
        }
        for (std::size_t i = 0; i < results.size(); ++i) {
          const WithoutReplacementSample& sample = samples[i];
          std::vector<std::int32_t> labels(static_cast<std::size_t>(sample.n));
          for (std::size_t s = 0; s < sample.size(); ++s) {
            TreeRow row = row_of(context, i, s, sample[s]);
            row.log_prob = sample.log_prob[s];
            row.gumbel = sample.gumbel[s];
            row.weight = sample.weight[s];
            if (context.labeled()) {  // The trees are distinct; their labels are drawn.
              sample_labels(context.labels(i), sample[s], options.seed,
                            static_cast<std::uint32_t>(context.number(i)),
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
