// SPDX-License-Identifier: Apache-2.0
//
// Translates between NumPy's arrays and taproot::DependencyTrees. Shapes were checked in Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core.h"
#include "gil.h"
#include "module.h"
#include "padded.h"
#include "table.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using Heads = Contiguous<std::int32_t>;
using ConstHeads = Contiguous<const std::int32_t>;
using Ids = Contiguous<const std::uint64_t>;
using Doubles = Contiguous<double>;
using ConstDoubles = Contiguous<const double>;

// Of the batch: `axes` of the array are a sentence's, and one more, if there is one, the batch's.
std::ptrdiff_t sentence_stride(const Floats& array, std::size_t axes) {
  return array.ndim() > axes ? array.stride(0) : 0;
}

// Of axis -1, -2 or -3, as Python counts them.
std::ptrdiff_t stride(const Floats& array, int axis) {
  return array.stride(array.ndim() - static_cast<std::size_t>(-axis));
}

// Scores [N+1][N+1] or [B][N+1][N+1]; lengths [B] or none; labels with one more axis.
void make_core(Core* self, Floats scores, std::optional<ConstHeads> lengths, bool multi,
               std::vector<Constraints> constraints, std::optional<Floats> labels,
               std::optional<Ids> ids, bool projective) {
  constexpr const char* kMessage = "[DependencyTrees] scores must be float32 or float64";
  const bool doubles = holds_doubles(scores, kMessage);
  const bool label_doubles = labels && holds_doubles(*labels, kMessage);
  const std::size_t batch = scores.ndim() == 3 ? scores.shape(0) : 1;
  const auto padded_n = static_cast<int>(scores.shape(scores.ndim() - 1)) - 1;
  BatchOptions options;
  options.root = multi ? RootRule::kMulti : RootRule::kSingle;
  options.projective = projective;
  options.constraints = std::move(constraints);
  if (ids) options.ids.assign(ids->data(), ids->data() + ids->size());
  std::vector<ScoreView> views;
  views.reserve(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    const int n = lengths ? lengths->data()[b] : padded_n;
    const auto at = static_cast<std::ptrdiff_t>(b);
    views.push_back(view_of<ScoreView>(scores.data(), doubles, at * sentence_stride(scores, 2), n,
                                       stride(scores, -2), stride(scores, -1)));
    if (!labels) continue;
    const auto count = static_cast<int>(labels->shape(labels->ndim() - 1));
    options.labels.push_back(
        view_of<LabelView>(labels->data(), label_doubles, at * sentence_stride(*labels, 3), n,
                           count, stride(*labels, -3), stride(*labels, -2), stride(*labels, -1)));
  }
  std::optional<Released> released;  // Labels and constraints are work on every score.
  if (labels || !options.constraints.empty()) released.emplace();
  DependencyTrees trees(pool(), std::move(views), std::move(options));
  released.reset();
  new (self) Core{std::move(scores), std::move(labels), padded_n, std::move(trees)};
}

// Nothing if all is well, else (sentence, status, what is wrong) of those that have no answer.
using Failures = std::optional<std::vector<std::tuple<std::size_t, std::string_view, std::string>>>;

Failures failures(std::span<const Outcome> outcomes) {
  Failures found;
  for (std::size_t b = 0; b < outcomes.size(); ++b) {
    if (outcomes[b].ok()) continue;
    if (!found) found.emplace();
    found->emplace_back(b, to_string(outcomes[b].status), describe(outcomes[b], b));
  }
  return found;
}

using NumberQuestion = std::vector<Outcome> (DependencyTrees::*)(std::span<double>);
template <NumberQuestion kQuestion>
Failures ask_numbers(Core& core, Doubles out) {
  return failures(without_gil([&] { return (core.trees.*kQuestion)({out.data(), core.size()}); }));
}

using PairQuestion = std::vector<Outcome> (DependencyTrees::*)(DependencyTrees&, std::span<double>);
template <PairQuestion kQuestion>
Failures ask_pair(Core& core, Core& other, Doubles out) {
  return failures(without_gil([&] {
    return (core.trees.*kQuestion)(other.trees, {out.data(), core.size()});
  }));
}

// Matrices of a padded array [B][side][side * width].
template <typename T>
auto matrices(const Core& core, T* data, std::size_t width = 1) {
  return matrices_in(data, core.size(), core.side(), core.side() * width);
}

// Padding is `value`, before the answers are written.
template <typename T>
void fill_padding(const Core& core, T* data, std::size_t per_sentence, T value) {
  for (std::size_t b = 0; b < core.size(); ++b) {
    if (core.trees.n(b) < core.padded_n) std::fill_n(data + b * per_sentence, per_sentence, value);
  }
}

