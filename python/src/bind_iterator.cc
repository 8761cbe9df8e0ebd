// SPDX-License-Identifier: Apache-2.0
//
// Trees of a single sentence, one after the other.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <mutex>

#include "core.h"
#include "gil.h"
#include "module.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using Words = NumpyArray<std::int32_t>;

// Both iterators keep alive the Core that they read, and may be shared by threads of Python.

class WithoutReplacementIterator {
 public:
  WithoutReplacementIterator(nb::object core, std::uint64_t seed, std::string_view algorithm,
                             std::size_t memory_limit)
      : core_(std::move(core)), trees_(nb::cast<Core&>(core_).trees), seed_(seed) {
    const WithoutReplacementOptions options{without_replacement_algorithm_named(algorithm), seed,
                                            memory_limit};
    sampler_.build(trees_.factorization(0), options, trees_.id(0), workspace_);
  }

  /// Nothing at the end, which may be early: status().
  std::optional<std::tuple<Words, double, double, std::optional<Words>>> next() {
    const auto n = static_cast<std::size_t>(trees_.n(0));
    const bool labeled = trees_.label_count() > 0;
    std::vector<std::int32_t> heads(n);
    std::vector<std::int32_t> labels(n);
    WithoutReplacementTree tree;
    bool found;
    {
      const Released released;
      const std::lock_guard lock(mutex_);
      const auto number = static_cast<std::uint32_t>(sampler_.size());
      found = sampler_.next(heads, tree, workspace_);
      if (found && labeled) {
        sample_labels(trees_.labels(0), heads, seed_, trees_.id(0), number, labels);
      }
    }
    if (!found) return std::nullopt;
    std::optional<Words> of_words;
    if (labeled) of_words = to_numpy(std::move(labels), {n});
    return std::make_tuple(to_numpy(std::move(heads), {n}), tree.log_prob, tree.gumbel, of_words);
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
  DependencyTrees& trees_;
  std::uint64_t seed_;
  WithoutReplacementSampler sampler_;
  Workspace workspace_;
  std::mutex mutex_;
};

class KBestIterator {
 public:
  explicit KBestIterator(nb::object core)
      : core_(std::move(core)), trees_(nb::cast<Core&>(core_).trees) {
    outcome_ = best_.build(trees_.decode_scores(0), trees_.root_rule(), trees_.family());
  }

  std::optional<std::tuple<Words, double, std::optional<Words>>> next() {
    const auto n = static_cast<std::size_t>(trees_.n(0));
    const bool labeled = trees_.label_count() > 0;
    std::vector<std::int32_t> heads(n);
    std::vector<std::int32_t> labels(n);
    double score = 0;
    bool found;
    {
      const Released released;
      const std::lock_guard lock(mutex_);
      found = best_.next(heads, score);
      if (found && labeled) best_labels(trees_.labels(0), heads, labels);
    }
    if (!found) return std::nullopt;
    std::optional<Words> of_words;
    if (labeled) of_words = to_numpy(std::move(labels), {n});
    return std::make_tuple(to_numpy(std::move(heads), {n}), score, of_words);
  }

  std::string_view status() const { return to_string(outcome_.status); }

 private:
  nb::object core_;
  DependencyTrees& trees_;
  Outcome outcome_;
  taproot::KBestIterator best_;
  std::mutex mutex_;
};

}  // namespace

void init_iterator(nb::module_& m) {
  nb::class_<WithoutReplacementIterator>(m, "WithoutReplacementIterator")
      .def(nb::init<nb::object, std::uint64_t, std::string_view, std::size_t>(), "core"_a, "seed"_a,
           "algorithm"_a, "memory_limit"_a)
      .def("next", &WithoutReplacementIterator::next)
      .def("kappa", &WithoutReplacementIterator::kappa)
      .def("size", &WithoutReplacementIterator::size)
      .def("status", &WithoutReplacementIterator::status);
  nb::class_<KBestIterator>(m, "KBestIterator")
      .def(nb::init<nb::object>(), "core"_a)
      .def("next", &KBestIterator::next)
      .def("status", &KBestIterator::status);
}

}  // namespace taproot::python
