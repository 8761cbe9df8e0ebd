// SPDX-License-Identifier: Apache-2.0
//
// Numbers on the CPU. A sentence without a tree has log Z = -inf and marginals 0, and NaN where a
// number is asked for that it does not have; a sentence with a bad score, without words or with a
// length that cannot be has NaN everywhere.
#include <algorithm>
#include <array>
#include <cmath>

#include "handlers.h"
#include "on_cpu.h"

namespace taproot::python::jax {
namespace {

using D = DependencyTrees;
using Outcomes = std::vector<Outcome>;

void write_log_partition(D& trees, std::span<double> out) {
  const Outcomes outcomes = trees.log_partition(out);
  for (std::size_t b = 0; b < out.size(); ++b) {
    if (outcomes[b].status == Status::kNoTree) out[b] = -HUGE_VAL;
  }
}

using NumberQuestion = Outcomes (D::*)(std::span<double>);
template <NumberQuestion kQuestion>
void ask_numbers(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  D trees = trees_of(batch, false);
  (trees.*kQuestion)(out.all());
  out.finish();
}

void log_partition(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  D trees = trees_of(batch, false);
  write_log_partition(trees, out.all());
  out.finish();
}

template <typename T>
auto matrices(const Batch& batch, T* data) {
  return matrices_in(data, batch.size, batch.side, batch.side);
}

// What lies beyond a sentence's length is 0. To be called before the answers are written.
void clear_padding(const Batch& batch, double* data, std::size_t per_sentence) {
  for (std::size_t b = 0; b < batch.size; ++b) {
    if (static_cast<std::size_t>(words_of(batch, b)) < batch.row()) {
      std::fill_n(data + b * per_sentence, per_sentence, 0.0);
    }
  }
}

// Sentences without an answer: 0 if there is no tree, else NaN.
void fill_lost(const Outcomes& outcomes, double* data, std::size_t per_sentence) {
  for (std::size_t b = 0; b < outcomes.size(); ++b) {
    if (outcomes[b].ok()) continue;
    std::fill_n(data + b * per_sentence, per_sentence,
                outcomes[b].status == Status::kNoTree ? 0.0 : NAN);
  }
}

void write_marginals(const Batch& batch, D& trees, double* out) {
  clear_padding(batch, out, batch.cells());
  fill_lost(trees.marginals(matrices(batch, out)), out, batch.cells());
}

void marginals(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  D trees = trees_of(batch, false);
  write_marginals(batch, trees, out.data());
  out.finish();
}

void log_partition_and_marginals(const Call& call, const Batch& batch) {
  Numbers log_z(call.result(0));
  Numbers p(call.result(1));
  D trees = trees_of(batch, false);
  write_marginals(batch, trees, p.data());
  write_log_partition(trees, log_z.all());  // Known from the marginals.
  log_z.finish();
  p.finish();
}

// The product of the Hessian with a matrix per sentence.
void write_product(const Batch& batch, D& trees, const ffi::AnyBuffer& vector, double* out) {
  std::unique_ptr<double[]> memory;
  const double* from = nullptr;
  if (holds_doubles(vector)) {
    from = vector.typed_data<double>();
  } else {
    const std::size_t size = vector.element_count();
    memory = std::make_unique_for_overwrite<double[]>(size);
    std::copy_n(vector.typed_data<float>(), size, memory.get());
    from = memory.get();
  }
  clear_padding(batch, out, batch.cells());
  fill_lost(trees.hessian_product(matrices(batch, from), matrices(batch, out)), out, batch.cells());
}

// Operand 2 is the vector.
void hessian_product(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  D trees = trees_of(batch, false);
  write_product(batch, trees, call.operand(2), out.data());
  out.finish();
}

// Results: the entropy, and the product of the Hessian with the scores, which is minus its
// gradient.
void entropy_and_product(const Call& call, const Batch& batch) {
  Numbers entropy(call.result(0));
  Numbers product(call.result(1));
  D trees = trees_of(batch, true);
  trees.entropy(entropy.all());
  write_product(batch, trees, call.operand(0), product.data());
  entropy.finish();
  product.finish();
}

// The outcomes [size][3], as a device writes them.
void write_outcomes(const Outcomes& outcomes, const ffi::AnyBuffer& result) {
  auto* to = result.typed_data<std::int32_t>();
  for (const Outcome& outcome : outcomes) {
    *to++ = static_cast<std::int32_t>(outcome.status);
    *to++ = outcome.head;
    *to++ = outcome.modifier;
  }
}

// Results: a number per word, the outcomes.
void root_marginals(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  D trees = trees_of(batch, false);
  clear_padding(batch, out.data(), batch.row());
  std::vector<double*> rows(batch.size);
  for (std::size_t b = 0; b < batch.size; ++b) rows[b] = out.data() + b * batch.row();
  const Outcomes outcomes = trees.root_marginals(rows);
  fill_lost(outcomes, out.data(), batch.row());
  write_outcomes(outcomes, call.result(1));
  out.finish();
}

// Operand 2 has the scores of q.
using PairQuestion = Outcomes (D::*)(D&, std::span<double>);
template <PairQuestion kQuestion>
void compare(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  D p = trees_of(batch, false);
  D q = trees_of(batch_of(call, 2, "other_projective"), false);
  (p.*kQuestion)(q, out.all());
  out.finish();
}

// Operand 2 has k trees per sentence, [size][k][row]; a tree whose first head is -1 gives NaN.
void write_log_prob(const Batch& batch, D& trees, const ffi::AnyBuffer& heads, double* out) {
  const ffi::AnyBuffer::Dimensions shape = heads.dimensions();
  const auto k = static_cast<std::size_t>(shape[shape.size() - 2]);
  std::vector<TreeBuffer> buffers(batch.size);
  std::vector<double*> rows(batch.size);
  for (std::size_t b = 0; b < batch.size; ++b) {
    buffers[b] = {heads.typed_data<std::int32_t>() + b * k * batch.row(),
                  static_cast<std::ptrdiff_t>(batch.row())};
    rows[b] = out + b * k;
  }
  trees.log_prob(k, buffers, {}, rows);
}

void log_prob(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  D trees = trees_of(batch, false);
  write_log_prob(batch, trees, call.operand(2), out.data());
  out.finish();
}

void log_prob_and_marginals(const Call& call, const Batch& batch) {
  Numbers out(call.result(0));
  Numbers p(call.result(1));
  D trees = trees_of(batch, true);
  write_log_prob(batch, trees, call.operand(2), out.data());
  write_marginals(batch, trees, p.data());
  out.finish();
  p.finish();
}

constexpr std::array kHandlers{
    Handler{"taproot_log_partition", &on_cpu<&log_partition>},
    Handler{"taproot_marginals", &on_cpu<&marginals>},
    Handler{"taproot_log_partition_and_marginals", &on_cpu<&log_partition_and_marginals>},
    Handler{"taproot_entropy", &on_cpu<&ask_numbers<&D::entropy>>},
    Handler{"taproot_entropy_and_product", &on_cpu<&entropy_and_product>},
    Handler{"taproot_expected_tries", &on_cpu<&ask_numbers<&D::expected_tries>>},
    Handler{"taproot_expected_steps", &on_cpu<&ask_numbers<&D::expected_steps>>},
    Handler{"taproot_projective_mass", &on_cpu<&ask_numbers<&D::projective_mass>>},
    Handler{"taproot_hessian_product", &on_cpu<&hessian_product>},
    Handler{"taproot_root_marginals", &on_cpu<&root_marginals>},
    Handler{"taproot_cross_entropy", &on_cpu<&compare<&D::cross_entropy>>},
    Handler{"taproot_kl_divergence", &on_cpu<&compare<&D::kl_divergence>>},
    Handler{"taproot_log_prob", &on_cpu<&log_prob>},
    Handler{"taproot_log_prob_and_marginals", &on_cpu<&log_prob_and_marginals>},
};

}  // namespace

std::span<const Handler> cpu_numbers() { return kHandlers; }

}  // namespace taproot::python::jax
