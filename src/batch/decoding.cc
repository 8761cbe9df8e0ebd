// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "batch/batch.h"
#include "core/check.h"
#include "eliminate/factor_data.h"
#include "taproot/tree.h"

namespace taproot {

using detail::Needs;
using detail::ThreadMemory;

namespace {

// log p of a decoded tree.
double decoded_log_prob(const Factorization& f, TreeView heads) {
  return detail::tree_log_prob(detail::Access::data(f), heads.data());
}
// The same with its labels, if it has any.
double with_labels(const DependencyTrees::Impl& d, std::size_t b, double log_prob, TreeView heads,
                   std::span<const std::int32_t> labels) {
  return labels.empty() ? log_prob : log_prob + labels_log_prob(d.labels[b], heads, labels);
}

bool wants_log_prob(std::span<const TreeOutput> out) {
  return std::any_of(out.begin(), out.end(),
                     [](const TreeOutput& of_sentence) { return of_sentence.log_prob != nullptr; });
}

// What goes with the tree in out.heads, whose log p is given if it is asked for.
void complete(const DependencyTrees::Impl& d, const TreeOutput& out, std::size_t b,
              double log_prob) {
  const TreeView heads(out.heads, d.words(b));
  std::vector<std::int32_t> memory;
  std::span<std::int32_t> labels;
  if (out.labels != nullptr) {
    labels = {out.labels, d.words(b)};
  } else if (d.labeled() && out.log_prob != nullptr) {
    memory.resize(d.words(b));
    labels = memory;
  }
  if (!labels.empty()) best_labels(d.labels[b], heads, labels);
  if (out.log_prob != nullptr) *out.log_prob = with_labels(d, b, log_prob, heads, labels);
}

void lose(const DependencyTrees::Impl& d, const TreeOutput& out, std::size_t b) {
  std::fill_n(out.heads, d.words(b), -1);
  if (out.labels != nullptr) std::fill_n(out.labels, d.words(b), -1);
  if (out.log_prob != nullptr) *out.log_prob = NAN;
  if (out.score != nullptr) *out.score = NAN;
}

// What goes with the trees that a device has decoded, and -1 and NaN where there are none.
std::vector<Outcome> complete_on_device(DependencyTrees::Impl& d, std::span<const TreeOutput> out,
                                        std::vector<Outcome> outcomes) {
  for (std::size_t b = 0; b < d.size(); ++b) {
    if (!outcomes[b].ok()) lose(d, out[b], b);
  }
  std::vector<double> log_prob(d.size());
  if (wants_log_prob(out)) {
    std::vector<TreeBuffer> heads(d.size());
    std::vector<double*> numbers(d.size());
    for (std::size_t b = 0; b < d.size(); ++b) {
      heads[b] = {out[b].heads, out[b].stride};
      numbers[b] = &log_prob[b];
    }
    d.device->log_prob(1, heads, numbers, 1);
  }
  for (std::size_t b = 0; b < d.size(); ++b) {
    if (outcomes[b].ok()) complete(d, out[b], b, log_prob[b]);
  }
  return outcomes;
}

void check_outputs(const DependencyTrees::Impl& d, std::span<const TreeOutput> out,
                   const char* function) {
  d.require_entries(out.size(), function, "out");
  for (const TreeOutput& of_sentence : out) {
    detail::require(of_sentence.labels == nullptr || d.labeled(), function,
                    "there are no label scores");
  }
}

}  // namespace

std::vector<Outcome> DependencyTrees::argmax(std::span<const TreeOutput> out) {
  Impl& d = *impl_;
  check_outputs(d, out, "argmax");
  if (d.device != nullptr) {
    std::vector<Outcome> outcomes = d.device->argmax(d.decode_scores, out);
    return complete_on_device(d, out, std::move(outcomes));
  }
  const auto decode = [&](std::size_t b, ThreadMemory& own) {
    return taproot::argmax(d.for_decoding(b), d.root, d.family, {out[b].heads, d.words(b)},
                           out[b].score, own.workspace);
  };
  if (wants_log_prob(out)) {
    return detail::ask(
        d, Needs::kFactors, "argmax",
        [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
          const Outcome outcome = decode(b, own);
          TAPROOT_ASSERT(outcome.ok());
          static_cast<void>(outcome);
          complete(d, out[b], b, decoded_log_prob(f, {out[b].heads, d.words(b)}));
        },
        [&](std::size_t b) { lose(d, out[b], b); });
  }
  std::vector<Outcome> outcomes(d.size());
  detail::for_each(d.threads("argmax"), d.size(), d.longest, [&](std::size_t b, ThreadMemory& own) {
    outcomes[b] = decode(b, own);
    outcomes[b].ok() ? complete(d, out[b], b, NAN) : lose(d, out[b], b);
  });
  return outcomes;
}

std::vector<Outcome> DependencyTrees::mbr(std::span<const TreeOutput> out) {
  Impl& d = *impl_;
  check_outputs(d, out, "mbr");
  if (d.device != nullptr) {
    std::vector<Outcome> outcomes(d.size());
    d.device->mbr(out);
    d.device->outcomes(outcomes);
    for (std::size_t b = 0; b < d.size(); ++b) {
      if (!outcomes[b].ok() || out[b].score == nullptr) continue;
      *out[b].score = score(d.for_decoding(b), TreeView(out[b].heads, d.words(b)));
    }
    return complete_on_device(d, out, std::move(outcomes));
  }
  return detail::ask(
      d, Needs::kMarginals, "mbr",
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        const std::span<std::int32_t> heads(out[b].heads, d.words(b));
        taproot::mbr(f, heads, own.workspace);
        complete(d, out[b], b, decoded_log_prob(f, heads));
        if (out[b].score != nullptr) *out[b].score = score(d.for_decoding(b), heads);
      },
      [&](std::size_t b) { lose(d, out[b], b); });
}

