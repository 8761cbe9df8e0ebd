// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "core/check.h"
#include "core/parallel.h"
#include "taproot/batch.h"

namespace taproot {

struct Pool::Impl {
  struct Slot {
    Factorization factorization;
    Workspace workspace;
  };
  explicit Impl(int threads)
      : parallel(threads), slots(static_cast<std::size_t>(parallel.threads())) {}

  detail::Parallel parallel;
  std::vector<Slot> slots;
};

Pool::Pool(int threads) : impl_(std::make_unique<Impl>(threads)) {}
Pool::~Pool() = default;
Pool::Pool(Pool&&) noexcept = default;
Pool& Pool::operator=(Pool&&) noexcept = default;

int Pool::threads() const { return impl_->parallel.threads(); }

void for_each_factorization(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                            VisitFunction visit, void* context) {
  detail::require(outcomes.size() == scores.size(), "for_each_factorization",
                  "outcomes must have one entry per sentence");
  Pool::Impl& impl = pool.impl();
  // One captured reference: small enough for std::function not to allocate.
  const struct {
    const Scores& scores;
    std::span<Outcome> outcomes;
    VisitFunction visit;
    void* context;
    Pool::Impl& impl;
  } job{scores, outcomes, visit, context, impl};
  impl.parallel.for_each(scores.size(), [&job](std::size_t sentence, std::size_t slot) {
    auto& [factorization, workspace] = job.impl.slots[slot];
    job.outcomes[sentence] =
        eliminate(job.scores[sentence], job.scores.root_rule(), factorization, workspace);
    if (job.outcomes[sentence].ok()) {
      job.visit(job.context, sentence, factorization, workspace);
    }
  });
}

}  // namespace taproot
