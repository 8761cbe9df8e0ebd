// SPDX-License-Identifier: Apache-2.0
//
// Translates between the buffers of Arrow's columns and taproot::DependencyTrees. Types were
// checked in Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <utility>

#include "columns/answers.h"
#include "columns/rows.h"
#include "gil.h"
#include "module.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using Columns = nb::typed<nb::dict, nb::str, nb::any>;

template <NumberQuestion kQuestion>
NumpyArray<double> ask_numbers(Rows& rows) {
  return without_gil([&] { return find_numbers(rows, kQuestion); }).take();
}

Columns ask_dense_marginals(Rows& rows) {
  DenseMarginals found = without_gil([&] { return find_dense_marginals(rows); });
  Columns columns;
  columns["offsets"] = found.offsets.take();
  columns["marginals"] = found.marginals.take();
  return columns;
}

Columns ask_sparse_marginals(Rows& rows, double threshold) {
  SparseMarginals found = without_gil([&] { return find_sparse_marginals(rows, threshold); });
  Columns columns;
  columns["offsets"] = found.offsets.take();
  columns["head"] = found.head.take();
  columns["modifier"] = found.modifier.take();
  columns["label"] = found.label.take();
  columns["probability"] = found.probability.take();
  return columns;
}

Columns to_dict(TreeColumns&& found) {
  Columns columns;
  columns["rows"] = found.rows.take();
  columns["words"] = found.words.take();
  columns["heads"] = found.heads.take();
  columns["labels"] = found.labels.take();
  columns["log_prob"] = found.log_prob.take();
  columns["score"] = found.score.take();
  columns["gumbel"] = found.gumbel.take();
  columns["weight"] = found.weight.take();
  columns["kappa"] = found.kappa.take();
  columns["exhausted"] = found.exhausted.take();
  return columns;
}

Columns ask_sample(Rows& rows, std::size_t k, std::uint64_t seed, std::string_view algorithm) {
  const SampleOptions options{algorithm_named(algorithm), seed};
  return to_dict(without_gil([&] { return find_samples(rows, k, options); }));
}

Columns ask_without_replacement(Rows& rows, std::size_t k, std::uint64_t seed,
                                std::string_view algorithm) {
  const WithoutReplacementOptions options{without_replacement_algorithm_named(algorithm), seed};
  return to_dict(without_gil([&] { return find_without_replacement(rows, k, options); }));
}

// The ids of texts, text i at bytes[offsets[i]] to bytes[offsets[i + 1]].
void sentence_ids(Mask bytes, Offsets offsets, Contiguous<std::uint64_t> out) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t* const at = offsets.data() + i;
    out.data()[i] = sentence_id({text + at[0], static_cast<std::size_t>(at[1] - at[0])});
  }
}

std::vector<std::string_view> row_statuses() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kRowStatuses; ++i) names.push_back(row_status_name(i));
  return names;
}

}  // namespace

void init_columns(nb::module_& m) {
  using D = DependencyTrees;
  nb::class_<Rows>(m, "Rows", "The rows behind taproot.arrow.Task; columns are checked there.")
      .def(nb::init<Floats, Offsets, Contiguous<std::uint8_t>, Contiguous<const std::uint64_t>,
                    bool, bool>(),
           nb::arg("values").noconvert(), nb::arg("offsets").noconvert(),
           nb::arg("statuses").noconvert(), nb::arg("ids").noconvert(), "multi"_a, "projective"_a)
      .def("set_labels", &Rows::set_labels, nb::arg("values").noconvert(),
           nb::arg("offsets").noconvert(), nb::arg("valid").noconvert(), "count"_a)
      .def(
          "set_constraint",
          [](Rows& rows, std::string_view kind, Mask valid, Offsets offsets, Integers values,
             std::optional<Integers> seconds) {
            rows.set_constraint(kind, {valid, offsets, values, seconds});
          },
          "kind"_a, nb::arg("valid").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("values").noconvert(), nb::arg("seconds").noconvert().none())
      .def("log_partition", &ask_numbers<&D::log_partition>)
      .def("entropy", &ask_numbers<&D::entropy>)
      .def("dense_marginals", &ask_dense_marginals)
      .def("sparse_marginals", &ask_sparse_marginals, "threshold"_a)
      .def("argmax",
           [](Rows& rows) { return to_dict(without_gil([&] { return find_best(rows, false); })); })
      .def("mbr",
           [](Rows& rows) { return to_dict(without_gil([&] { return find_best(rows, true); })); })
      .def("sample", &ask_sample, "k"_a, "seed"_a, "algorithm"_a)
      .def("sample_without_replacement", &ask_without_replacement, "k"_a, "seed"_a, "algorithm"_a)
      .def(
          "kbest",
          [](Rows& rows, std::size_t k) {
            return to_dict(without_gil([&] { return find_kbest(rows, k); }));
          },
          "k"_a);
  m.def("sentence_ids", &sentence_ids, nb::arg("bytes").noconvert(), nb::arg("offsets").noconvert(),
        nb::arg("out").noconvert());
  m.def("row_statuses", &row_statuses);
}

}  // namespace taproot::python
