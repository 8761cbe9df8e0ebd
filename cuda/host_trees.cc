// SPDX-License-Identifier: Apache-2.0
//
// Trees of a batch in host memory: samples and decoded ones.
#include <cmath>

#include "core/check.h"
#include "cuda/on_cuda.h"
#include "taproot/decode.h"

namespace taproot::cuda {

void OnCuda::sample_on_cpu(std::size_t b, const Factorization& f, std::size_t k,
                           const SampleOptions& options, const TreeOutput& out) {
  Sampler sampler;
  sampler.build(f, Algorithm::kAuto, batch_.workspace());
  sampler.sample(batch_.id(b), options, k, {out.heads, out.stride}, {}, nullptr,
                 batch_.workspace());
  for (std::size_t s = 0; out.log_prob != nullptr && s < k; ++s) {
    const TreeView tree(out.heads + at(s, out.stride), batch_.words(b));
    out.log_prob[at(s, out.value_stride)] = taproot::log_prob(f, tree);
  }
}

void OnCuda::sample(std::size_t k, const SampleOptions& options, std::span<const TreeOutput> out) {
  detail::require(options.algorithm == Algorithm::kAuto, "sample",
                  "a device samples by the algorithm auto alone");
  const Question question(batch_);
  const bool with_log_prob =
      std::any_of(out.begin(), out.end(), [](const TreeOutput& o) { return o.log_prob; });
  // Sentences beyond the range of double have answers on the device, but no samples.
  std::vector<CudaOutcome> sampled;
  const auto has_samples = [&](std::size_t b) { return sampled[b].status == kOk; };
  in_parts(k, [&](std::size_t first, std::size_t count) {
    const TreeMemory there(batch_, count);
    const std::uint32_t first_tree = options.first_tree + static_cast<std::uint32_t>(first);
    batch_.trees().sample(count, options.seed, first_tree, there.outcomes, there.trees,
                          batch_.stream());
    if (with_log_prob) {
      batch_.trees().log_prob(count, there.trees, there.values, batch_.stream());
    }
    batch_.settle();
    sampled = batch_.transfer().fetch(there.outcomes, batch_.size());
    fetch(there.trees.heads, tree_bounds(count), [&](std::size_t b, const std::int32_t* from) {
      for (std::size_t s = 0; has_samples(b) && s < count; ++s, from += batch_.width()) {
        std::copy_n(from, batch_.words(b), out[b].heads + at(first + s, out[b].stride));
      }
    });
    if (!with_log_prob) return;
    fetch_values(there, count, [&](std::size_t b, std::size_t s) {
      return out[b].log_prob == nullptr ? nullptr
                                        : out[b].log_prob + at(first + s, out[b].value_stride);
    });
  });
  batch_.settle();
  for (std::size_t b = 0; k > 0 && b < batch_.size(); ++b) {
    if (!batch_.outcomes()[b].ok() || has_samples(b)) continue;
    sample_on_cpu(b, batch_.factored(b), k, options, out[b]);
  }
}

void OnCuda::sample_without_replacement(std::size_t k, const WithoutReplacementOptions& options,
                                        std::span<WithoutReplacementSample> out) {
  const Question question(batch_);
  const std::size_t size = batch_.size();
  const auto width = static_cast<std::ptrdiff_t>(batch_.width());
  CudaWithoutReplacement there;
  CudaOutcome* outcomes_there = nullptr;
  const DeviceBlock memory = take_block(batch_.engine().pool, batch_.stream(), [&](Arena& arena) {
    there.trees = {arena.take<std::int32_t>(size * k * batch_.width()), at(k, width), width};
    for (double** values : {&there.log_prob, &there.gumbel, &there.weight}) {
      *values = arena.take<double>(size * k);
    }
    there.kappa = arena.take<double>(size);
    there.count = arena.take<std::int32_t>(size);
    outcomes_there = arena.take<CudaOutcome>(size);
  });
  batch_.trees().sample_without_replacement(k, options.algorithm, options.seed, outcomes_there,
                                            there, batch_.stream());
  batch_.settle();
  const auto outcomes = batch_.transfer().fetch(outcomes_there, size);
  const auto kappa = batch_.transfer().fetch(there.kappa, size);
  const auto count = batch_.transfer().fetch(there.count, size);
  const auto has = [&](std::size_t b) { return outcomes[b].status == kOk; };
  for (std::size_t b = 0; b < size; ++b) {
    if (!batch_.outcomes()[b].ok()) continue;
    if (!has(b)) {  // Out of range, or what is left of its trees takes the trie.
      WithoutReplacementSampler sampler;
      sampler.build(batch_.factored(b), options, batch_.id(b), batch_.workspace());
      sampler.sample(k, out[b], batch_.workspace());
      continue;
    }
    out[b] = {};
    out[b].n = static_cast<int>(batch_.words(b));
    out[b].kappa = kappa[b];
    out[b].exhausted = kappa[b] == -HUGE_VAL;
  }
  const auto fetch_of_trees = [&](const double* from,
                                  std::vector<double> WithoutReplacementSample::*values) {
    batch_.transfer().fetch(from, regular_bounds(size, k), [&](std::size_t b, const double* all) {
      if (has(b)) (out[b].*values).assign(all, all + count[b]);
    });
  };
  fetch_of_trees(there.log_prob, &WithoutReplacementSample::log_prob);
  fetch_of_trees(there.gumbel, &WithoutReplacementSample::gumbel);
  fetch_of_trees(there.weight, &WithoutReplacementSample::weight);
  batch_.transfer().fetch(there.trees.heads, tree_bounds(k),
                          [&](std::size_t b, const std::int32_t* from) {
                            for (std::int32_t s = 0; has(b) && s < count[b]; ++s, from += width) {
                              out[b].heads.insert(out[b].heads.end(), from, from + batch_.words(b));
                            }
                          });
}

std::vector<Outcome> OnCuda::argmax(std::span<const ScoreView> scores,
                                    std::span<const TreeOutput> out) {
  if (!scores.empty()) {  // Labels make the best scores others than those of the distribution.
    return OnCuda(batch_, scores).argmax({}, out);
  }
  const Question question(batch_);
  const TreeMemory there(batch_, 1);
  const CudaNumbers score{there.values.data, true, 1};
  batch_.trees().argmax(there.outcomes, there.trees, score, batch_.stream());
  const auto found = batch_.transfer().fetch(there.outcomes, batch_.size());
  const auto scores_found = batch_.transfer().fetch(there.values.data, batch_.size());
  std::vector<Outcome> outcomes(batch_.size());
  for (std::size_t b = 0; b < batch_.size(); ++b) {
    const auto& [status, head, modifier] = found[b];
    outcomes[b] = {static_cast<Status>(status), head, modifier};
    if (!batch_.on_device(b)) {
      outcomes[b] =
          taproot::argmax(batch_.scores(b), batch_.root(), batch_.family(),
                          {out[b].heads, batch_.words(b)}, out[b].score, batch_.workspace());
    } else if (outcomes[b].ok() && out[b].score != nullptr) {
      *out[b].score = scores_found[b];
    }
  }
  batch_.transfer().fetch(there.trees.heads, tree_bounds(1),
                          [&](std::size_t b, const std::int32_t* from) {
                            if (!outcomes[b].ok() || !batch_.on_device(b)) return;
                            std::copy_n(from, batch_.words(b), out[b].heads);
                          });
  return outcomes;
}

void OnCuda::mbr(std::span<const TreeOutput> out) {
  const Question question(batch_);
  const TreeMemory there(batch_, 1);
  batch_.trees().mbr(there.trees, batch_.stream());
  batch_.settle();
  fetch(there.trees.heads, tree_bounds(1), [&](std::size_t b, const std::int32_t* from) {
    std::copy_n(from, batch_.words(b), out[b].heads);
  });
  on_cpu([&](std::size_t b, const Factorization& f) {
    taproot::mbr(f, {out[b].heads, batch_.words(b)}, batch_.workspace());
  });
}

}  // namespace taproot::cuda
