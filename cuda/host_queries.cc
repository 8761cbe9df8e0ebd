// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a batch in host memory.
#include <cmath>
#include <map>

#include "core/check.h"
#include "cuda/on_cuda.h"

namespace taproot {
namespace cuda {
namespace {

/// A tree that is not there has the head -1 first.
void require_heads(TreeView heads) {
  if (heads[0] == -1) return;
  for (const std::int32_t head : heads) {
    detail::require(head >= 0 && static_cast<std::size_t>(head) <= heads.size(), "log_prob",
                    "a head is outside 0..n");
  }
}

}  // namespace

void OnCuda::outcomes(std::span<Outcome> out) {
  const Question question(batch_);
  batch_.settle();
  std::copy(batch_.outcomes().begin(), batch_.outcomes().end(), out.begin());
}

void OnCuda::log_partition(std::span<double> out) {
  ask_numbers(
      out, [&](double* found) { batch_.trees().log_partition(found, batch_.stream()); },
      [](std::size_t, const Factorization& f) { return taproot::log_partition(f); });
}

void OnCuda::entropy(std::span<double> out) {
  ask_numbers(
      out, [&](double* found) { batch_.trees().entropy(found, batch_.stream()); },
      [&](std::size_t, const Factorization& f) { return taproot::entropy(f, batch_.workspace()); });
}

DeviceBlock OnCuda::send_edges(std::span<const ConstEdgeMatrix> from) {
  DeviceBlock there = edge_memory();
  batch_.transfer().send(data_of(there), batch_.bounds(), [&](std::size_t b, double* to) {
    if (!batch_.on_device(b)) return;
    const std::size_t side = batch_.words(b) + 1;
    const double* row = from[b].data;
    for (std::size_t h = 0; h < side; ++h, to += side, row += from[b].head_stride) {
      std::copy_n(row, side, to);
    }
  });
  return there;
}

void OnCuda::fetch_edges(const DeviceBlock& found, std::span<const EdgeMatrix> out) {
  batch_.settle();
  fetch(data_of(found), batch_.bounds(), [&](std::size_t b, const double* from) {
    const std::size_t side = batch_.words(b) + 1;
    double* row = out[b].data;
    for (std::size_t h = 0; h < side; ++h, from += side, row += out[b].head_stride) {
      std::copy_n(from, side, row);
    }
  });
}

void OnCuda::marginals(std::span<const EdgeMatrix> out) {
  const Question question(batch_);
  const DeviceBlock found = edge_memory();
  batch_.trees().marginals(edges_in<CudaEdges>(found), batch_.stream());
  fetch_edges(found, out);
  on_cpu([&](std::size_t b, const Factorization& f) {
    taproot::marginals(f, out[b], batch_.workspace());
  });
}

void OnCuda::root_marginals(std::span<double* const> out) {
  const Question question(batch_);
  const DeviceBlock found(batch_.engine().pool, batch_.size() * batch_.width() * sizeof(double),
                          batch_.stream());
  if (batch_.width() > 0) batch_.trees().root_marginals(data_of(found), batch_.stream());
  batch_.settle();
  fetch(data_of(found), regular_bounds(batch_.size(), batch_.width()),
        [&](std::size_t b, const double* from) { std::copy_n(from, batch_.words(b), out[b]); });
  on_cpu([&](std::size_t b, const Factorization& f) {
    taproot::root_marginals(f, {out[b], batch_.words(b)}, batch_.workspace());
  });
}

void OnCuda::hessian_product(std::span<const ConstEdgeMatrix> direction,
                             std::span<const EdgeMatrix> out) {
  const Question question(batch_);
  const DeviceBlock along = send_edges(direction);
  const DeviceBlock found = edge_memory();
  batch_.trees().hessian_product(edges_in<ConstCudaEdges>(along), edges_in<CudaEdges>(found),
                                 batch_.stream());
  fetch_edges(found, out);
  on_cpu([&](std::size_t b, const Factorization& f) {
    std::vector<double> memory;
    try {
      taproot::hessian_product(f, detail::contiguous(direction[b], f.n(), memory), out[b],
                               batch_.workspace());
    } catch (const std::invalid_argument&) {
      detail::fill(out[b], detail::side(f.n()), detail::side(f.n()), NAN);
    }
  });
}

void OnCuda::expectation(std::span<const ConstEdgeMatrix> values, std::span<double> out) {
  ask_numbers(
      out,
      [&](double* found) {
        const DeviceBlock there = send_edges(values);
        batch_.trees().expectation(edges_in<ConstCudaEdges>(there), found, batch_.stream());
      },
      [&](std::size_t b, const Factorization& f) {
        std::vector<double> memory;
        return taproot::expectation(f, detail::contiguous(values[b], f.n(), memory),
                                    batch_.workspace());
      });
}

void OnCuda::divergence(DeviceBatch& other, detail::Divergence kind, std::span<double> out) {
  auto& q = static_cast<OnCuda&>(other);
  const bool cross = kind == detail::Divergence::kCrossEntropy;
  detail::require(&batch_.engine() == &q.batch_.engine(), cross ? "cross_entropy" : "kl_divergence",
                  "the two batches are on different Cudas; make both on one");
  // What the CPU finishes is of the same sentences in both, because their lengths are the same.
  std::map<std::size_t, const Factorization*> of_q;
  if (&q != this) {
    const Question question(q.batch_);
    q.batch_.settle();
    for (const std::size_t b : q.batch_.refused()) of_q[b] = &q.batch_.factored(b);
  }
  ask_numbers(
      out,
      [&](double* found) {
        const auto question =
            cross ? &CudaDependencyTrees::cross_entropy : &CudaDependencyTrees::kl_divergence;
        (batch_.trees().*question)(q.batch_.trees(), found, batch_.stream());
      },
      [&](std::size_t b, const Factorization& f) -> double {
        const Factorization& g = &q == this ? f : *of_q.at(b);
        if (!g.outcome().ok()) return NAN;
        return cross ? taproot::cross_entropy(f, g, batch_.workspace())
                     : taproot::kl_divergence(f, g, batch_.workspace());
      });
}

void OnCuda::log_prob(std::size_t k, std::span<const TreeBuffer> heads,
                      std::span<double* const> out, std::ptrdiff_t out_stride) {
  const Question question(batch_);
  batch_.settle();
  in_parts(k, [&](std::size_t first, std::size_t count) {
    const TreeMemory there(batch_, count);
    batch_.transfer().send(
        there.trees.heads, tree_bounds(count), [&](std::size_t b, std::int32_t* to) {
          if (!batch_.answered(b)) return;
          for (std::size_t s = 0; s < count; ++s, to += batch_.width()) {
            const TreeView tree(heads[b].data + at(first + s, heads[b].stride), batch_.words(b));
            require_heads(tree);
            std::copy(tree.begin(), tree.end(), to);
          }
        });
    batch_.trees().log_prob(count, there.trees, there.values, batch_.stream());
    fetch_values(there, count,
                 [&](std::size_t b, std::size_t s) { return out[b] + at(first + s, out_stride); });
  });
  on_cpu([&](std::size_t b, const Factorization& f) {
    for (std::size_t s = 0; s < k; ++s) {
      const TreeView tree(heads[b].data + at(s, heads[b].stride), batch_.words(b));
      out[b][at(s, out_stride)] = tree[0] == -1 ? NAN : taproot::log_prob(f, tree);
    }
  });
}

}  // namespace cuda

std::unique_ptr<detail::DeviceBatch> detail::make_device_batch(Cuda& cuda,
                                                               std::span<const ScoreView> scores,
                                                               std::span<const std::uint64_t> ids,
                                                               RootRule root, TreeFamily family) {
  return std::make_unique<cuda::OnCuda>(cuda, scores, ids, root, family);
}

}  // namespace taproot
