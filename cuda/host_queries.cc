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

// The matrix without gaps between its rows.
std::vector<double> contiguous(const ConstEdgeMatrix& from, std::size_t side) {
  std::vector<double> to(side * side);
  for (std::size_t h = 0; h < side; ++h) {
    std::copy_n(from.data + static_cast<std::ptrdiff_t>(h) * from.head_stride, side,
                to.data() + h * side);
  }
  return to;
}

}  // namespace

void OnCuda::outcomes(std::span<Outcome> out) {
  const Question question(batch_);
  batch_.settle();
  std::copy(batch_.outcomes().begin(), batch_.outcomes().end(), out.begin());
}

void OnCuda::log_partition(std::span<double> out) {
  const Question question(batch_);
  const DeviceBlock found = numbers();
  batch_.trees().log_partition(data_of(found), batch_.stream());
  fetch_numbers(found, out);
  on_cpu([&](std::size_t b, const Factorization& f) { out[b] = taproot::log_partition(f); });
}

void OnCuda::entropy(std::span<double> out) {
  const Question question(batch_);
  const DeviceBlock found = numbers();
  batch_.trees().entropy(data_of(found), batch_.stream());
  fetch_numbers(found, out);
  on_cpu([&](std::size_t b, const Factorization& f) {
    out[b] = taproot::entropy(f, batch_.workspace());
  });
}

CudaEdges OnCuda::edges_in(const DeviceBlock& memory) const {
  CudaEdges edges;
  edges.data = memory.data();
  edges.offsets = batch_.offsets();
  return edges;
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
  batch_.trees().marginals(edges_in(found), batch_.stream());
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
  ConstCudaEdges from;
  from.data = along.data();
  from.offsets = batch_.offsets();
  batch_.trees().hessian_product(from, edges_in(found), batch_.stream());
  fetch_edges(found, out);
  on_cpu([&](std::size_t b, const Factorization& f) {
    const std::size_t side = batch_.words(b) + 1;
    try {
      taproot::hessian_product(f, contiguous(direction[b], side), out[b], batch_.workspace());
    } catch (const std::invalid_argument&) {
      for (std::size_t h = 0; h < side; ++h) {
        std::fill_n(out[b].data + static_cast<std::ptrdiff_t>(h) * out[b].head_stride, side, NAN);
      }
    }
  });
}

void OnCuda::expectation(std::span<const ConstEdgeMatrix> values, std::span<double> out) {
  const Question question(batch_);
  const DeviceBlock there = send_edges(values);
  const DeviceBlock found = numbers();
  ConstCudaEdges from;
  from.data = there.data();
  from.offsets = batch_.offsets();
  batch_.trees().expectation(from, data_of(found), batch_.stream());
  fetch_numbers(found, out);
  on_cpu([&](std::size_t b, const Factorization& f) {
    out[b] =
        taproot::expectation(f, contiguous(values[b], batch_.words(b) + 1), batch_.workspace());
  });
}

void OnCuda::divergence(DeviceBatch& other, detail::Divergence kind, std::span<double> out) {
  auto& q = static_cast<OnCuda&>(other);
  detail::require(&batch_.engine() == &q.batch_.engine(), "divergence",
                  "the two batches are on different Cudas");
  // What the CPU finishes is of the same sentences in both, because their lengths are the same.
  std::map<std::size_t, const Factorization*> of_q;
  if (&q != this) {
    const Question question(q.batch_);
    q.batch_.settle();
    for (const std::size_t b : q.batch_.refused()) of_q[b] = &q.batch_.factored(b);
  }
  const Question question(batch_);
  const DeviceBlock found = numbers();
  if (kind == detail::Divergence::kCrossEntropy) {
    batch_.trees().cross_entropy(q.batch_.trees(), data_of(found), batch_.stream());
  } else {
    batch_.trees().kl_divergence(q.batch_.trees(), data_of(found), batch_.stream());
  }
  fetch_numbers(found, out);
  on_cpu([&](std::size_t b, const Factorization& f) {
    const Factorization& g = &q == this ? f : *of_q.at(b);
    if (!g.outcome().ok()) return;
    out[b] = kind == detail::Divergence::kCrossEntropy
                 ? taproot::cross_entropy(f, g, batch_.workspace())
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
