// SPDX-License-Identifier: Apache-2.0
//
// The questions of DependencyTrees that have numbers for answers: each is one of taproot/query.h,
// sentence by sentence. log Z and marginals are in sums.cc.
#include <algorithm>
#include <cmath>
#include <string>

#include "batch/batch.h"
#include "core/check.h"

namespace taproot {

using detail::ask;
using detail::ask_device;
using detail::ask_numbers;
using detail::contiguous;
using detail::fill;
using detail::Needs;
using detail::side;
using detail::ThreadMemory;

std::vector<Outcome> DependencyTrees::entropy(std::span<double> out) {
  Impl& d = *impl_;
  if (d.device != nullptr) return ask_device(d, out, "entropy", [&] { d.device->entropy(out); });
  return ask_numbers(d, Needs::kMarginals, "entropy", out,
                     [](std::size_t, const Factorization& f, ThreadMemory& own) {
                       return taproot::entropy(f, own.workspace);
                     });
}

std::vector<Outcome> DependencyTrees::expected_tries(std::span<double> out) {
  return ask_numbers(*impl_, Needs::kFactors, "expected_tries", out,
                     [](std::size_t, const Factorization& f, ThreadMemory& own) {
                       return taproot::expected_tries(f, own.workspace);
                     });
}

std::vector<Outcome> DependencyTrees::projective_mass(std::span<double> out) {
  return ask_numbers(*impl_, Needs::kFactors, "projective_mass", out,
                     [](std::size_t, const Factorization& f, ThreadMemory& own) {
                       return taproot::projective_mass(f, own.workspace);
                     });
}

std::vector<Outcome> DependencyTrees::expected_steps(std::span<double> out) {
  detail::require(impl_->family == TreeFamily::kAll, "expected_steps",
                  "Wilson's walk does not sample projective trees");
  return ask_numbers(*impl_, Needs::kFactors, "expected_steps", out,
                     [](std::size_t, const Factorization& f, ThreadMemory& own) {
                       return taproot::expected_steps(f, own.workspace);
                     });
}

std::vector<Outcome> DependencyTrees::expectation(std::span<const ConstEdgeMatrix> values,
                                                  std::span<double> out) {
  Impl& d = *impl_;
  d.require_entries(values.size(), "expectation", "values");
  if (d.device != nullptr) {
    return ask_device(d, out, "expectation", [&] { d.device->expectation(values, out); });
  }
  return ask_numbers(*impl_, Needs::kMarginals, "expectation", out,
                     [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
                       std::vector<double> memory;
                       return taproot::expectation(f, contiguous(values[b], f.n(), memory),
                                                   own.workspace);
                     });
}

namespace {

using PairQuery = double (*)(const Factorization&, const Factorization&, Workspace&);

std::vector<Outcome> ask_pair(DependencyTrees::Impl& p, DependencyTrees::Impl& q,
                              const char* function, std::span<double> out, PairQuery query,
                              detail::Divergence kind) {
  if (p.size() != q.size()) {
    detail::misuse(function, "p has " + std::to_string(p.size()) + " sentences and q has " +
                                 std::to_string(q.size()));
  }
  detail::require_same_root(p.root, q.root, function);
  for (std::size_t b = 0; b < p.size(); ++b) {
    if (p.words(b) == q.words(b)) continue;
    detail::misuse(function, "sentence " + std::to_string(b) + " has " +
                                 std::to_string(p.words(b)) + " words in p and " +
                                 std::to_string(q.words(b)) + " in q");
  }
  if (p.device != nullptr && q.device != nullptr) {
    std::vector<Outcome> outcomes =
        ask_device(p, out, function, [&] { p.device->divergence(*q.device, kind, out); });
    std::vector<Outcome> of_q(q.size());
    q.device->outcomes(of_q);
    for (std::size_t b = 0; b < outcomes.size(); ++b) {
      if (!outcomes[b].ok() || of_q[b].ok()) continue;
      outcomes[b] = of_q[b];
      out[b] = NAN;
    }
    return outcomes;
  }
  static_cast<void>(q.threads(function));
  if (&p != &q && q.keep && !q.factored.done()) {
    ask(
        q, Needs::kFactors, function, [](std::size_t, const Factorization&, ThreadMemory&) {},
        [](std::size_t) {});
  }
  std::vector<Outcome> of_q(q.size());
  std::vector<Outcome> outcomes = ask_numbers(
      p, Needs::kMarginals, function, out,
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        if (!q.keep) factorize(q.scores[b], q.root, q.family, own.second, own.workspace);
        const Factorization& other = q.keep ? q.factorizations[b].factorization : own.second;
        of_q[b] = other.outcome();
        return of_q[b].ok() ? query(f, other, own.workspace) : NAN;
      });
  for (std::size_t b = 0; b < outcomes.size(); ++b) {
    if (outcomes[b].ok()) outcomes[b] = of_q[b];
  }
  return outcomes;
}

}  // namespace

std::vector<Outcome> DependencyTrees::cross_entropy(DependencyTrees& q, std::span<double> out) {
  return ask_pair(*impl_, *q.impl_, "cross_entropy", out, &taproot::cross_entropy,
                  detail::Divergence::kCrossEntropy);
}

