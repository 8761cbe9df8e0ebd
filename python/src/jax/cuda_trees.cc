// SPDX-License-Identifier: Apache-2.0
//
// Trees on a CUDA device, with the same operands and results as on the CPU (cpu_trees.cc), but
// without labels (_jax_operators.py decodes with labels). Decoding does not wait for the device.
// Sampling does: the library takes seeds in host memory, and the few sentences that only the CPU
// can sample are sampled there.
#include <algorithm>
#include <array>
#include <cmath>

#include "handlers.h"
#include "on_cpu.h"
#include "on_cuda.h"
#include "refusal.h"

namespace taproot::python::jax {
namespace {

using D = CudaDependencyTrees;

// Trees [size][k][row] from sentence `first` on.
CudaTreeBuffer trees_in(const ffi::AnyBuffer& result, const Batch& batch, std::size_t k,
                        std::size_t first = 0) {
  const std::size_t of_sentence = k * batch.row();
  return {result.typed_data<std::int32_t>() + first * of_sentence,
          static_cast<std::ptrdiff_t>(of_sentence), static_cast<std::ptrdiff_t>(batch.row())};
}

void argmax(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return;
  CudaArgmax question;
  question.scores = scores_of(batch);
  question.trees = trees_in(call.result(0), batch, 1);
  const std::size_t bytes = cuda_argmax_bytes(question);
  cuda_argmax(question, call.scratch(bytes), bytes, call.stream());
}

void mbr(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return;
  D trees(cuda_of(precision_of(batch)), scores_of(batch));
  trees.mbr(trees_in(call.result(0), batch, 1), call.stream());
}

// visit(batch, first sentence, seed) for each of the calls in this one.
template <typename Visit>
void for_each_call(const CudaCall& call, const Batch& all, Visit&& visit) {
  const Calls calls = calls_of(call);
  const std::vector<std::uint32_t> keys =
      call.to_host(call.operand(2).typed_data<std::uint32_t>(), 2 * all.size);
  for (std::size_t c = 0; c < calls.count; ++c) visit_call(all, calls, c, keys.data(), visit);
}

// visit(trees, b) for the sentences of a call that only the CPU can sample: `trees` has sentence b
// alone, with its id.
template <typename Visit>
void finish_on_cpu(const CudaCall& call, const Batch& batch, const CudaOutcome* outcomes,
                   Visit&& visit) {
  const std::vector<CudaOutcome> found = call.to_host(outcomes, batch.size);
  for (std::size_t b = 0; b < batch.size; ++b) {
    if (found[b].status != kCudaOutOfRange) continue;
    const Unsignaled unsignaled;
    const std::size_t bytes = batch.cells() * (batch.is_double ? sizeof(double) : sizeof(float));
    const std::vector<std::byte> scores =
        call.to_host(static_cast<const std::byte*>(batch.scores) + b * bytes, bytes);
    const std::vector<std::int32_t> words = call.to_host(batch.words + b, 1);
    Batch own = batch;
    own.scores = scores.data();
    own.words = words.data();
    own.size = 1;
    BatchOptions options;
    options.ids = {b};
    options.keep = false;
    DependencyTrees trees = trees_of(own, std::move(options));
    visit(trees, b);
  }
}

void sample(const CudaCall& call, const Batch& all) {
  const ffi::AnyBuffer heads = call.result(0);
  if (heads.element_count() == 0) return;
  const std::size_t k = heads.element_count() / (all.size * all.row());
  auto* const outcomes = call.scratch_of<CudaOutcome>(all.size);
  for_each_call(call, all, [&](const Batch& batch, std::size_t first, std::uint64_t seed) {
    D trees(cuda_of(precision_of(batch)), scores_of(batch), false);
    const CudaTreeBuffer out = trees_in(heads, batch, k, first);
    trees.sample(k, seed, 0, outcomes + first, out, call.stream());
    finish_on_cpu(call, batch, outcomes + first, [&](DependencyTrees& one, std::size_t b) {
      std::vector<std::int32_t> rows(k * batch.row(), -1);
      TreeOutput to;
      to.heads = rows.data();
      to.stride = static_cast<std::ptrdiff_t>(batch.row());
      one.sample(k, {Algorithm::kAuto, seed}, {&to, 1});
      call.to_device(rows, out.heads + static_cast<std::ptrdiff_t>(b) * out.sentence_stride);
    });
  });
}

// Where the numbers of a sample without replacement go, one row per sentence of all.
struct SampleNumbers {
  DeviceNumbers log_prob;
  DeviceNumbers gumbel;
  DeviceNumbers weights;
  DeviceNumbers kappa;
  std::int32_t* counts;
  std::size_t k;

