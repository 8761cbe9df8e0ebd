// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "eliminate/pool.h"
#include "taproot/without_replacement.h"

namespace taproot {

void sample_without_replacement(Pool& pool, const Scores& scores, std::size_t k,
                                const WithoutReplacementOptions& options,
                                std::span<Outcome> outcomes,
                                std::span<WithoutReplacementSample> out,
                                std::uint32_t first_sentence) {
  constexpr const char* kName = "sample_without_replacement";
  detail::require(outcomes.size() == scores.size(), kName,
                  "outcomes must have one entry per sentence");
  detail::require(out.size() == scores.size(), kName, "out must have one entry per sentence");
  detail::require(scores.size() <= (std::uint64_t{1} << 32) - first_sentence, kName,
                  "sentences are numbered below 2^32");
  Pool::Impl& impl = detail::Access::impl(pool);
  impl.parallel.for_each(scores.size(), [&](std::size_t b, std::size_t slot) {
    detail::Slot& own = impl.slots[slot];
    outcomes[b] = eliminate(scores[b], scores.root_rule(), own.factorization, own.workspace);
    if (!outcomes[b].ok()) return;
    own.distinct.build(own.factorization, options, first_sentence + static_cast<std::uint32_t>(b),
                       own.workspace);
    own.distinct.sample(k, out[b], own.workspace);
    if (out[b].status != Status::kOk) outcomes[b] = {out[b].status};
  });
}

}  // namespace taproot
