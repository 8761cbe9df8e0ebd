// SPDX-License-Identifier: Apache-2.0
//
// Arrays on a CUDA device, in and out through DLPack: nothing is copied to the host, and everything
// happens on the caller's stream.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "arrays.h"
#include "gil.h"
#include "module.h"
#include "taproot/cuda.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

template <typename T>
using OnDevice = nb::ndarray<T, nb::c_contig, nb::device::cuda>;
using DeviceFloats = nb::ndarray<nb::device::cuda>;
using DeviceHeads = nb::ndarray<nb::c_contig, nb::device::cuda>;
using ReadFloats = nb::ndarray<nb::ro, nb::device::cuda>;
using Lengths = std::optional<OnDevice<const std::int32_t>>;
using Ids = std::optional<OnDevice<const std::int64_t>>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("[CudaDependencyTrees] ") + what);
}

bool is_multi(const std::string& root) {
  require(root == "single" || root == "multi", "root must be \"single\" or \"multi\"");
  return root == "multi";
}

Precision precision_named(const std::string& name) {
  if (name == "float64") return Precision::kFloat64;
  if (name == "float32") return Precision::kFloat32;
  throw std::invalid_argument("[Cuda] precision must be \"float64\" or \"float32\", not \"" + name +
                              "\"");
}

// [B][N+1][N+1], any strides.
CudaScores scores_of(const ReadFloats& array, const Lengths& lengths, const std::string& root,
                     const Ids& ids, bool projective) {
  require(array.ndim() == 3 && array.shape(1) == array.shape(2) && array.shape(1) > 0,
          "scores must have shape (B, N+1, N+1)");
  require(!lengths || lengths->size() == array.shape(0), "lengths must have shape (B,)");
  require(!ids || ids->size() == array.shape(0), "ids must have shape (B,)");
  CudaScores scores;
  scores.data = array.data();
  scores.is_double =
      holds_doubles(array, "[CudaDependencyTrees] scores must be float32 or float64");
  scores.size = array.shape(0);
  scores.max_n = static_cast<int>(array.shape(1)) - 1;
  scores.sentence_stride = array.stride(0);
  scores.head_stride = array.stride(1);
  scores.modifier_stride = array.stride(2);
  scores.lengths = lengths ? lengths->data() : nullptr;
  // The same 64 bits: frameworks have few functions for unsigned numbers.
  scores.ids = ids ? reinterpret_cast<const std::uint64_t*>(ids->data()) : nullptr;
  scores.root = is_multi(root) ? RootRule::kMulti : RootRule::kSingle;
  scores.family = projective ? TreeFamily::kProjective : TreeFamily::kAll;
  return scores;
}

using D = CudaDependencyTrees;

// CudaDependencyTrees with the arrays that it reads.
class BoundTrees {
 public:
  BoundTrees(Cuda& cuda, ReadFloats scores, Lengths lengths, const std::string& root, Ids ids,
             bool keep, bool projective)
      : scores_(std::move(scores)),
        lengths_(std::move(lengths)),
        ids_(std::move(ids)),
        trees_(cuda, scores_of(scores_, lengths_, root, ids_, projective), keep) {}

