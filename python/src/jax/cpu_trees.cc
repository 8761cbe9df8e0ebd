// SPDX-License-Identifier: Apache-2.0
//
// Trees on the CPU. There are always as many rows as were asked for: heads and labels are -1
// beyond a sentence's length, where a sentence has fewer trees, and where it has no answer.
#include <algorithm>
#include <array>
#include <cmath>

#include "handlers.h"
#include "on_cpu.h"

namespace taproot::python::jax {
namespace {

using D = DependencyTrees;

// The label scores of the sentences, in the call's last operand if there are any.
class Labels {
 public:
  // `before` operands come first.
  Labels(const Call& call, const Batch& all, std::size_t before) {
    if (call.operands() == before) return;
    const ffi::AnyBuffer scores = call.operand(before);
    const ffi::AnyBuffer::Dimensions shape = scores.dimensions();
    data_ = scores.untyped_data();
    is_double_ = holds_doubles(scores);
    count_ = static_cast<std::size_t>(shape.back());
    cells_ = all.cells() * count_;
  }

  bool any() const { return data_ != nullptr; }

  /// The label scores of `batch`, whose sentence 0 is sentence `first` of the whole call.
  std::vector<LabelView> of(const Batch& batch, std::size_t first) const {
    std::vector<LabelView> views;
    if (!any()) return views;
    views.reserve(batch.size);
    const auto count = static_cast<int>(count_);
    const auto row = static_cast<std::ptrdiff_t>(batch.side * count_);
    for (std::size_t b = 0; b < batch.size; ++b) {
      views.push_back(view_of<LabelView>(data_, is_double_,
                                         static_cast<std::ptrdiff_t>((first + b) * cells_),
                                         words_of(batch, b), count, row, count, 1));
    }
    return views;
  }

 private:
  const void* data_ = nullptr;
  bool is_double_ = false;
  std::size_t count_ = 0;
  std::size_t cells_ = 0;
};

// Results 0 and, with labels, 1: trees [size][k][row], all of them -1 at first.
struct Trees {
  Trees(const Call& call, const Batch& all, bool labeled)
      : row(all.row()), heads(call.result(0).typed_data<std::int32_t>()) {
    const std::size_t cells = call.result(0).element_count();
    k = all.size * row == 0 ? 0 : cells / (all.size * row);
    std::fill_n(heads, cells, -1);
    if (!labeled) return;
    labels = call.result(1).typed_data<std::int32_t>();
    std::fill_n(labels, cells, -1);
  }

  std::size_t results() const { return labels == nullptr ? 1 : 2; }

  std::vector<TreeOutput> outputs(const Batch& batch, std::size_t first) const {
    std::vector<TreeOutput> found(batch.size);
    for (std::size_t b = 0; b < batch.size; ++b) {
      const std::size_t at = (first + b) * k * row;
      found[b].heads = heads + at;
      found[b].labels = labels == nullptr ? nullptr : labels + at;
      found[b].stride = static_cast<std::ptrdiff_t>(row);
    }
    return found;
  }

  // The trees of sentence b of all from a record of them.
  template <typename Record>
  void write(std::size_t b, const Record& record) const {
    const auto n = static_cast<std::size_t>(record.n);
    for (std::size_t s = 0; s < std::min(record.size(), k); ++s) {
      const std::size_t at = (b * k + s) * row;
      std::copy_n(record.heads.data() + s * n, n, heads + at);
      if (labels != nullptr) std::copy_n(record.labels.data() + s * n, n, labels + at);
    }
  }