// question() writes so many numbers per sentence to `out`. Padding is 0, and a sentence without an
// answer is NaN, padding included.
template <typename Question>
Failures ask_padded(Core& core, Doubles& out, std::size_t per_sentence, Question&& question) {
  const std::vector<Outcome> outcomes = without_gil([&] {
    fill_padding(core, out.data(), per_sentence, 0.0);
    return question();
  });
  for (std::size_t b = 0; b < core.size(); ++b) {
    if (!outcomes[b].ok()) std::fill_n(out.data() + b * per_sentence, per_sentence, NAN);
  }
  return failures(outcomes);
}

Failures ask_marginals(Core& core, Doubles out) {
  return ask_padded(core, out, core.cells(),
                    [&] { return core.trees.marginals(matrices(core, out.data())); });
}

// Both from one pass. log_z has an entry per sentence.
Failures ask_log_partition_and_marginals(Core& core, Doubles log_z, Doubles out) {
  return ask_padded(core, out, core.cells(), [&] {
    std::vector<Outcome> outcomes = core.trees.marginals(matrices(core, out.data()));
    core.trees.log_partition({log_z.data(), core.size()});
    return outcomes;
  });
}

Failures ask_label_marginals(Core& core, Doubles out) {
  const auto labels = static_cast<std::size_t>(core.trees.label_count());
  return ask_padded(core, out, core.cells() * labels,
                    [&] { return core.trees.label_marginals(matrices(core, out.data(), labels)); });
}

Failures ask_hessian_product(Core& core, ConstDoubles direction, Doubles out) {
  return ask_padded(core, out, core.cells(), [&] {
    return core.trees.hessian_product(matrices(core, direction.data()), matrices(core, out.data()));
  });
}

Failures ask_root_marginals(Core& core, Doubles out) {
  return ask_padded(core, out, core.row(), [&] {
    std::vector<double*> rows;
    for (std::size_t b = 0; b < core.size(); ++b) rows.push_back(out.data() + b * core.row());
    return core.trees.root_marginals(rows);
  });
}

Failures ask_expectation(Core& core, ConstDoubles values, Doubles out) {
  return failures(without_gil([&] {
    return core.trees.expectation(matrices(core, values.data()), {out.data(), core.size()});
  }));
}

// Trees [k][B][N], with numbers [k][B].
std::vector<TreeBuffer> buffers(const Core& core, const std::int32_t* data) {
  std::vector<TreeBuffer> found;
  for (std::size_t b = 0; b < core.size(); ++b) {
    // DependencyTrees::log_prob() only reads them.
    found.push_back({const_cast<std::int32_t*>(data) + b * core.row(),
                     static_cast<std::ptrdiff_t>(core.size() * core.row())});
  }
  return found;
}

Failures ask_log_prob(Core& core, std::size_t k, ConstHeads heads, std::optional<ConstHeads> labels,
                      Doubles out) {
  return failures(without_gil([&] {
    std::vector<double*> columns;
    for (std::size_t b = 0; b < core.size(); ++b) columns.push_back(out.data() + b);
    return core.trees.log_prob(k, buffers(core, heads.data()),
                               labels ? buffers(core, labels->data()) : std::vector<TreeBuffer>(),
                               columns, static_cast<std::ptrdiff_t>(core.size()));
  }));
}

Failures ask_expected_attachment(Core& core, ConstHeads heads, Doubles out) {
  return failures(without_gil([&] {
    return core.trees.expected_attachment(buffers(core, heads.data()), {out.data(), core.size()});
  }));
}

std::vector<TreeOutput> outputs(const Core& core, std::size_t k, const Heads& heads,
                                const std::optional<Heads>& labels) {
  std::vector<TreeOutput> found;
  found.reserve(core.size());
  for (std::size_t b = 0; b < core.size(); ++b) {
    TreeOutput& out = found.emplace_back();
    out.heads = heads.data() + b * core.row();
    if (labels) out.labels = labels->data() + b * core.row();
    out.stride = static_cast<std::ptrdiff_t>(core.size() * core.row());
  }
  for (std::size_t s = 0; s < k; ++s) {
    const std::size_t at = s * core.size() * core.row();
    fill_padding(core, heads.data() + at, core.row(), -1);
    if (labels) fill_padding(core, labels->data() + at, core.row(), -1);
  }
  return found;
}

