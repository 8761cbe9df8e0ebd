// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core.h"
#include "gil.h"
#include "module.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using Heads = Contiguous<std::int32_t>;
using ConstHeads = Contiguous<const std::int32_t>;
using Doubles = Contiguous<double>;
using ConstDoubles = Contiguous<const double>;

// The data as Real, with its strides: of sentence b, 0-dimensional batches having one.
template <typename Real, typename View, typename... Sizes>
View view_of(const Floats& array, std::size_t b, std::size_t axes, Sizes... sizes) {
  const std::size_t skip = array.ndim() - axes;  // 1 if there is a batch axis.
  const auto* data = static_cast<const Real*>(array.data());
  if (skip == 1) data += static_cast<std::ptrdiff_t>(b) * array.stride(0);
  if constexpr (sizeof...(sizes) == 1) {
    return View(data, sizes..., array.stride(skip), array.stride(skip + 1));
  } else {
    return View(data, sizes..., array.stride(skip), array.stride(skip + 1), array.stride(skip + 2));
  }
}

bool is_double(const Floats& array) { return array.dtype() == nb::dtype<double>(); }

// Scores [N+1][N+1] or [B][N+1][N+1]; lengths [B] or none; labels with one more axis.
void make_core(Core* self, Floats scores, std::optional<ConstHeads> lengths, bool multi,
               const std::vector<Constraints>& constraints, std::optional<Floats> labels) {
  for (const Floats* array : {&scores, labels ? &*labels : nullptr}) {
    if (array != nullptr && !is_double(*array) && array->dtype() != nb::dtype<float>()) {
      throw std::invalid_argument("[DependencyTrees] scores must be float32 or float64");
    }
  }
  const std::size_t batch = scores.ndim() == 3 ? scores.shape(0) : 1;
  const auto padded_n = static_cast<int>(scores.shape(scores.ndim() - 1)) - 1;
  static const double kNothing[1] = {0};  // An empty array may have no data.
  std::vector<ScoreView> views;
  std::vector<LabelView> label_views;
  views.reserve(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    const int n = lengths ? lengths->data()[b] : padded_n;
    if (n == 0) {
      views.emplace_back(kNothing, 0);
    } else if (is_double(scores)) {
      views.push_back(view_of<double, ScoreView>(scores, b, 2, n));
    } else {
      views.push_back(view_of<float, ScoreView>(scores, b, 2, n));
    }
    if (!labels) continue;
    const auto count = static_cast<int>(labels->shape(labels->ndim() - 1));
    if (n == 0) {
      label_views.emplace_back(kNothing, 0, count);
    } else if (is_double(*labels)) {
      label_views.push_back(view_of<double, LabelView>(*labels, b, 3, n, count));
    } else {
      label_views.push_back(view_of<float, LabelView>(*labels, b, 3, n, count));
    }
  }
  const RootRule root = multi ? RootRule::kMulti : RootRule::kSingle;
  const auto make = [&] {
    return std::make_unique<Distribution>(std::move(views), std::move(label_views), constraints,
                                          root, padded_n);
  };
  std::unique_ptr<Distribution> made;
  if (labels || !constraints.empty()) {  // Work on every score.
    const Released released;
    made = make();
  } else {
    made = make();
  }
  new (self) Core{std::move(scores), std::move(labels), std::move(made)};
}

// Nothing if all is well, else (sentence, status, what is wrong) of those that have no answer.
using Failures = std::optional<std::vector<std::tuple<std::size_t, std::string_view, std::string>>>;

void note_failure(Failures& failures, std::size_t b, const Outcome& outcome) {
  if (outcome.ok()) return;
  if (!failures) failures.emplace();
  failures->emplace_back(b, to_string(outcome.status), describe(outcome, b));
}

Failures failures(std::span<const Outcome> outcomes) {
  Failures found;
  for (std::size_t b = 0; b < outcomes.size(); ++b) note_failure(found, b, outcomes[b]);
  return found;
}

Failures failures(const Distribution& d) {
  Failures found;
  for (std::size_t b = 0; b < d.size(); ++b) note_failure(found, b, d.outcome(b));
  return found;
}

// Work on the distribution with the GIL released, then the sentences that have no answer.
template <typename Work>
Failures ask(Core& core, Work&& work) {
  {
    const Released released;
    work(core.distribution);
  }
  return failures(core.distribution);
}

template <typename Work>
Failures decode(Core& core, Work&& work) {
  std::vector<Outcome> outcomes;
  {
    const Released released;
    outcomes = work(core.distribution);
  }
  return failures(outcomes);
}

Failures factor(Core& core) {
  return ask(core, [](Distribution& d) {
    Interrupt interrupt;
    d.factor(interrupt);
  });
}

template <Scalar kQuery>
Failures ask_scalar(Core& core, Doubles out) {
  return ask(core, [&](Distribution& d) { scalar(d, kQuery, out.data()); });
}

template <PairScalar kQuery>
Failures ask_pair(Core& core, Core& other, Doubles out) {
  ask(core, [&](Distribution& d) { pair_scalar(d, other.distribution, kQuery, out.data()); });
  Failures own = failures(core.distribution);
  return own ? own : failures(other.distribution);
}

template <void (*kQuery)(Distribution&, double*)>
Failures ask_array(Core& core, Doubles out) {
  return ask(core, [&](Distribution& d) { kQuery(d, out.data()); });
}

Failures ask_expectation(Core& core, ConstDoubles values, Doubles out) {
  return ask(core, [&](Distribution& d) { expectation(d, values.data(), out.data()); });
}

