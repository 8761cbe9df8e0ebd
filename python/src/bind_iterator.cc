// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include "core.h"
#include "gil.h"
#include "module.h"
#include "threads.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using Words = NumpyArray<std::int32_t>;

// Draws one tree after the other of a single sentence; keeps the Core that it reads alive.
class WithoutReplacementIterator {
 public:
  WithoutReplacementIterator(nb::object core, std::uint64_t seed, std::string_view algorithm,
                             std::size_t memory_limit, std::uint32_t sentence)
      : core_(std::move(core)), seed_(seed), sentence_(sentence) {
    const WithoutReplacementOptions options{without_replacement_algorithm_named(algorithm), seed,
                                            memory_limit};
    const Factorization& f = nb::cast<Core&>(core_).distribution[0];
    n_ = static_cast<std::size_t>(f.n());
    sampler_.build(f, options, sentence, workspace_);
  }

  /// Nothing at the end, which may be early: status().
  std::optional<std::tuple<Words, double, double, std::optional<Words>>> next() {
    std::vector<std::int32_t> heads(n_);
    std::vector<std::int32_t> labels(n_);
    const Distribution& d = nb::cast<Core&>(core_).distribution;
    WithoutReplacementTree tree;
    bool found;
    {
      const Released released;
      const std::lock_guard lock(mutex_);
      const auto number = static_cast<std::uint32_t>(sampler_.size());
      found = sampler_.next(heads, tree, workspace_);
      if (found && d.labeled()) {
        sample_labels(d.labels(0), heads, seed_, sentence_, number, labels);
      }
    }
    if (!found) return std::nullopt;
    std::optional<Words> of_words;
    if (d.labeled()) of_words = to_numpy(std::move(labels), {n_});
    return std::make_tuple(to_numpy(std::move(heads), {n_}), tree.log_prob, tree.gumbel, of_words);
  }

  double kappa() {
    const Released released;
    const std::lock_guard lock(mutex_);
    return sampler_.kappa(workspace_);
  }

  std::size_t size() const { return sampler_.size(); }
  std::string_view status() const { return to_string(sampler_.status()); }

 private:
  nb::object core_;
  std::uint64_t seed_;
  std::uint32_t sentence_;
  std::size_t n_;
  WithoutReplacementSampler sampler_;
  Workspace workspace_;
  std::mutex mutex_;  // Two Python threads may share the iterator.
};

}  // namespace

void init_iterator(nb::module_& m) {
  nb::class_<WithoutReplacementIterator>(m, "WithoutReplacementIterator")
      .def(nb::init<nb::object, std::uint64_t, std::string_view, std::size_t, std::uint32_t>(),
           "core"_a, "seed"_a, "algorithm"_a, "memory_limit"_a, "sentence"_a)
      .def("next", &WithoutReplacementIterator::next)
      .def("kappa", &WithoutReplacementIterator::kappa)
      .def("size", &WithoutReplacementIterator::size)
      .def("status", &WithoutReplacementIterator::status);
}

}  // namespace taproot::python
