// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <mutex>

#include "batch/batch.h"
#include "core/check.h"
#include "sample/algorithm.h"

namespace taproot {

using detail::Needs;
using detail::ThreadMemory;

namespace {

// Trees that are sampled at a time.
constexpr std::size_t kBlock = 1024;
// Heads that are worth a second thread.
constexpr std::size_t kWorthThreads = 20000;

struct Job {
  DependencyTrees::Impl& d;
  std::size_t k;
  const SampleOptions& options;
  std::span<const TreeOutput> out;
  SampleStatistics* statistics;
  std::mutex mutex;
  std::vector<Outcome> outcomes;
};

std::int32_t* tree(std::int32_t* trees, const TreeOutput& out, std::size_t s) {
  return trees + static_cast<std::ptrdiff_t>(s) * out.stride;
}

double& value(double* values, const TreeOutput& out, std::size_t s) {
  return values[static_cast<std::ptrdiff_t>(s) * out.value_stride];
}

// Tree s is not there.
void lose(const DependencyTrees::Impl& d, const TreeOutput& out, std::size_t b, std::size_t s) {
  std::fill_n(tree(out.heads, out, s), d.words(b), -1);
  if (out.labels != nullptr) std::fill_n(tree(out.labels, out, s), d.words(b), -1);
  if (out.log_prob != nullptr) value(out.log_prob, out, s) = NAN;
}

// The labels of a sampled tree, and what they add to its log probability.
void add_labels_of(const Job& job, std::size_t b, std::size_t s) {
  const TreeOutput& out = job.out[b];
  if (out.labels == nullptr) return;
  const std::size_t n = job.d.words(b);
  const TreeView heads(tree(out.heads, out, s), n);
  const std::span<std::int32_t> labels(tree(out.labels, out, s), n);
  sample_labels(job.d.labels[b], heads, job.options.seed, job.d.id(b),
                job.options.first_tree + static_cast<std::uint32_t>(s), labels);
  if (out.log_prob != nullptr) {
    value(out.log_prob, out, s) += labels_log_prob(job.d.labels[b], heads, labels);
  }
}

// Trees [begin, end) of sentence b.
void sample_range(Job& job, const Sampler& sampler, const Factorization& f, std::size_t b,
                  std::size_t begin, std::size_t end, ThreadMemory& own) {
  const TreeOutput& out = job.out[b];
  const detail::FactorData& data = detail::Access::data(f);
  SampleOptions options = job.options;
  options.first_tree += static_cast<std::uint32_t>(begin);
  const std::size_t count = end - begin;
  own.statuses.resize(count);
  SampleStatistics statistics;
  const std::size_t written =
      sampler.sample(job.d.id(b), options, count, {tree(out.heads, out, begin), out.stride},
                     own.statuses, &statistics, own.workspace);
  for (std::size_t s = begin; s < end; ++s) {
    if (own.statuses[s - begin] != Status::kOk) {
      lose(job.d, out, b, s);
      continue;
    }
    if (out.log_prob != nullptr) {
      value(out.log_prob, out, s) = detail::tree_log_prob(data, tree(out.heads, out, s));
    }
    add_labels_of(job, b, s);
  }
  if (job.statistics == nullptr && written == count) return;
  const std::lock_guard lock(job.mutex);
  if (job.statistics != nullptr) *job.statistics += statistics;
  if (written < count) job.outcomes[b] = {Status::kStepLimit};
}

void sample_blocks(Job& job, const Sampler& sampler, const Factorization& f, std::size_t b,
                   ThreadMemory& own) {
  for (std::size_t begin = 0; begin < job.k; begin += kBlock) {
    sample_range(job, sampler, f, b, begin, std::min(job.k, begin + kBlock), own);
  }
}

// Whether the batch keeps the tables of its samplers: from the second time on that it is asked.
bool keeps_tables(DependencyTrees::Impl& d, DependencyTrees::Impl::SamplerTables& tables) {
  return d.keep && (tables.built.done() || tables.asked.fetch_add(1) > 0);
}

// Many sentences: each is one thread's.
void sample_by_sentence(Job& job) {
  DependencyTrees::Impl& d = job.d;
  const Algorithm algorithm = job.options.algorithm;
  DependencyTrees::Impl::SamplerTables& tables = d.tables[static_cast<std::size_t>(algorithm)];
  const bool kept = keeps_tables(d, tables);
  detail::Once::Finder finder(tables.built, kept);
  if (finder.mine()) tables.samplers.resize(d.size());
  std::vector<Outcome> found = detail::ask(
      d, Needs::kFactors, "sample",
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        Sampler& sampler = kept ? tables.samplers[b] : own.sampler;
        if (!kept || finder.mine()) sampler.build(f, algorithm, own.workspace);
        sample_blocks(job, sampler, f, b, own);
      },
      [](std::size_t) {});
  finder.found();
  for (std::size_t b = 0; b < found.size(); ++b) {
    if (!found[b].ok()) job.outcomes[b] = found[b];
  }
}

// Few sentences, many trees: the threads share out the trees of each.
void sample_by_tree(Job& job) {
  DependencyTrees::Impl& d = job.d;
  Pool::Impl& pool = d.threads("sample");
  const Algorithm algorithm = job.options.algorithm;
  DependencyTrees::Impl::SamplerTables& tables = d.tables[static_cast<std::size_t>(algorithm)];
  const bool kept = keeps_tables(d, tables);
  detail::Once::Finder finder(tables.built, kept);
  std::vector<Sampler> fresh(kept ? 0 : d.size());
  if (finder.mine()) tables.samplers.resize(d.size());
  std::vector<Sampler>& samplers = kept ? tables.samplers : fresh;
  std::vector<Factorization> factorizations(d.keep ? 0 : d.size());
  job.outcomes = detail::ask(
      d, Needs::kFactors, "sample",
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        if (!d.keep) {
          factorize(d.scores[b], d.root, d.family, factorizations[b], own.workspace);
        }
        if (!kept || finder.mine()) {
          samplers[b].build(d.keep ? f : factorizations[b], algorithm, own.workspace);
        }
      },
      [](std::size_t) {});
  finder.found();
  const auto words = static_cast<std::size_t>(std::max(d.longest, 1));
  const std::size_t piece = std::clamp<std::size_t>(kWorthThreads / 4 / words, 1, kBlock);
  for (std::size_t b = 0; b < d.size(); ++b) {
    if (!job.outcomes[b].ok()) continue;
    const Factorization& f = d.keep ? d.factorizations[b].factorization : factorizations[b];
    detail::for_each(
        pool, (job.k + piece - 1) / piece, d.longest, [&](std::size_t i, ThreadMemory& own) {
          sample_range(job, samplers[b], f, b, i * piece, std::min(job.k, (i + 1) * piece), own);
        });
  }
}

}  // namespace

