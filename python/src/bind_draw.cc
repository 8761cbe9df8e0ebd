// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "module.h"
#include "taproot/draw.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {

void init_draw(nb::module_& m) {
  using Words = std::vector<std::string>;
  m.def(
      "tree_svg",
      [](const Words& words, Contiguous<const std::int32_t> heads, const Words& labels) {
        SvgOptions options;
        options.labels = labels;
        return tree_svg(words, {heads.data(), heads.size()}, options);
      },
      "words"_a, nb::arg("heads").noconvert(), "labels"_a);
  m.def(
      "marginals_svg",
      [](const Words& words, Contiguous<const double> marginals, double threshold,
         const Words& labels) {
        SvgOptions options;
        options.threshold = threshold;
        options.labels = labels;
        return marginals_svg(words, {marginals.data(), marginals.size()}, options);
      },
      "words"_a, nb::arg("marginals").noconvert(), "threshold"_a, "labels"_a);
  m.attr("DRAW_THRESHOLD") = kDrawThreshold;
}

}  // namespace taproot::python
