// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include "core.h"
#include "module.h"
#include "threads.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

// Draws one tree after the other of a single sentence; keeps the Core that it reads alive.
class DistinctIterator {
 public:
  DistinctIterator(nb::object core, std::uint64_t seed, std::string_view algorithm,
                   std::size_t memory_limit, std::uint32_t sentence)
      : core_(std::move(core)) {
    const DistinctOptions options{distinct_algorithm_named(algorithm), seed, memory_limit};
    const Factorization& f = nb::cast<Core&>(core_).distribution[0];
    n_ = static_cast<std::size_t>(f.n());
    sampler_.build(f, options, sentence, workspace_);
  }

  /// Nothing at the end, which may be early: status().
  std::optional<std::tuple<NumpyArray<std::int32_t>, double, double>> next() {
    std::vector<std::int32_t> heads(n_);
    DistinctTree tree;
    bool found;
    {
      const nb::gil_scoped_release release;
      const std::lock_guard lock(mutex_);
      found = sampler_.next(heads, tree, workspace_);
    }
    if (!found) return std::nullopt;
    return std::make_tuple(to_numpy(std::move(heads), {n_}), tree.log_prob, tree.gumbel);
  }

  double threshold() {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return sampler_.threshold(workspace_);
  }

  std::size_t size() const { return sampler_.size(); }
  std::string_view status() const { return to_string(sampler_.status()); }

 private:
  nb::object core_;
  std::size_t n_;
  DistinctSampler sampler_;
  Workspace workspace_;
  std::mutex mutex_;  // Two Python threads may share the iterator.
};

}  // namespace

void init_iterator(nb::module_& m) {
  nb::class_<DistinctIterator>(m, "DistinctIterator")
      .def(nb::init<nb::object, std::uint64_t, std::string_view, std::size_t, std::uint32_t>(),
           "core"_a, "seed"_a, "algorithm"_a, "memory_limit"_a, "sentence"_a)
      .def("next", &DistinctIterator::next)
      .def("threshold", &DistinctIterator::threshold)
      .def("size", &DistinctIterator::size)
      .def("status", &DistinctIterator::status);
}

}  // namespace taproot::python