std::vector<Outcome> DependencyTrees::kl_divergence(DependencyTrees& q, std::span<double> out) {
  return ask_pair(*impl_, *q.impl_, "kl_divergence", out, &taproot::kl_divergence,
                  detail::Divergence::kRelativeEntropy);
}

std::vector<Outcome> DependencyTrees::hessian_product(std::span<const ConstEdgeMatrix> direction,
                                                      std::span<const EdgeMatrix> out) {
  Impl& d = *impl_;
  d.require_entries(direction.size(), "hessian_product", "direction");
  d.require_entries(out.size(), "hessian_product", "out");
  const auto lost = [&](std::size_t b) {
    fill(out[b], side(d.scores[b].n()), side(d.scores[b].n()), NAN);
  };
  if (d.device != nullptr) {
    return ask_device(
        d, [&] { d.device->hessian_product(direction, out); }, lost);
  }
  return ask(
      d, Needs::kFactors, "hessian_product",
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        std::vector<double> memory;
        try {
          taproot::hessian_product(f, contiguous(direction[b], f.n(), memory), out[b],
                                   own.workspace);
        } catch (const std::invalid_argument&) {
          lost(b);
        }
      },
      lost);
}

std::vector<Outcome> DependencyTrees::root_marginals(std::span<double* const> out) {
  Impl& d = *impl_;
  d.require_entries(out.size(), "root_marginals", "out");
  const auto lost = [&](std::size_t b) { std::fill_n(out[b], d.words(b), NAN); };
  if (d.device != nullptr)
    return ask_device(
        d, [&] { d.device->root_marginals(out); }, lost);
  return ask(
      d, d.root == RootRule::kMulti ? Needs::kMarginals : Needs::kFactors, "root_marginals",
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        taproot::root_marginals(f, {out[b], d.words(b)}, own.workspace);
      },
      lost);
}

std::vector<Outcome> DependencyTrees::label_marginals(std::span<const EdgeMatrix> out) {
  Impl& d = *impl_;
  d.require_entries(out.size(), "label_marginals", "out");
  detail::require(d.labeled() || d.size() == 0, "label_marginals", "there are no label scores");
  const auto row = [&](std::size_t b) {
    return side(d.scores[b].n()) * static_cast<std::size_t>(d.labels[b].labels());
  };
  return ask(
      d, Needs::kMarginals, "label_marginals",
      [&](std::size_t b, const Factorization& f, ThreadMemory& own) {
        std::vector<double> edges(side(f.n()) * side(f.n()));
        taproot::marginals(f, {edges.data(), f.n() + 1}, own.workspace);
        std::vector<double> of_labels(side(f.n()) * row(b));
        taproot::label_marginals(d.labels[b], edges, of_labels);
        for (std::size_t h = 0; h < side(f.n()); ++h) {
          std::copy_n(of_labels.data() + h * row(b), row(b),
                      out[b].data + static_cast<std::ptrdiff_t>(h) * out[b].head_stride);
        }
      },
      [&](std::size_t b) { fill(out[b], side(d.scores[b].n()), row(b), NAN); });
}

std::vector<Outcome> DependencyTrees::log_prob(std::size_t k, std::span<const TreeBuffer> heads,
                                               std::span<const TreeBuffer> labels,
                                               std::span<double* const> out,
                                               std::ptrdiff_t out_stride) {
  Impl& d = *impl_;
  d.require_entries(heads.size(), "log_prob", "heads");
  d.require_entries(out.size(), "log_prob", "out");
  detail::require(labels.empty() || d.labeled(), "log_prob", "there are no label scores");
  if (!labels.empty()) d.require_entries(labels.size(), "log_prob", "labels");
  const auto tree = [&](const TreeBuffer& trees, std::size_t b, std::size_t s) {
    return TreeView(trees.data + static_cast<std::ptrdiff_t>(s) * trees.stride, d.words(b));
  };
  const auto value = [&](std::size_t b, std::size_t s) -> double& {
    return out[b][static_cast<std::ptrdiff_t>(s) * out_stride];
  };
  const auto lost = [&](std::size_t b) {
    for (std::size_t s = 0; s < k; ++s) value(b, s) = NAN;
  };
  const auto add_labels_of = [&](std::size_t b, std::size_t s) {
    if (labels.empty() || !(value(b, s) > -HUGE_VAL)) return;
    value(b, s) += labels_log_prob(d.labels[b], tree(heads[b], b, s), tree(labels[b], b, s));
  };
  if (d.device != nullptr) {
    std::vector<Outcome> outcomes(d.size());
    d.device->log_prob(k, heads, out, out_stride);
    d.device->outcomes(outcomes);
    for (std::size_t b = 0; b < d.size(); ++b) {
      if (!outcomes[b].ok()) lost(b);
      for (std::size_t s = 0; s < k && outcomes[b].ok(); ++s) {
        if (tree(heads[b], b, s)[0] == -1) value(b, s) = NAN;
        add_labels_of(b, s);
      }
    }
    return outcomes;
  }
  return ask(
      d, Needs::kFactors, "log_prob",
      [&](std::size_t b, const Factorization& f, ThreadMemory&) {
        for (std::size_t s = 0; s < k; ++s) {
          const TreeView own = tree(heads[b], b, s);
          value(b, s) = own[0] == -1 ? NAN : taproot::log_prob(f, own);
          add_labels_of(b, s);
        }
      },
      lost);
}

}  // namespace taproot