Failures ask_sample(Core& core, std::size_t k, std::uint64_t seed, std::string_view algorithm,
                    std::uint64_t step_limit, std::uint32_t first_tree, Heads heads,
                    std::optional<Heads> labels) {
  const SampleOptions options{algorithm_named(algorithm), seed, step_limit, first_tree};
  return failures(
      without_gil([&] { return core.trees.sample(k, options, outputs(core, k, heads, labels)); }));
}

using TreeQuestion = std::vector<Outcome> (DependencyTrees::*)(std::span<const TreeOutput>);
template <TreeQuestion kQuestion>
Failures ask_tree(Core& core, Heads heads, std::optional<Heads> labels) {
  return failures(
      without_gil([&] { return (core.trees.*kQuestion)(outputs(core, 1, heads, labels)); }));
}

std::pair<Arrays, Failures> ask_kbest(Core& core, std::size_t k) {
  std::vector<BestTrees> best(core.size());
  const std::vector<Outcome> outcomes =
      without_gil([&] { return core.trees.kbest(k, false, best); });
  Table<BestTrees> table(core, best);
  table.add_numbers("score", &BestTrees::score, -HUGE_VAL);
  return {table.take(), failures(outcomes)};
}

std::pair<Arrays, Failures> ask_without_replacement(Core& core, std::size_t k, std::uint64_t seed,
                                                    std::string_view algorithm,
                                                    std::size_t memory_limit) {
  const WithoutReplacementOptions options{without_replacement_algorithm_named(algorithm), seed,
                                          memory_limit};
  std::vector<WithoutReplacementSample> samples(core.size());
  const std::vector<Outcome> outcomes =
      without_gil([&] { return core.trees.sample_without_replacement(k, options, samples); });
  using Sample = WithoutReplacementSample;
  Table<Sample> table(core, samples);
  table.add_numbers("log_prob", &Sample::log_prob, -HUGE_VAL);
  table.add_numbers("gumbel", &Sample::gumbel, -HUGE_VAL);
  table.add_numbers("weights", &Sample::weight, 0);
  table.add_of_sentences<double>("kappa", [](const Sample& s) { return s.kappa; });
  table.add_of_sentences<std::uint8_t>("exhausted", [](const Sample& s) { return s.exhausted; });
  return {table.take(), failures(outcomes)};
}

}  // namespace

void init_dependency_trees(nb::module_& m) {
  using D = DependencyTrees;
  const auto out = nb::arg("out").noconvert();
  const auto heads = nb::arg("heads").noconvert();
  const auto labels = nb::arg("labels").noconvert().none();
  nb::class_<Core>(m, "Core", "The sentences behind a DependencyTrees; arrays are checked there.")
      .def("__init__", &make_core, nb::arg("scores").noconvert(),
           nb::arg("lengths").noconvert().none(), "multi"_a, "constraints"_a,
           nb::arg("label_scores").noconvert().none(), nb::arg("ids").noconvert().none(),
           "projective"_a = false)
      .def("failures",
           [](Core& core) { return failures(without_gil([&] { return core.trees.outcomes(); })); })
      .def("log_partition", &ask_numbers<&D::log_partition>, out)
      .def("entropy", &ask_numbers<&D::entropy>, out)
      .def("expected_tries", &ask_numbers<&D::expected_tries>, out)
      .def("expected_steps", &ask_numbers<&D::expected_steps>, out)
      .def("projective_mass", &ask_numbers<&D::projective_mass>, out)
      .def("cross_entropy", &ask_pair<&D::cross_entropy>, "other"_a, out)
      .def("kl_divergence", &ask_pair<&D::kl_divergence>, "other"_a, out)
      .def("marginals", &ask_marginals, out)
      .def("log_partition_and_marginals", &ask_log_partition_and_marginals,
           nb::arg("log_z").noconvert(), out)
      .def("root_marginals", &ask_root_marginals, out)
      .def("label_marginals", &ask_label_marginals, out)
      .def("expectation", &ask_expectation, nb::arg("values").noconvert(), out)
      .def("hessian_product", &ask_hessian_product, nb::arg("direction").noconvert(), out)
      .def("log_prob", &ask_log_prob, "k"_a, heads, labels, out)
      .def("expected_attachment", &ask_expected_attachment, heads, out)
      .def("sample", &ask_sample, "k"_a, "seed"_a, "algorithm"_a, "step_limit"_a, "first_tree"_a,
           heads, labels)
      .def("sample_without_replacement", &ask_without_replacement, "k"_a, "seed"_a, "algorithm"_a,
           "memory_limit"_a)
      .def("argmax", &ask_tree<&D::argmax>, heads, labels)
      .def("mbr", &ask_tree<&D::mbr>, heads, labels)
      .def("kbest", &ask_kbest, "k"_a);
}

}  // namespace taproot::python