std::vector<Outcome> DependencyTrees::sample(std::size_t k, const SampleOptions& options,
                                             std::span<const TreeOutput> out,
                                             SampleStatistics* statistics) {
  Impl& d = *impl_;
  d.require_entries(out.size(), "sample", "out");
  detail::require_goes_with(options.algorithm, d.root, d.family, "sample");
  detail::require(k <= (std::uint64_t{1} << 32) - options.first_tree, "sample",
                  "trees are numbered below 2^32");
  for (const TreeOutput& of_sentence : out) {
    detail::require(of_sentence.labels == nullptr || d.labeled(), "sample",
                    "there are no label scores");
  }
  Job job{d, k, options, out, statistics, {}, std::vector<Outcome>(d.size())};
  const std::size_t heads = k * static_cast<std::size_t>(d.longest);
  if (d.device != nullptr) {
    d.device->sample(k, options, out);
    d.device->outcomes(job.outcomes);
    for (std::size_t b = 0; b < d.size(); ++b) {
      for (std::size_t s = 0; s < k && job.outcomes[b].ok(); ++s) add_labels_of(job, b, s);
    }
  } else if (d.size() >= 8 || heads < kWorthThreads) {
    sample_by_sentence(job);
  } else {
    sample_by_tree(job);
  }
  for (std::size_t b = 0; b < d.size(); ++b) {
    const Status status = job.outcomes[b].status;
    if (status == Status::kOk || status == Status::kStepLimit) continue;
    for (std::size_t s = 0; s < k; ++s) lose(d, out[b], b, s);
  }
  return std::move(job.outcomes);
}

std::vector<Outcome> DependencyTrees::sample_without_replacement(
    std::size_t k, const WithoutReplacementOptions& options,
    std::span<WithoutReplacementSample> out) {
  Impl& d = *impl_;
  d.require_entries(out.size(), "sample_without_replacement", "out");
  detail::require_goes_with(options.algorithm, d.family, "sample_without_replacement");
  const auto add_labels_of = [&](std::size_t b) {
    WithoutReplacementSample& sample = out[b];
    if (!d.labeled()) return;
    sample.labels.resize(sample.heads.size());
    for (std::size_t s = 0; s < sample.size(); ++s) {
      // The trees are different from each other; their labels are sampled.
      sample_labels(d.labels[b], sample[s], options.seed, d.id(b), static_cast<std::uint32_t>(s),
                    std::span(sample.labels).subspan(s * d.words(b), d.words(b)));
    }
  };
  const auto lost = [&](std::size_t b) {
    out[b] = {};
    out[b].n = d.scores[b].n();
    out[b].kappa = NAN;
  };
  std::vector<Outcome> outcomes(d.size());
  if (d.device != nullptr) {
    d.device->sample_without_replacement(k, options, out);
    d.device->outcomes(outcomes);
    for (std::size_t b = 0; b < d.size(); ++b) outcomes[b].ok() ? add_labels_of(b) : lost(b);
    return outcomes;
  }
  outcomes = detail::ask(
      d, Needs::kFactors, "sample_without_replacement",
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        own.without_replacement.build(f, options, d.id(b), own.workspace);
        own.without_replacement.sample(k, out[b], own.workspace);
        add_labels_of(b);
      },
      lost);
  for (std::size_t b = 0; b < d.size(); ++b) {
    if (outcomes[b].ok() && out[b].status != Status::kOk) outcomes[b] = {out[b].status};
  }
  return outcomes;
}

}  // namespace taproot