  // From sentence `first` on.
  CudaWithoutReplacement from(std::size_t first, const CudaTreeBuffer& trees) const {
    return {trees,
            log_prob.data() + first * k,
            gumbel.data() + first * k,
            weights.data() + first * k,
            kappa.data() + first,
            counts + first};
  }
};

// The record of sentence b of a call, to device memory.
void write(const CudaCall& call, const WithoutReplacementSample& found, const Batch& batch,
           std::size_t b, const CudaWithoutReplacement& to, std::size_t k) {
  std::vector<std::int32_t> rows(k * batch.row(), -1);
  const auto n = static_cast<std::size_t>(found.n);
  for (std::size_t s = 0; s < found.size(); ++s) {
    std::copy_n(found.heads.data() + s * n, n, rows.data() + s * batch.row());
  }
  call.to_device(rows, to.trees.heads + static_cast<std::ptrdiff_t>(b) * to.trees.sentence_stride);
  call.to_device(found.log_prob, to.log_prob + b * k);
  call.to_device(found.gumbel, to.gumbel + b * k);
  call.to_device(found.weight, to.weight + b * k);
  call.to_device(std::vector<double>{found.kappa}, to.kappa + b);
  call.to_device(std::vector<std::int32_t>{static_cast<std::int32_t>(found.size())}, to.count + b);
}

// In float64, in which beams of long sentences are faster, whatever the scores are.
void sample_without_replacement(const CudaCall& call, const Batch& all) {
  if (all.size * all.row() == 0) {
    call.lose();
    return call.fill(call.result(6), 0);
  }
  const ffi::AnyBuffer heads = call.result(0);
  const auto k = static_cast<std::size_t>(call.result(1).dimensions().back());
  const SampleNumbers numbers{
      DeviceNumbers(call, call.result(1), 0),    DeviceNumbers(call, call.result(2), 0),
      DeviceNumbers(call, call.result(3), 0),    DeviceNumbers(call, call.result(4), 0xff),
      call.result(6).typed_data<std::int32_t>(), k};
  call.fill(heads, 0xff);
  call.fill(call.result(5), 0xff);  // Kappa says whether these are all trees.
  call.fill(call.result(6), 0);
  auto* const outcomes = call.scratch_of<CudaOutcome>(all.size);
  const WithoutReplacementAlgorithm algorithm =
      without_replacement_algorithm_named(call.attribute<std::string_view>("algorithm"));
  for_each_call(call, all, [&](const Batch& batch, std::size_t first, std::uint64_t seed) {
    D trees(cuda_of(Precision::kFloat64), scores_of(batch), false);
    const CudaWithoutReplacement out = numbers.from(first, trees_in(heads, batch, k, first));
    trees.sample_without_replacement(k, algorithm, seed, outcomes + first, out, call.stream());
    finish_on_cpu(call, batch, outcomes + first, [&](DependencyTrees& one, std::size_t b) {
      WithoutReplacementSample found;
      one.sample_without_replacement(k, {algorithm, seed}, {&found, 1});
      write(call, found, batch, b, out, k);
    });
  });
  for (const DeviceNumbers* of_trees :
       {&numbers.log_prob, &numbers.gumbel, &numbers.weights, &numbers.kappa}) {
    of_trees->finish();
  }
}

// When a program is compiled: there are no labels, and the algorithm is one of these.
template <const auto& kAlgorithms>
XLA_FFI_Error* accept(XLA_FFI_CallFrame* frame) {
  static const auto* const handler =
      when_compiled()
          .To([](ffi::RemainingArgs, ffi::RemainingRets, ffi::Dictionary attributes) {
            const auto labeled = attributes.get<bool>("labeled");
            const auto algorithm = attributes.get<std::string_view>("algorithm");
            if (!labeled.has_value()) return labeled.error();
            if (!algorithm.has_value()) return algorithm.error();
            if (labeled.value()) return not_on_cuda("sampling with labels");
            const bool known = std::find(kAlgorithms.begin(), kAlgorithms.end(),
                                         algorithm.value()) != kAlgorithms.end();
            return known ? ffi::Error::Success()
                         : not_on_cuda("the algorithm \"" + std::string(algorithm.value()) + "\"");
          })
          .release();
  return handler->Call(frame);
}

constexpr std::array<std::string_view, 1> kAlgorithms{"auto"};
constexpr std::array<std::string_view, 2> kWithoutReplacement{"auto", "beam"};

ffi::Error no_kbest() { return not_on_cuda("kbest"); }

constexpr std::array kHandlers{
    Handler{"taproot_argmax", &on_cuda<&argmax>},
    Handler{"taproot_mbr", &on_cuda<&mbr>},
    refused<&no_kbest>("taproot_kbest"),
    Handler{"taproot_sample", &on_cuda<&sample>, &accept<kAlgorithms>},
    Handler{"taproot_sample_without_replacement", &on_cuda<&sample_without_replacement>,
            &accept<kWithoutReplacement>},
};

}  // namespace

std::span<const Handler> cuda_trees() { return kHandlers; }

}  // namespace taproot::python::jax
