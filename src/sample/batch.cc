// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "core/check.h"
#include "eliminate/pool.h"
#include "sample/algorithm.h"
#include "taproot/sample.h"

namespace taproot {
namespace {

// Trees of one sentence that a thread takes at a time.
constexpr std::size_t kChunk = 64;

struct Job {
  std::size_t k;
  const SampleOptions& options;
  std::span<Outcome> outcomes;
  std::span<const TreeBuffer> out;
  std::uint32_t first_sentence;
};

// Draws trees [begin, end) of a sentence; those that met the limit are filled with -1.
bool sample_range(const Job& job, const Sampler& sampler, std::size_t sentence, int n,
                  std::size_t begin, std::size_t end, Workspace& workspace,
                  SampleStatistics& statistics) {
  bool all = true;
  for (std::size_t s = begin; s < end; ++s) {
    std::int32_t* tree =
        job.out[sentence].data + static_cast<std::ptrdiff_t>(s) * job.out[sentence].stride;
    const bool drawn = sampler.sample(job.first_sentence + static_cast<std::uint32_t>(sentence),
                                      static_cast<std::uint32_t>(s), 1, {tree, 0}, workspace, {},
                                      &statistics) == 1;
    if (!drawn) std::fill_n(tree, n, -1);
    all &= drawn;
  }
  return all;
}

}  // namespace

void sample(Pool& pool, const Scores& scores, std::size_t k, const SampleOptions& options,
            std::span<Outcome> outcomes, std::span<const TreeBuffer> out,
            std::uint32_t first_sentence, SampleStatistics* statistics) {
  detail::require(outcomes.size() == scores.size(), "sample",
                  "outcomes must have one entry per sentence");
  detail::require(out.size() == scores.size(), "sample", "out must have one entry per sentence");
  detail::require_goes_with(options.algorithm, scores.root_rule(), "sample");
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  detail::require(k <= kMost && scores.size() <= kMost - first_sentence, "sample",
                  "samples and sentences are numbered below 2^32");
  Pool::Impl& impl = detail::Access::impl(pool);
  const Job job{k, options, outcomes, out, first_sentence};
  std::vector<SampleStatistics> taken(impl.slots.size());

  // Many sentences: one at a time for each thread. Few: the threads share out a sentence's trees.
  const bool by_sentence = scores.size() >= 2 * impl.slots.size() || k <= kChunk;
  if (by_sentence) {
    impl.parallel.for_each(scores.size(), [&](std::size_t b, std::size_t slot) {
      detail::Slot& own = impl.slots[slot];
      outcomes[b] = eliminate(scores[b], scores.root_rule(), own.factorization, own.workspace);
      if (!outcomes[b].ok()) return;
      own.sampler.build(own.factorization, options, own.workspace);
      if (!sample_range(job, own.sampler, b, scores[b].n(), 0, k, own.workspace, taken[slot])) {
        outcomes[b] = {Status::kStepLimit};
      }
    });
  } else {
    detail::Slot& shared = impl.slots[0];
    Factorization f;
    Sampler sampler;
    for (std::size_t b = 0; b < scores.size(); ++b) {
      outcomes[b] = eliminate(scores[b], scores.root_rule(), f, shared.workspace);
      if (!outcomes[b].ok()) continue;
      sampler.build(f, options, shared.workspace);
      const std::size_t chunks = (k + kChunk - 1) / kChunk;
      std::mutex mutex;
      impl.parallel.for_each(chunks, [&](std::size_t chunk, std::size_t slot) {
        const std::size_t begin = chunk * kChunk;
        const std::size_t end = std::min(begin + kChunk, k);
        if (!sample_range(job, sampler, b, f.n(), begin, end, impl.slots[slot].workspace,
                          taken[slot])) {
          const std::lock_guard lock(mutex);
          outcomes[b] = {Status::kStepLimit};
        }
      });
    }
  }
  if (statistics != nullptr) {
    for (const SampleStatistics& own : taken) *statistics += own;
  }
}

}  // namespace taproot
