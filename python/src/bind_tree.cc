// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"
#include "module.h"
#include "taproot/tree.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using ConstWords = Contiguous<const std::int32_t>;

// Heads [B][N], lengths [B], out [B].
void are_trees(ConstWords heads, ConstWords lengths, bool multi, Contiguous<bool> out) {
  const RootRule root = multi ? RootRule::kMulti : RootRule::kSingle;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const auto n = static_cast<std::size_t>(lengths.data()[b]);
    out.data()[b] = is_tree(TreeView(heads.data() + b * heads.shape(1), n), root);
  }
}

void are_projective(ConstWords heads, ConstWords lengths, Contiguous<bool> out) {
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const auto n = static_cast<std::size_t>(lengths.data()[b]);
    out.data()[b] = is_projective(TreeView(heads.data() + b * heads.shape(1), n));
  }
}

}  // namespace

void init_tree(nb::module_& m) {
  m.def("are_trees", &are_trees, nb::arg("heads").noconvert(), nb::arg("lengths").noconvert(),
        "multi"_a, nb::arg("out").noconvert(),
        "Which rows of heads are trees under the root rule. Shapes are checked in Python.");
  m.def("are_projective", &are_projective, nb::arg("heads").noconvert(),
        nb::arg("lengths").noconvert(), nb::arg("out").noconvert(),
        "Which rows of heads are projective trees. Shapes are checked in Python.");
}

}  // namespace taproot::python
