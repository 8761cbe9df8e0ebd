// SPDX-License-Identifier: Apache-2.0
//
// The question of a training step on the CPU, with all memory from the caller. Memory is given by
// its address, because a batch of short sentences takes less time than looking into arrays. The
// Python side has checked shapes and types.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gil.h"
#include "module.h"
#include "operator_arguments.h"
#include "padded.h"
#include "pool.h"
#include "taproot/dependency_trees.h"

namespace nb = nanobind;

namespace taproot::python {
namespace {

// log Z [size] and, unless the address is 0, marginals [size][n+1][n+1], of sentences of n words.
// Returns whether all of them have an answer.
bool infer(Address scores, bool is_double, std::size_t size, int n, std::ptrdiff_t sentence_stride,
           std::ptrdiff_t head_stride, std::ptrdiff_t modifier_stride, int kind, Address log_z,
           Address marginals) {
  const Released released;
  BatchOptions options;
  options.root = root_of(kind);
  options.projective = family_of(kind) == TreeFamily::kProjective;
  options.keep = false;
  std::vector<ScoreView> views;
  views.reserve(size);
  with_numbers(at(scores), is_double, [&](const auto* first) {
    for (std::size_t b = 0; b < size; ++b) {
      views.emplace_back(first + static_cast<std::ptrdiff_t>(b) * sentence_stride, n, head_stride,
                         modifier_stride);
    }
  });
  DependencyTrees trees(pool(), std::move(views), std::move(options));
  if (marginals != 0) {
    const auto side = static_cast<std::size_t>(n) + 1;
    trees.marginals(matrices_in(at<double>(marginals), size, side, side));  // They tell log Z, too.
  }
  const std::vector<Outcome> outcomes = trees.log_partition({at<double>(log_z), size});
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.ok(); });
}

}  // namespace

void init_cpu_operators(nb::module_& m) { m.def("cpu_infer", &infer); }

}  // namespace taproot::python
