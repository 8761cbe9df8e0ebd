// SPDX-License-Identifier: Apache-2.0
#include "taproot/batch.h"

#include <string>

#include "core/check.h"
#include "eliminate/pool.h"

namespace taproot {
namespace {

void require_entries(std::size_t entries, const Scores& scores, const char* function,
                     const char* what) {
  if (entries != scores.size()) {
    detail::misuse(function, std::string(what) + " must have one entry per sentence");
  }
}

// One number a sentence.
template <typename Query>
void scalar_query(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                  std::span<double> out, const char* function, Query&& query) {
  require_entries(outcomes.size(), scores, function, "outcomes");
  require_entries(out.size(), scores, function, "out");
  for_each_factorization(pool, scores, outcomes,
                         [&](std::size_t sentence, const Factorization& f, Workspace& workspace) {
                           out[sentence] = query(sentence, f, workspace);
                         });
}

// The same for two batches.
template <typename Query>
void pair_query(Pool& pool, const Scores& p, const Scores& q, std::span<Outcome> outcomes,
                std::span<double> out, const char* function, Query&& query) {
  detail::require(p.size() == q.size(), function, "the two batches differ in size");
  detail::require(p.root_rule() == q.root_rule(), function, "the two differ in their root rule");
  require_entries(outcomes.size(), p, function, "outcomes");
  require_entries(out.size(), p, function, "out");
  for (std::size_t b = 0; b < p.size(); ++b) {
    if (p[b].n() != q[b].n()) {
      detail::misuse(function, "sentence " + std::to_string(b) + " differs in length");
    }
  }
  Pool::Impl& impl = detail::Access::impl(pool);
  impl.parallel.for_each(p.size(), [&](std::size_t b, std::size_t slot) {
    detail::Slot& own = impl.slots[slot];
    outcomes[b] = eliminate(p[b], p.root_rule(), own.factorization, own.workspace);
    if (!outcomes[b].ok()) return;
    outcomes[b] = eliminate(q[b], q.root_rule(), own.second, own.workspace);
    if (outcomes[b].ok()) out[b] = query(own.factorization, own.second, own.workspace);
  });
}

}  // namespace

void log_partition(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                   std::span<double> out) {
  scalar_query(pool, scores, outcomes, out, "log_partition",
               [](std::size_t, const Factorization& f, Workspace&) { return log_partition(f); });
}

void entropy(Pool& pool, const Scores& scores, std::span<Outcome> outcomes, std::span<double> out) {
  scalar_query(pool, scores, outcomes, out, "entropy",
               [](std::size_t, const Factorization& f, Workspace& w) { return entropy(f, w); });
}

void expected_steps(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                    std::span<double> out) {
  scalar_query(
      pool, scores, outcomes, out, "expected_steps",
      [](std::size_t, const Factorization& f, Workspace& w) { return expected_steps(f, w); });
}

void expected_tries(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                    std::span<double> out) {
  scalar_query(
      pool, scores, outcomes, out, "expected_tries",
      [](std::size_t, const Factorization& f, Workspace& w) { return expected_tries(f, w); });
}

void log_prob(Pool& pool, const Scores& scores, std::span<const TreeView> heads,
              std::span<Outcome> outcomes, std::span<double> out) {
  require_entries(heads.size(), scores, "log_prob", "heads");
  scalar_query(pool, scores, outcomes, out, "log_prob",
               [=](std::size_t sentence, const Factorization& f, Workspace&) {
                 return log_prob(f, heads[sentence]);
               });
}

void expectation(Pool& pool, const Scores& scores, std::span<const std::span<const double>> values,
                 std::span<Outcome> outcomes, std::span<double> out) {
  require_entries(values.size(), scores, "expectation", "values");
  scalar_query(pool, scores, outcomes, out, "expectation",
               [=](std::size_t sentence, const Factorization& f, Workspace& w) {
                 return expectation(f, values[sentence], w);
               });
}

void cross_entropy(Pool& pool, const Scores& p, const Scores& q, std::span<Outcome> outcomes,
                   std::span<double> out) {
  pair_query(pool, p, q, outcomes, out, "cross_entropy",
             [](const Factorization& fp, const Factorization& fq, Workspace& w) {
               return cross_entropy(fp, fq, w);
             });
}

void kl_divergence(Pool& pool, const Scores& p, const Scores& q, std::span<Outcome> outcomes,
                   std::span<double> out) {
  pair_query(pool, p, q, outcomes, out, "kl_divergence",
             [](const Factorization& fp, const Factorization& fq, Workspace& w) {
               return kl_divergence(fp, fq, w);
             });
}

void marginals(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
               std::span<const EdgeMatrix> out) {
  require_entries(outcomes.size(), scores, "marginals", "outcomes");
  require_entries(out.size(), scores, "marginals", "out");
  for_each_factorization(pool, scores, outcomes,
                         [&](std::size_t sentence, const Factorization& f, Workspace& workspace) {
                           marginals(f, out[sentence], workspace);
                         });
}

void root_marginals(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
                    std::span<const std::span<double>> out) {
  require_entries(outcomes.size(), scores, "root_marginals", "outcomes");
  require_entries(out.size(), scores, "root_marginals", "out");
  for (std::size_t b = 0; b < scores.size(); ++b) {
    detail::require(out[b].size() >= static_cast<std::size_t>(scores[b].n()), "root_marginals",
                    "an output is shorter than its sentence");
  }
  for_each_factorization(pool, scores, outcomes,
                         [&](std::size_t sentence, const Factorization& f, Workspace& workspace) {
                           root_marginals(f, out[sentence].first(static_cast<std::size_t>(f.n())),
                                          workspace);
                         });
}

}  // namespace taproot