  std::size_t k = 0;
  std::size_t row;
  std::int32_t* heads;
  std::int32_t* labels = nullptr;
};

D labeled_trees(const Batch& batch, const Labels& labels, std::size_t first) {
  BatchOptions options;
  options.labels = labels.of(batch, first);
  options.keep = false;
  return trees_of(batch, std::move(options));
}

// Operands: scores, words, and label scores if there are any.
using TreeQuestion = std::vector<Outcome> (D::*)(std::span<const TreeOutput>);
template <TreeQuestion kQuestion>
void decode(const Call& call, const Batch& batch) {
  const Labels labels(call, batch, 2);
  const Trees out(call, batch, labels.any());
  D trees = labeled_trees(batch, labels, 0);
  (trees.*kQuestion)(out.outputs(batch, 0));
}

// How many trees a sentence is asked for: `k` of the results' shape [..., k].
std::size_t trees_asked_for(const ffi::AnyBuffer& of_trees) {
  return static_cast<std::size_t>(of_trees.dimensions().back());
}

// The numbers of a sentence's trees, and `missing` where there are fewer.
void write_numbers(Numbers& to, std::size_t k, std::size_t b, const std::vector<double>& from,
                   double missing) {
  double* const row = to.data() + b * k;
  const std::size_t count = std::min(from.size(), k);
  std::copy_n(from.data(), count, row);
  std::fill(row + count, row + k, missing);
}

// Results: heads, labels, scores, counts.
void kbest(const Call& call, const Batch& batch) {
  const Labels labels(call, batch, 2);
  const Trees out(call, batch, labels.any());
  Numbers score(call.result(out.results()));
  const std::size_t k = trees_asked_for(call.result(out.results()));
  auto* counts = call.result(out.results() + 1).typed_data<std::int32_t>();
  D trees = labeled_trees(batch, labels, 0);
  std::vector<BestTrees> best(batch.size);
  trees.kbest(k, false, best);
  for (std::size_t b = 0; b < batch.size; ++b) {
    out.write(b, best[b]);
    write_numbers(score, k, b, best[b].score, -HUGE_VAL);
    counts[b] = static_cast<std::int32_t>(best[b].size());
  }
  score.finish();
}

// visit(batch, first sentence, seed) for each of the calls in this one. Operand 2 has a key for
// every sentence, the same ones for all of a call.
template <typename Visit>
void for_each_call(const Call& call, const Batch& all, Visit&& visit) {
  const Calls calls = calls_of(call);
  if (all.size == 0) return;
  const auto* keys = call.operand(2).typed_data<std::uint32_t>();
  const auto work = [&](std::size_t c) {
    const Unsignaled unsignaled;
    visit_call(all, calls, c, keys, visit);
  };
  // A call within a loop of the pool works on its own thread.
  calls.count == 1 ? work(0) : pool().for_each(calls.count, work);
}

// Operands: scores, words, keys, and label scores if there are any.
void sample(const Call& call, const Batch& all) {
  const Labels labels(call, all, 3);
  const Trees out(call, all, labels.any());
  const Algorithm algorithm = algorithm_named(call.attribute<std::string_view>("algorithm"));
  for_each_call(call, all, [&](const Batch& batch, std::size_t first, std::uint64_t seed) {
    D trees = labeled_trees(batch, labels, first);
    trees.sample(out.k, {algorithm, seed}, out.outputs(batch, first));
  });
}

// Results: heads, labels, log p, Gumbels, weights, kappa, whether these are all, counts.
void sample_without_replacement(const Call& call, const Batch& all) {
  const Labels labels(call, all, 3);
  const Trees out(call, all, labels.any());
  const std::size_t next = out.results();
  const std::size_t k = trees_asked_for(call.result(next));
  Numbers log_prob(call.result(next));
  Numbers gumbel(call.result(next + 1));
  Numbers weights(call.result(next + 2));
  Numbers kappa(call.result(next + 3));
  auto* exhausted = call.result(next + 4).typed_data<std::int32_t>();
  auto* counts = call.result(next + 5).typed_data<std::int32_t>();
  WithoutReplacementOptions options;
  options.algorithm =
      without_replacement_algorithm_named(call.attribute<std::string_view>("algorithm"));
  for_each_call(call, all, [&](const Batch& batch, std::size_t first, std::uint64_t seed) {
    WithoutReplacementOptions own = options;
    own.seed = seed;
    D trees = labeled_trees(batch, labels, first);
    std::vector<WithoutReplacementSample> samples(batch.size);
    trees.sample_without_replacement(k, own, samples);
    for (std::size_t i = 0; i < batch.size; ++i) {
      const WithoutReplacementSample& found = samples[i];
      const std::size_t b = first + i;
      out.write(b, found);
      write_numbers(log_prob, k, b, found.log_prob, -HUGE_VAL);
      write_numbers(gumbel, k, b, found.gumbel, -HUGE_VAL);
      write_numbers(weights, k, b, found.weight, 0);
      kappa.data()[b] = found.kappa;
      exhausted[b] = found.exhausted ? 1 : 0;
      counts[b] = static_cast<std::int32_t>(found.size());
    }
  });
  for (Numbers* numbers : {&log_prob, &gumbel, &weights, &kappa}) numbers->finish();
}

constexpr std::array kHandlers{
    Handler{"taproot_argmax", &on_cpu<&decode<&D::argmax>>},
    Handler{"taproot_mbr", &on_cpu<&decode<&D::mbr>>},
    Handler{"taproot_kbest", &on_cpu<&kbest>},
    Handler{"taproot_sample", &on_cpu<&sample>},
    Handler{"taproot_sample_without_replacement", &on_cpu<&sample_without_replacement>},
};

}  // namespace

std::span<const Handler> cpu_trees() { return kHandlers; }

}  // namespace taproot::python::jax
