// SPDX-License-Identifier: Apache-2.0
#include "taproot/batch.h"

#include <string>

#include "core/check.h"

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

void marginals(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
               std::span<const EdgeMatrix> out) {
  require_entries(outcomes.size(), scores, "marginals", "outcomes");
  require_entries(out.size(), scores, "marginals", "out");
  for_each_factorization(pool, scores, outcomes,
                         [&](std::size_t sentence, const Factorization& f, Workspace& workspace) {
                           marginals(f, workspace, out[sentence]);
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
                           root_marginals(f, workspace,
                                          out[sentence].first(static_cast<std::size_t>(f.n())));
                         });
}

}  // namespace taproot
