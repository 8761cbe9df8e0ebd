// SPDX-License-Identifier: Apache-2.0
#include "eliminate/pool.h"

#include <functional>

#include "core/check.h"

namespace taproot {

Pool::Pool(int threads) : impl_(std::make_unique<Impl>(threads)) {}
Pool::~Pool() = default;
Pool::Pool(Pool&&) noexcept = default;
Pool& Pool::operator=(Pool&&) noexcept = default;

int Pool::threads() const { return impl_->parallel.threads(); }

void detail::for_each_index(Pool& pool, std::size_t count, IndexFunction visit, void* context) {
  auto& slots = Access::impl(pool).slots;
  const auto job = [&](std::size_t index, std::size_t slot) {
    visit(context, index, slots[slot].workspace);
  };
  Access::impl(pool).parallel.for_each(count, std::cref(job));
}

void detail::for_each_factorization(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                                    VisitFunction visit, void* context) {
  require(outcomes.size() == scores.size(), "for_each_factorization",
          "outcomes must have one entry per sentence");
  auto& slots = Access::impl(pool).slots;
  // One captured reference: small enough for std::function not to allocate.
  const auto job = [&](std::size_t sentence, std::size_t slot) {
    Slot& own = slots[slot];
    outcomes[sentence] =
        eliminate(scores[sentence], scores.root_rule(), own.factorization, own.workspace);
    if (outcomes[sentence].ok()) visit(context, sentence, own.factorization, own.workspace);
  };
  Access::impl(pool).parallel.for_each(scores.size(), std::cref(job));
}

}  // namespace taproot
