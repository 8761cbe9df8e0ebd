// SPDX-License-Identifier: Apache-2.0
#include "taproot/dependency_trees.h"

#include <algorithm>
#include <string>
#include <utility>

#include "batch/batch.h"
#include "core/check.h"
#include "eliminate/factor_data.h"

namespace taproot {

DependencyTrees::Impl::Impl(std::vector<ScoreView> views, BatchOptions& options)
    : root(options.root),
      family(options.projective ? TreeFamily::kProjective : TreeFamily::kAll),
      keep(options.keep),
      scores(std::move(views)),
      labels(std::move(options.labels)),
      ids(std::move(options.ids)) {
  constexpr const char* kName = "DependencyTrees";
  if (!labels.empty()) require_entries(labels.size(), kName, "labels");
  if (!options.constraints.empty()) {
    require_entries(options.constraints.size(), kName, "constraints");
  }
  if (!ids.empty()) require_entries(ids.size(), kName, "ids");
  for (std::size_t b = 0; b < size(); ++b) {
    longest = std::max(longest, scores[b].n());
    if (labels.empty()) continue;
    if (labels[b].n() != scores[b].n()) {
      detail::misuse(kName, "sentence " + std::to_string(b) + " has scores for " +
                                std::to_string(scores[b].n()) + " words and labels for " +
                                std::to_string(labels[b].n()));
    }
    detail::require(labels[b].labels() == labels[0].labels(), kName,
                    "all sentences must have the same number of labels");
  }
}

DependencyTrees::Impl::~Impl() { detail::give_back(std::move(factorizations)); }

Pool::Impl& DependencyTrees::Impl::threads(const char* function) const {
  detail::require(pool != nullptr, function, "this is not done on a device: use a Pool");
  return *pool;
}

void DependencyTrees::Impl::require_entries(std::size_t entries, const char* function,
                                            const char* what) const {
  if (entries == size()) return;
  detail::misuse(function, std::string(what) + " must have one entry per sentence, " +
                               std::to_string(size()) + ", and has " + std::to_string(entries));
}

const Factorization& DependencyTrees::Impl::factor(std::size_t b, bool make,
                                                   detail::ThreadMemory& own) {
  if (keep && !make) return factorizations[b].factorization;
  Factorization& f = keep ? factorizations[b].factorization : own.factorization;
  if (keep) {
    detail::KeptFactorization& kept = factorizations[b];
    kept.longest = std::max(kept.longest, scores[b].n());
    if (family == TreeFamily::kProjective) {
      kept.longest_chart = std::max(kept.longest_chart, scores[b].n());
    }
  }
  factorize(scores[b], root, family, f, own.workspace);
  return f;
}

namespace {

// Adds the label sums to the scores of sentence b and applies its constraints. The new scores are
// in d.memory, whose inner vectors keep their addresses when the batch moves, so the views stay
// valid.
void apply(DependencyTrees::Impl& d, std::span<const Constraints> constraints, std::size_t b) {
  const std::size_t copies = d.labeled() ? 2 : 1;
  const auto replace = [&](ScoreView& view, LabelSum sum, std::vector<double>& memory) {
    if (d.labeled()) view = add_labels(view, d.labels[b], sum, memory);
    if (!constraints.empty()) view = constraints[b].apply(view, memory);
  };
  replace(d.scores[b], LabelSum::kLogSum, d.memory[copies * b]);
  if (d.labeled()) replace(d.decode_scores[b], LabelSum::kMax, d.memory[copies * b + 1]);
}

template <typename ForEach>
std::unique_ptr<DependencyTrees::Impl> make(std::vector<ScoreView> scores, BatchOptions options,
                                            ForEach&& for_each_sentence) {
  auto d = std::make_unique<DependencyTrees::Impl>(std::move(scores), options);
  if (!d->labeled() && options.constraints.empty()) return d;
  d->memory.resize((d->labeled() ? 2 : 1) * d->size());
  if (d->labeled()) d->decode_scores = d->scores;
  for_each_sentence(*d, [&](std::size_t b) { apply(*d, options.constraints, b); });
  return d;
}

}  // namespace

DependencyTrees::DependencyTrees(Pool& pool, std::vector<ScoreView> scores, BatchOptions options) {
  Pool::Impl& threads = detail::Access::impl(pool);
  impl_ = make(std::move(scores), std::move(options), [&](Impl& d, auto&& visit) {
    detail::for_each(threads, d.size(), d.longest,
                     [&](std::size_t b, detail::ThreadMemory&) { visit(b); });
  });
  impl_->pool = &threads;
  impl_->groups = detail::LaneGroups(impl_->scores);
}

DependencyTrees::DependencyTrees(Cuda& cuda, std::vector<ScoreView> scores, BatchOptions options) {
  impl_ = make(std::move(scores), std::move(options), [&](Impl& d, auto&& visit) {
    for (std::size_t b = 0; b < d.size(); ++b) visit(b);
  });
  if (impl_->ids.empty()) {
    for (std::size_t b = 0; b < impl_->size(); ++b) impl_->ids.push_back(b);
  }
  impl_->device =
      detail::make_device_batch(cuda, impl_->scores, impl_->ids, impl_->root, impl_->family);
}

DependencyTrees::~DependencyTrees() = default;
DependencyTrees::DependencyTrees(DependencyTrees&&) noexcept = default;
DependencyTrees& DependencyTrees::operator=(DependencyTrees&&) noexcept = default;

std::size_t DependencyTrees::size() const { return impl_->size(); }
RootRule DependencyTrees::root_rule() const { return impl_->root; }
TreeFamily DependencyTrees::family() const { return impl_->family; }
int DependencyTrees::n(std::size_t sentence) const { return impl_->scores[sentence].n(); }
std::uint64_t DependencyTrees::id(std::size_t sentence) const { return impl_->id(sentence); }
int DependencyTrees::label_count() const {
  return impl_->labeled() ? impl_->labels[0].labels() : 0;
}

std::vector<Outcome> DependencyTrees::outcomes() {
  Impl& d = *impl_;
  if (d.device != nullptr) {
    std::vector<Outcome> outcomes(d.size());
    d.device->outcomes(outcomes);
    return outcomes;
  }
  if (!d.factored.done() && d.summed.done()) return d.sum_outcomes;
  return detail::ask(
      d, detail::Needs::kFactors, "outcomes",
      [](std::size_t, const Factorization&, detail::ThreadMemory&) {}, [](std::size_t) {});
}

const Factorization& DependencyTrees::factorization(std::size_t sentence) {
  Impl& d = *impl_;
  detail::require(sentence < d.size(), "factorization", "there is no such sentence");
  detail::require(d.keep, "factorization", "this batch keeps nothing");
  if (!d.factored.done()) {
    detail::ask(
        d, detail::Needs::kFactors, "factorization",
        [](std::size_t, const Factorization&, detail::ThreadMemory&) {}, [](std::size_t) {});
  }
  return d.factorizations[sentence].factorization;
}

const ScoreView& DependencyTrees::decode_scores(std::size_t sentence) const {
  return impl_->for_decoding(sentence);
}

const LabelView& DependencyTrees::labels(std::size_t sentence) const {
  detail::require(impl_->labeled(), "labels", "there are no label scores");
  return impl_->labels[sentence];
}

}  // namespace taproot
