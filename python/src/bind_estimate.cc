// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <span>
#include <utility>

#include "arrays.h"
#include "module.h"
#include "taproot/estimate.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using Doubles = Contiguous<const double>;

// Entry by entry, of arrays of one size.
template <double (*kFunction)(double, double)>
void map(Doubles log_prob, Doubles kappa, Contiguous<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out.data()[i] = kFunction(log_prob.data()[i], kappa.data()[i]);
  }
}

// Without log_prob the trees are independent.
std::pair<double, double> estimate_of(Doubles values, std::optional<Doubles> log_prob, double kappa,
                                      bool normalized) {
  const Estimate found = !log_prob ? estimate(span(values))
                         : normalized
                             ? estimate(span(*log_prob), kappa, span(values))
                             : horvitz_thompson_estimate(span(*log_prob), kappa, span(values));
  return {found.mean, found.standard_error};
}

std::pair<double, double> interval_of(Doubles values, std::optional<Doubles> log_prob, double kappa,
                                      double level, bool event) {
  const ValueKind kind = event ? ValueKind::kEvent : ValueKind::kNumber;
  const Interval found = log_prob ? interval(span(*log_prob), kappa, span(values), level, kind)
                                  : interval(span(values), level, kind);
  return {found.low, found.high};
}

}  // namespace

void init_estimate(nb::module_& m) {
  const auto values = nb::arg("values").noconvert();
  const auto log_prob = nb::arg("log_prob").noconvert();
  const auto kappa = nb::arg("kappa").noconvert();
  const auto out = nb::arg("out").noconvert();
  m.def("inclusion_probability", &map<&inclusion_probability>, log_prob, kappa, out);
  m.def("horvitz_thompson_weight", &map<&horvitz_thompson_weight>, log_prob, kappa, out);
  m.def("estimate", &estimate_of, values, nb::arg("log_prob").noconvert().none(), "kappa"_a,
        "normalized"_a);
  m.def("interval", &interval_of, values, nb::arg("log_prob").noconvert().none(), "kappa"_a,
        "level"_a, "event"_a);
  m.def(
      "normalized_weights",
      [](Doubles of_trees, double of_sample, Contiguous<double> to) {
        normalized_weights(span(of_trees), of_sample, span(to));
      },
      log_prob, "kappa"_a, out);
}

}  // namespace taproot::python
