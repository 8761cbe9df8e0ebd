// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "distribution.h"
#include "threads.h"

namespace taproot::python {
namespace {

std::size_t side(int n) { return static_cast<std::size_t>(n) + 1; }

// answer(b, f, workspace) for the sentences that have one, lost(b) for the others.
template <typename Answer, typename Lost>
void ask(Distribution& d, Answer&& answer, Lost&& lost) {
  Interrupt interrupt;
  d.factor(interrupt);
  for_each(d.size(), d.longest(), interrupt, [&](std::size_t b, Own& own) {
    if (d.outcome(b).ok()) {
      answer(b, d[b], own.workspace);
    } else {
      lost(b);
    }
  });
}

// A padded matrix of edges a sentence: fill(b, f, workspace, matrix) where there is an answer.
template <typename Fill>
void ask_edges(Distribution& d, double* out, Fill&& fill) {
  const std::size_t row = side(d.padded_n());
  ask(
      d,
      [&](std::size_t b, const Factorization& f, Workspace& workspace) {
        double* matrix = out + b * row * row;
        if (f.n() < d.padded_n()) std::fill_n(matrix, row * row, 0.0);
        fill(b, f, workspace, EdgeMatrix{matrix, static_cast<std::ptrdiff_t>(row)});
      },
      [&](std::size_t b) { std::fill_n(out + b * row * row, row * row, NAN); });
}

// The top left corner of a padded matrix, row-major by itself.
std::span<const double> corner(const double* matrix, int padded_n, int n,
                               std::vector<double>& memory) {
  if (n == padded_n) return {matrix, side(n) * side(n)};
  memory.resize(side(n) * side(n));
  for (std::size_t h = 0; h < side(n); ++h) {
    std::copy_n(matrix + h * side(padded_n), side(n), memory.data() + h * side(n));
  }
  return memory;
}

}  // namespace

void scalar(Distribution& d, Scalar query, double* out) {
  ask(
      d,
      [&](std::size_t b, const Factorization& f, Workspace& workspace) {
        out[b] = query(f, workspace);
      },
      [&](std::size_t b) { out[b] = NAN; });
}

void pair_scalar(Distribution& p, Distribution& q, PairScalar query, double* out) {
  Interrupt interrupt;
  q.factor(interrupt);
  ask(
      p,
      [&](std::size_t b, const Factorization& f, Workspace& workspace) {
        out[b] = q.outcome(b).ok() ? query(f, q[b], workspace) : NAN;
      },
      [&](std::size_t b) { out[b] = NAN; });
}

void marginals(Distribution& d, double* out) {
  ask_edges(d, out, [](std::size_t, const Factorization& f, Workspace& workspace, EdgeMatrix to) {
    taproot::marginals(f, to, workspace);
  });
}

void hessian_product(Distribution& d, const double* direction, bool or_nan, double* out) {
  const std::size_t row = side(d.padded_n());
  ask_edges(d, out,
            [&](std::size_t b, const Factorization& f, Workspace& workspace, EdgeMatrix to) {
              std::vector<double> memory;
              const auto own = corner(direction + b * row * row, d.padded_n(), f.n(), memory);
              try {
                taproot::hessian_product(f, own, to, workspace);
              } catch (const std::invalid_argument&) {
                if (!or_nan) throw;
                std::fill_n(to.data, row * row, NAN);
              }
            });
}

void expectation(Distribution& d, const double* values, double* out) {
  const std::size_t size = side(d.padded_n()) * side(d.padded_n());
  ask(
      d,
      [&](std::size_t b, const Factorization& f, Workspace& workspace) {
        std::vector<double> memory;
        out[b] = taproot::expectation(f, corner(values + b * size, d.padded_n(), f.n(), memory),
                                      workspace);
      },
      [&](std::size_t b) { out[b] = NAN; });
}

void root_marginals(Distribution& d, double* out) {
  const auto row = static_cast<std::size_t>(d.padded_n());
  ask(
      d,
      [&](std::size_t b, const Factorization& f, Workspace& workspace) {
        const auto n = static_cast<std::size_t>(f.n());
        taproot::root_marginals(f, {out + b * row, n}, workspace);
        std::fill(out + b * row + n, out + (b + 1) * row, 0.0);
      },
      [&](std::size_t b) { std::fill_n(out + b * row, row, NAN); });
}

void label_marginals(Distribution& d, double* out) {
  const std::size_t row = side(d.padded_n());
  const auto labels = static_cast<std::size_t>(d.size() == 0 ? 0 : d.labels(0).labels());
  const std::size_t size = row * row * labels;
  ask(
      d,
      [&](std::size_t b, const Factorization& f, Workspace& workspace) {
        const std::size_t own = side(f.n());
        std::vector<double> edges(own * own);
        taproot::marginals(f, {edges.data(), static_cast<std::ptrdiff_t>(own)}, workspace);
        std::vector<double> of_labels(own * own * labels);
        taproot::label_marginals(d.labels(b), edges, of_labels);
        double* to = out + b * size;
        std::fill_n(to, size, 0.0);
        for (std::size_t h = 0; h < own; ++h) {
          std::copy_n(of_labels.data() + h * own * labels, own * labels, to + h * row * labels);
        }
      },
      [&](std::size_t b) { std::fill_n(out + b * size, size, NAN); });
}

void log_prob(Distribution& d, std::size_t k, const std::int32_t* heads, const std::int32_t* labels,
              double* out) {
  const auto row = static_cast<std::size_t>(d.padded_n());
  ask(
      d,
      [&](std::size_t b, const Factorization& f, Workspace&) {
        const auto n = static_cast<std::size_t>(f.n());
        for (std::size_t s = 0; s < k; ++s) {
          const std::size_t at = s * d.size() + b;
          const TreeView tree(heads + at * row, n);
          double value = taproot::log_prob(f, tree);
          if (labels != nullptr && value > -HUGE_VAL) {
            value += labels_log_prob(d.labels(b), tree, {labels + at * row, n});
          }
          out[at] = value;
        }
      },
      [&](std::size_t b) {
        for (std::size_t s = 0; s < k; ++s) out[s * d.size() + b] = NAN;
      });
}

}  // namespace taproot::python