Failures ask_hessian_product(Core& core, ConstDoubles direction, bool or_nan, Doubles out) {
  return ask(core,
             [&](Distribution& d) { hessian_product(d, direction.data(), or_nan, out.data()); });
}

double log_partition_of(const Factorization& f, Workspace&) { return log_partition(f); }

Trees trees(const Heads& heads, const std::optional<Heads>& labels) {
  return {heads.data(), labels ? labels->data() : nullptr};
}

Failures ask_log_prob(Core& core, std::size_t k, ConstHeads heads, std::optional<ConstHeads> labels,
                      Doubles out) {
  return ask(core, [&](Distribution& d) {
    log_prob(d, k, heads.data(), labels ? labels->data() : nullptr, out.data());
  });
}

Failures ask_sample(Core& core, std::size_t k, std::uint64_t seed, std::string_view algorithm,
                    std::uint64_t step_limit, std::uint32_t first_tree,
                    std::uint32_t first_sentence, Heads heads, std::optional<Heads> labels) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  if (k > kMost - first_tree || core.distribution.size() > kMost - first_sentence) {
    throw std::invalid_argument("[sample] trees and sentences are numbered below 2^32");
  }
  const SampleOptions options{algorithm_named(algorithm), seed, step_limit};
  return decode(core, [&](Distribution& d) {
    return sample(d, k, options, {first_tree, first_sentence}, trees(heads, labels));
  });
}

using Arrays = nb::typed<nb::dict, nb::str, nb::any>;

// The arrays by name, those that there are; and the failures.
std::pair<Arrays, Failures> to_python(TreeTable&& table, const Distribution& d, bool sampled) {
  const auto row = static_cast<std::size_t>(d.padded_n());
  const std::size_t k = table.k;
  const std::size_t batch = d.size();
  Arrays arrays;
  arrays["counts"] = to_numpy(std::move(table.counts), {batch});
  arrays["heads"] = to_numpy(std::move(table.heads), {k, batch, row});
  arrays["score"] = to_numpy(std::move(table.score), {k, batch});
  if (d.labeled()) arrays["labels"] = to_numpy(std::move(table.labels), {k, batch, row});
  if (sampled) {
    arrays["gumbel"] = to_numpy(std::move(table.gumbel), {k, batch});
    arrays["weight"] = to_numpy(std::move(table.weight), {k, batch});
    arrays["kappa"] = to_numpy(std::move(table.kappa), {batch});
    arrays["exhausted"] = to_numpy(std::move(table.exhausted), {batch});
  }
  return {std::move(arrays), failures(table.outcomes)};
}

std::pair<Arrays, Failures> ask_kbest(Core& core, std::size_t k) {
  TreeTable table;
  {
    const Released released;
    table = kbest(core.distribution, k);
  }
  return to_python(std::move(table), core.distribution, false);
}

std::pair<Arrays, Failures> ask_distinct(Core& core, std::size_t k, std::uint64_t seed,
                                         std::string_view algorithm, std::size_t memory_limit,
                                         std::uint32_t first_sentence) {
  const WithoutReplacementOptions options{without_replacement_algorithm_named(algorithm), seed,
                                          memory_limit};
  TreeTable table;
  {
    const Released released;
    table = sample_without_replacement(core.distribution, k, options, first_sentence);
  }
  return to_python(std::move(table), core.distribution, true);
}

}  // namespace

void init_distribution(nb::module_& m) {
  const auto out = nb::arg("out").noconvert();
  const auto heads = nb::arg("heads").noconvert();
  const auto labels = nb::arg("labels").noconvert().none();
  nb::class_<Core>(m, "Core", "The sentences behind a DependencyTrees; arrays are checked there.")
      .def("__init__", &make_core, nb::arg("scores").noconvert(),
           nb::arg("lengths").noconvert().none(), "multi"_a, "constraints"_a,
           nb::arg("label_scores").noconvert().none())
      .def("failures", &factor)
      .def("log_partition", &ask_scalar<&log_partition_of>, out)
      .def("entropy", &ask_scalar<&entropy>, out)
      .def("expected_tries", &ask_scalar<&expected_tries>, out)
      .def("expected_steps", &ask_scalar<&expected_steps>, out)
      .def("cross_entropy", &ask_pair<&cross_entropy>, "other"_a, out)
      .def("kl_divergence", &ask_pair<&kl_divergence>, "other"_a, out)
      .def("marginals", &ask_array<&marginals>, out)
      .def("root_marginals", &ask_array<&root_marginals>, out)
      .def("label_marginals", &ask_array<&label_marginals>, out)
      .def("expectation", &ask_expectation, nb::arg("values").noconvert(), out)
      .def("hessian_product", &ask_hessian_product, nb::arg("direction").noconvert(), "or_nan"_a,
           out)
      .def("log_prob", &ask_log_prob, "k"_a, heads, labels, out)
      .def("sample", &ask_sample, "k"_a, "seed"_a, "algorithm"_a, "step_limit"_a, "first_tree"_a,
           "first_sentence"_a, heads, labels)
      .def("sample_without_replacement", &ask_distinct, "k"_a, "seed"_a, "algorithm"_a,
           "memory_limit"_a, "first_sentence"_a)
      .def(
          "argmax",
          [](Core& core, Heads to, std::optional<Heads> of_labels) {
            return decode(core, [&](Distribution& d) { return argmax(d, trees(to, of_labels)); });
          },
          heads, labels)
      .def(
          "mbr",
          [](Core& core, Heads to, std::optional<Heads> of_labels) {
            return decode(core, [&](Distribution& d) { return mbr(d, trees(to, of_labels)); });
          },
          heads, labels)
      .def("kbest", &ask_kbest, "k"_a);
}

}  // namespace taproot::python
