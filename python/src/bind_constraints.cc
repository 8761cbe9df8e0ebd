// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/vector.h>

#include "module.h"
#include "taproot/constraints.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {

void init_constraints(nb::module_& m) {
  constexpr auto kSelf = nb::rv_policy::reference;
  nb::class_<Constraints>(m, "Constraints",
                          "What the trees of a sentence must and must not have. Calls chain; words "
                          "and heads are 1..n, 0 "
                          "is ROOT.\n\n"
                          ">>> import numpy as np, taproot\n"
                          ">>> c = taproot.Constraints().force(2, 1).forbid(0, 3)\n"
                          ">>> d = taproot.DependencyTrees(np.zeros((4, 4)), constraints=c)\n"
                          ">>> d.kbest(100).heads.tolist()\n"
                          "[[2, 0, 1], [2, 0, 2]]\n")
      .def(nb::init<>())
      .def("force", &Constraints::force, "head"_a, "modifier"_a, kSelf,
           "The head of `modifier` is `head`.")
      .def("forbid", &Constraints::forbid, "head"_a, "modifier"_a, kSelf,
           "The head of `modifier` is not `head`.")
      .def(
          "allow_roots",
          [](Constraints& self, const std::vector<std::int32_t>& words) -> Constraints& {
            return self.allow_roots(words);
          },
          "words"_a, kSelf, "Only these words may hang off ROOT.")
      .def(
          "force_partial_tree",
          [](Constraints& self, const std::vector<std::int32_t>& heads) -> Constraints& {
            return self.force_partial_tree(heads);
          },
          "heads"_a, kSelf,
          "Forces the head of every word for which `heads`, one entry a word, has one; negative "
          "ones "
          "are left open.")
      .def("fits", &Constraints::fits, "n"_a,
           "Whether all words and heads named are those of a sentence of n words.");
}

}  // namespace taproot::python
