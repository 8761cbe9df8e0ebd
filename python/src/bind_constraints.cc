// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "arrays.h"
#include "module.h"
#include "taproot/constraints.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {

namespace {

template <Constraints& (Constraints::*kMethod)(int, int)>
void forward(Constraints& self, int head, int modifier) {
  (self.*kMethod)(head, modifier);
}

template <Constraints& (Constraints::*kMethod)(std::span<const std::int32_t>)>
void forward_words(Constraints& self, Contiguous<const std::int32_t> words) {
  (self.*kMethod)(span(words));
}

// Which edges of a sentence of n words are left: out [n+1][n+1].
void allowed(const Constraints& self, Contiguous<bool> out) {
  const double zero = 0;
  std::vector<double> memory;
  self.apply(ScoreView(&zero, static_cast<int>(out.shape(0)) - 1, 0, 0), memory);
  for (std::size_t i = 0; i < memory.size(); ++i) out.data()[i] = memory[i] > -HUGE_VAL;
}

}  // namespace

void init_constraints(nb::module_& m) {
  nb::class_<Constraints>(m, "Constraints", "What is behind taproot.Constraints.")
      .def(nb::init<>())
      .def("force", &forward<&Constraints::force>, "head"_a, "modifier"_a)
      .def("forbid", &forward<&Constraints::forbid>, "head"_a, "modifier"_a)
      .def("allow_roots", &forward_words<&Constraints::allow_roots>, nb::arg("words").noconvert())
      .def("force_partial_tree", &forward_words<&Constraints::force_partial_tree>,
           nb::arg("heads").noconvert())
      .def("fits", &Constraints::fits, "n"_a)
      .def("allowed", &allowed, nb::arg("out").noconvert());
}

}  // namespace taproot::python