std::vector<Outcome> DependencyTrees::expected_attachment(std::span<const TreeBuffer> heads,
                                                          std::span<double> out) {
  impl_->require_entries(heads.size(), "expected_attachment", "heads");
  return detail::ask_numbers(*impl_, Needs::kMarginals, "expected_attachment", out,
                             [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
                               const TreeView own_heads(heads[b].data, impl_->words(b));
                               return taproot::expected_attachment(f, own_heads, own.workspace);
                             });
}

std::vector<Outcome> DependencyTrees::kbest(std::size_t k, bool log_prob,
                                            std::span<BestTrees> out) {
  Impl& d = *impl_;
  d.require_entries(out.size(), "kbest", "out");
  const auto find = [&](std::size_t b, const Factorization* f, ThreadMemory& own) {
    BestTrees& best = out[b];
    best = {};
    best.n = d.scores[b].n();
    KBestIterator trees;
    const Outcome outcome = trees.build(d.for_decoding(b), d.root, d.family);
    if (!outcome.ok()) return outcome;
    Tree heads(d.words(b));
    std::vector<std::int32_t> labels(d.labeled() ? d.words(b) : 0);
    double score = 0;
    while (best.size() < k && trees.next(heads, score)) {
      detail::check(detail::Access::scratch(own.workspace).interrupt);
      best.heads.insert(best.heads.end(), heads.begin(), heads.end());
      best.score.push_back(score);
      if (d.labeled()) {
        best_labels(d.labels[b], heads, labels);
        best.labels.insert(best.labels.end(), labels.begin(), labels.end());
      }
      if (f == nullptr) continue;
      best.log_prob.push_back(with_labels(d, b, decoded_log_prob(*f, heads), heads, labels));
    }
    return outcome;
  };
  if (log_prob) {
    return detail::ask(
        d, Needs::kFactors, "kbest",
        [&](std::size_t b, const Factorization& f, ThreadMemory& own) { find(b, &f, own); },
        [&](std::size_t b) {
          out[b] = {};
          out[b].n = d.scores[b].n();
        });
  }
  std::vector<Outcome> outcomes(d.size());
  detail::for_each(d.threads("kbest"), d.size(), d.longest,
                   [&](std::size_t b, ThreadMemory& own) { outcomes[b] = find(b, nullptr, own); });
  return outcomes;
}

}  // namespace taproot