  void outcomes(OnDevice<std::int32_t> out, std::uintptr_t stream) {
    CudaOutcome* const to = outcomes_in(out);
    without_gil([&] { trees_.outcomes(to, at(stream)); });
  }
  template <void (D::*kQuestion)(double*, void*)>
  void numbers(OnDevice<double> out, std::uintptr_t stream) {
    require(out.size() == size(), "out must have shape (B,)");
    without_gil([&] { (trees_.*kQuestion)(out.data(), at(stream)); });
  }
  template <void (D::*kQuestion)(D&, double*, void*)>
  void compare(BoundTrees& q, OnDevice<double> out, std::uintptr_t stream) {
    require(out.size() == size(), "out must have shape (B,)");
    without_gil([&] { (trees_.*kQuestion)(q.trees_, out.data(), at(stream)); });
  }
  void root_marginals(OnDevice<double> out, std::uintptr_t stream) {
    require(out.ndim() == 2 && out.shape(0) == size() && out.shape(1) == words(),
            "out must have shape (B, N)");
    without_gil([&] { trees_.root_marginals(out.data(), at(stream)); });
  }
  void marginals(DeviceFloats out, std::uintptr_t stream) {
    const auto edges = edges_in<CudaEdges>(out);
    without_gil([&] { trees_.marginals(edges, at(stream)); });
  }
  void hessian_product(ReadFloats direction, DeviceFloats out, std::uintptr_t stream) {
    const auto along = edges_in<ConstCudaEdges>(direction);
    const auto to = edges_in<CudaEdges>(out);
    without_gil([&] { trees_.hessian_product(along, to, at(stream)); });
  }
  void mbr(OnDevice<std::int32_t> heads, std::uintptr_t stream) {
    require(heads.ndim() == 2 && heads.shape(0) == size() && heads.shape(1) == words(),
            "heads must have shape (B, N)");
    const CudaTreeBuffer out{heads.data(), heads.stride(0), 0};
    without_gil([&] { trees_.mbr(out, at(stream)); });
  }
  void log_prob(OnDevice<std::int32_t> heads, OnDevice<double> out, std::uintptr_t stream) {
    const CudaTreeBuffer trees = trees_in(heads);
    require(out.ndim() == 2 && out.shape(0) == heads.shape(0) && out.shape(1) == size(),
            "out must have shape (k, B)");
    const CudaTreeValues values{out.data(), 1, static_cast<std::ptrdiff_t>(size())};
    without_gil([&] { trees_.log_prob(heads.shape(0), trees, values, at(stream)); });
  }
  void sample(std::uint64_t seed, std::uint32_t first_tree, OnDevice<std::int32_t> outcomes,
              DeviceHeads heads, std::uintptr_t stream) {
    require_trees(heads);
    const nb::dlpack::dtype type = heads.dtype();
    require(type == nb::dtype<std::int8_t>() || type == nb::dtype<std::int16_t>() ||
                type == nb::dtype<std::int32_t>() || type == nb::dtype<std::int64_t>(),
            "heads must be int8, int16, int32 or int64");
    const CudaHeadBuffer out{heads.data(), type.bits / 8, heads.stride(1), heads.stride(0)};
    CudaOutcome* const to = outcomes_in(outcomes);
    without_gil([&] { trees_.sample(heads.shape(0), seed, first_tree, to, out, at(stream)); });
  }
  void sample_without_replacement(const std::string& algorithm, std::uint64_t seed,
                                  OnDevice<std::int32_t> outcomes, OnDevice<std::int32_t> heads,
                                  OnDevice<double> log_prob, OnDevice<double> gumbel,
                                  OnDevice<double> weights, OnDevice<double> kappa,
                                  OnDevice<std::int32_t> counts, std::uintptr_t stream) {
    const CudaWithoutReplacement out{trees_in(heads), log_prob.data(), gumbel.data(),
                                     weights.data(),  kappa.data(),    counts.data()};
    const std::size_t trees = heads.shape(0) * size();
    require(log_prob.size() == trees && gumbel.size() == trees && weights.size() == trees,
            "log_prob, gumbel and weights must have shape (B, k)");
    require(kappa.size() == size() && counts.size() == size(),
            "kappa and counts must have shape (B,)");
    CudaOutcome* const to = outcomes_in(outcomes);
    const WithoutReplacementAlgorithm by = without_replacement_algorithm_named(algorithm);
    without_gil(
        [&] { trees_.sample_without_replacement(heads.shape(0), by, seed, to, out, at(stream)); });
  }

 private:
  std::size_t size() const { return scores_.shape(0); }
  std::size_t words() const { return scores_.shape(1) - 1; }
  static void* at(std::uintptr_t stream) { return reinterpret_cast<void*>(stream); }

  // A value for every edge.
  template <typename Edges, typename Array>
  Edges edges_in(const Array& edges) const {
    require(edges.ndim() == 3 && edges.shape(0) == scores_.shape(0) &&
                edges.shape(1) == scores_.shape(1) && edges.shape(2) == scores_.shape(2),
            "values of edges must have the shape of scores");
    const bool doubles =
        holds_doubles(edges, "[CudaDependencyTrees] values of edges must be float32 or float64");
    return {edges.data(), doubles, edges.stride(0), edges.stride(1), edges.stride(2), nullptr};
  }
  // Trees as [k][B][N].
  template <typename Heads>
  void require_trees(const Heads& heads) const {
    require(heads.ndim() == 3 && heads.shape(1) == size() && heads.shape(2) == words(),
            "heads must have shape (k, B, N)");
  }
  CudaTreeBuffer trees_in(const OnDevice<std::int32_t>& heads) const {
    require_trees(heads);
    return {heads.data(), heads.stride(1), heads.stride(0)};
  }
  CudaOutcome* outcomes_in(const OnDevice<std::int32_t>& outcomes) const {
    static_assert(sizeof(CudaOutcome) == 3 * sizeof(std::int32_t));
    require(outcomes.size() == 3 * size(), "outcomes must have shape (B, 3)");
    return reinterpret_cast<CudaOutcome*>(outcomes.data());
  }

  ReadFloats scores_;
  Lengths lengths_;
  Ids ids_;
  CudaDependencyTrees trees_;
};

nb::dict statistics_of(const Cuda& cuda) {
  const CudaStatistics found = without_gil([&] { return cuda.statistics(); });
  nb::dict statistics;
  statistics["launches"] = found.launches;
  statistics["eliminations"] = found.eliminations;
  statistics["on_cpu"] = found.on_cpu;
  statistics["fallbacks"] = found.fallbacks;
  statistics["exact"] = found.exact;
  return statistics;
}

