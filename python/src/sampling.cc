// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "distribution.h"
#include "threads.h"

namespace taproot::python {
namespace {

// Trees that are drawn at a time: Ctrl-C is heard in between.
constexpr std::size_t kBlock = 1024;
// Heads to be drawn that are worth a second thread.
constexpr std::size_t kWorthThreads = 20000;

struct Job {
  Distribution& d;
  std::size_t k;
  const SampleOptions& options;
  First first;
  Trees out;
};

// Trees [begin, end) of sentence b. Returns whether all were drawn.
bool draw(const Job& job, const Sampler& sampler, std::size_t b, std::size_t begin, std::size_t end,
          Workspace& workspace) {
  const auto n = static_cast<std::size_t>(job.d.n(b));
  const auto row = static_cast<std::size_t>(job.d.padded_n());
  const std::size_t stride = job.d.size() * row;
  std::int32_t* heads = job.out.heads + begin * stride + b * row;
  const auto sentence = job.first.sentence + static_cast<std::uint32_t>(b);
  const auto tree = job.first.tree + static_cast<std::uint32_t>(begin);
  const std::size_t count = end - begin;
  std::vector<Status> statuses(job.options.step_limit > 0 ? count : 0);
  const std::size_t drawn = sampler.sample(
      sentence, tree, count, {heads, static_cast<std::ptrdiff_t>(stride)}, workspace, statuses);
  if (n == row && drawn == count && job.out.labels == nullptr) return true;
  for (std::size_t s = 0; s < count; ++s) {
    const bool ok = statuses.empty() || statuses[s] == Status::kOk;
    std::int32_t* of_tree = heads + s * stride;
    std::fill(of_tree + (ok ? n : 0), of_tree + row, -1);
    if (job.out.labels == nullptr) continue;
    std::int32_t* labels = job.out.labels + (of_tree - job.out.heads);
    std::fill_n(labels, row, -1);
    if (ok) {
      sample_labels(job.d.labels(b), {of_tree, n}, job.options.seed, sentence,
                    tree + static_cast<std::uint32_t>(s), {labels, n});
    }
  }
  return drawn == count;
}

void fill_lost(const Job& job, std::size_t b) {
  const auto row = static_cast<std::size_t>(job.d.padded_n());
  for (std::size_t s = 0; s < job.k; ++s) {
    const std::size_t at = (s * job.d.size() + b) * row;
    std::fill_n(job.out.heads + at, row, -1);
    if (job.out.labels != nullptr) std::fill_n(job.out.labels + at, row, -1);
  }
}

std::vector<Outcome> outcomes_of(const Distribution& d) {
  std::vector<Outcome> outcomes(d.size());
  for (std::size_t b = 0; b < d.size(); ++b) outcomes[b] = d.outcome(b);
  return outcomes;
}

}  // namespace

std::vector<Outcome> sample(Distribution& d, std::size_t k, const SampleOptions& options,
                            First first, Trees out) {
  const Job job{d, k, options, first, out};
  Interrupt interrupt;
  d.factor(interrupt);
  std::vector<Outcome> outcomes = outcomes_of(d);
  const std::size_t blocks = (k + kBlock - 1) / kBlock;
  const auto sample_blocks = [&](const Sampler& sampler, std::size_t b, Workspace& workspace) {
    for (std::size_t block = 0; block < blocks && interrupt.go_on(); ++block) {
      const std::size_t end = std::min(k, (block + 1) * kBlock);
      if (!draw(job, sampler, b, block * kBlock, end, workspace)) {
        outcomes[b] = {Status::kStepLimit};
      }
    }
  };
  const auto words = static_cast<std::size_t>(d.longest());
  if (d.size() >= 8 || k * words < kWorthThreads) {
    for_each(d.size(), d.longest(), interrupt, [&](std::size_t b, Own& own) {
      if (!outcomes[b].ok()) return fill_lost(job, b);
      own.sampler.build(d[b], options, own.workspace);
      sample_blocks(own.sampler, b, own.workspace);
    });
    return outcomes;
  }
  // Few sentences, many trees: the threads share out those of each.
  for (std::size_t b = 0; b < d.size(); ++b) {
    if (!outcomes[b].ok()) {
      fill_lost(job, b);
      continue;
    }
    Sampler sampler;
    Workspace workspace;
    sampler.build(d[b], options, workspace);
    std::mutex mutex;
    const std::size_t piece = std::clamp<std::size_t>(kWorthThreads / 4 / words, 1, kBlock);
    for_each((k + piece - 1) / piece, d.longest(), interrupt, [&](std::size_t i, Own& own) {
      if (draw(job, sampler, b, i * piece, std::min(k, (i + 1) * piece), own.workspace)) {
        return;
      }
      const std::lock_guard lock(mutex);
      outcomes[b] = {Status::kStepLimit};
    });
  }
  return outcomes;
}

TreeTable sample_without_replacement(Distribution& d, std::size_t k,
                                     const WithoutReplacementOptions& options,
                                     std::uint32_t first_sentence) {
  Interrupt interrupt;
  d.factor(interrupt);
  std::vector<WithoutReplacementSample> samples(d.size());
  TreeTable table;
  table.outcomes = outcomes_of(d);
  for_each(d.size(), d.longest(), interrupt, [&](std::size_t b, Own& own) {
    if (!table.outcomes[b].ok()) return;
    WithoutReplacementSampler& sampler = own.distinct;
    Workspace& workspace = own.workspace;
    sampler.build(d[b], options, first_sentence + static_cast<std::uint32_t>(b), workspace);
    if (!sampler.sample(k, samples[b], workspace, [&] { return interrupt.go_on(); })) return;
    if (samples[b].status != Status::kOk) table.outcomes[b] = {samples[b].status};
  });

  const auto row = static_cast<std::size_t>(d.padded_n());
  for (const WithoutReplacementSample& s : samples) table.k = std::max(table.k, s.size());
  table.heads.assign(table.k * d.size() * row, -1);
  if (d.labeled()) table.labels.assign(table.heads.size(), -1);
  table.score.assign(table.k * d.size(), -HUGE_VAL);
  table.gumbel = table.score;
  table.weight.assign(table.k * d.size(), 0.0);
  for (std::size_t b = 0; b < d.size(); ++b) {
    const WithoutReplacementSample& sample = samples[b];
    const auto n = static_cast<std::size_t>(d.n(b));
    table.counts.push_back(static_cast<std::int32_t>(sample.size()));
    table.kappa.push_back(d.outcome(b).ok() ? sample.kappa : NAN);
    table.exhausted.push_back(sample.exhausted);
    for (std::size_t s = 0; s < sample.size(); ++s) {
      const std::size_t at = s * d.size() + b;
      std::copy_n(sample[s].data(), n, table.heads.data() + at * row);
      table.score[at] = sample.log_prob[s];
      table.gumbel[at] = sample.gumbel[s];
      table.weight[at] = sample.weight[s];
      if (!d.labeled()) continue;
      sample_labels(d.labels(b), sample[s], options.seed,
                    first_sentence + static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(s),
                    {table.labels.data() + at * row, n});
    }
  }
  return table;
}

}  // namespace taproot::python
