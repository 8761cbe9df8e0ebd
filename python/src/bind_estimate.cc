// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"
#include "module.h"
#include "taproot/without_replacement.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

// Entry by entry, of arrays of one size.
template <double (*kFunction)(double, double)>
void map(Contiguous<const double> log_prob, Contiguous<const double> kappa,
         Contiguous<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out.data()[i] = kFunction(log_prob.data()[i], kappa.data()[i]);
  }
}

}  // namespace

void init_estimate(nb::module_& m) {
  const auto log_prob = nb::arg("log_prob").noconvert();
  const auto kappa = nb::arg("kappa").noconvert();
  const auto out = nb::arg("out").noconvert();
  m.def("inclusion_probability", &map<&inclusion_probability>, log_prob, kappa, out);
  m.def("horvitz_thompson_weight", &map<&horvitz_thompson_weight>, log_prob, kappa, out);
}

}  // namespace taproot::python