// The status of an outcome on a device by its name, and "out_of_range".
std::string status_name(int status) {
  if (status == kCudaOutOfRange) return "out_of_range";
  if (status == kCudaBadLength) return "bad_length";
  return std::string(to_string(static_cast<Status>(status)));
}

void init_trees(nb::module_& m) {
  const auto out = nb::arg("out").noconvert();
  const auto heads = nb::arg("heads").noconvert();
  const auto outcomes = nb::arg("outcomes").noconvert();
  nb::class_<BoundTrees>(
      m, "CudaDependencyTrees",
      "Distributions over the trees of a batch whose scores are on a CUDA device: for arrays of "
      "any "
      "framework that has\n__dlpack__.\n\n"
      "The first question eliminates; what it finds is kept on the device, unless keep is False, "
      "and used by the others.\nNothing is allocated for the caller, copied to the host or waited "
      "for: answers go into the arrays given, on the\nstream given (its address; 0 is the default "
      "stream). Scores are (B, N+1, N+1), float32 or float64, of any strides;\nlengths (B,), "
      "int32, and ids (B,), int64, or None; trees (k, B, N), int32, samples also int16 or int8;\n"
      "outcomes (B, 3), int32: the number of a status (cuda_status names it), and the cell of a "
      "bad score.\nA sentence that is not ok leaves its answers as they were.")
      .def(nb::init<Cuda&, ReadFloats, Lengths, const std::string&, Ids, bool, bool>(), "cuda"_a,
           nb::arg("scores").noconvert(), nb::arg("lengths").noconvert().none() = nb::none(),
           "root"_a = "single", nb::arg("ids").noconvert().none() = nb::none(), "keep"_a = true,
           "projective"_a = false)
      .def("outcomes", &BoundTrees::outcomes, out, "stream"_a)
      .def("log_partition", &BoundTrees::numbers<&D::log_partition>, out, "stream"_a)
      .def("entropy", &BoundTrees::numbers<&D::entropy>, out, "stream"_a)
      .def("marginals", &BoundTrees::marginals, out, "stream"_a)
      .def("root_marginals", &BoundTrees::root_marginals, out, "stream"_a)
      .def("hessian_product", &BoundTrees::hessian_product, nb::arg("direction").noconvert(), out,
           "stream"_a)
      .def("cross_entropy", &BoundTrees::compare<&D::cross_entropy>, "other"_a, out, "stream"_a)
      .def("kl_divergence", &BoundTrees::compare<&D::kl_divergence>, "other"_a, out, "stream"_a)
      .def("mbr", &BoundTrees::mbr, heads, "stream"_a)
      .def("log_prob", &BoundTrees::log_prob, heads, out, "stream"_a)
      .def("sample", &BoundTrees::sample, "seed"_a, "first_tree"_a, outcomes, heads, "stream"_a)
      .def("sample_without_replacement", &BoundTrees::sample_without_replacement, "algorithm"_a,
           "seed"_a, outcomes, heads, nb::arg("log_prob").noconvert(),
           nb::arg("gumbel").noconvert(), nb::arg("weights").noconvert(),
           nb::arg("kappa").noconvert(), nb::arg("counts").noconvert(), "stream"_a);
}

}  // namespace

void init_cuda(nb::module_& m) {
  m.def("cuda_available", &cuda_available,
        "Whether this build has CUDA and this machine a device for it.");
  m.def("cuda_description", &cuda_description,
        "The name of the device, or the reason why there is none.");
  m.def("cuda_status", &status_name, "status"_a,
        "The name of a status that a CUDA device wrote; \"out_of_range\" if only the CPU has the "
        "answer.");
  m.def(
      "describe_outcome",
      [](int status, int head, int modifier, std::size_t sentence) {
        return describe({static_cast<Status>(status), head, modifier}, sentence);
      },
      "status"_a, "head"_a, "modifier"_a, "sentence"_a,
      "A sentence in plain English that names what is wrong and where.");
  nb::class_<Cuda>(m, "Cuda",
                   "The CUDA device that is current when this object is made, with the memory that "
                   "it keeps from call to call.")
      .def(
          "__init__",
          [](Cuda* self, const std::string& precision) {
            new (self) Cuda(precision_named(precision));
          },
          "precision"_a = "float64")
      .def(
          "statistics", &statistics_of,
          "What was done so far: launches of kernels, eliminations of batches, and more. Waits for "
          "the device.")
      .def("release", &Cuda::release, nb::call_guard<nb::gil_scoped_release>(),
           "Gives memory that no object uses back to the device. Waits for the device.");
  init_trees(m);
}

}  // namespace taproot::python
