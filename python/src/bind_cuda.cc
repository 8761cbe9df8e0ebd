// SPDX-License-Identifier: Apache-2.0
//
// Arrays on a CUDA device, in and out through DLPack: nothing is copied to the host, everything is
// on the caller's stream.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <mutex>
#include <stdexcept>
#include <string>

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
using ReadFloats = nb::ndarray<nb::ro, nb::device::cuda>;
using Lengths = std::optional<OnDevice<const std::int32_t>>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("[DeviceQueue] ") + what);
}

template <typename Array>
bool holds_doubles(const Array& array) {
  return array.dtype() == nb::dtype<double>();
}

// [B][N+1][N+1], any strides.
CudaScores scores_of(const ReadFloats& array, const Lengths& lengths, bool multi,
                     const OnDevice<std::int32_t>& outcomes) {
  require(array.ndim() == 3 && array.shape(1) == array.shape(2) && array.shape(1) > 0,
          "scores must have shape (B, N+1, N+1)");
  require(holds_doubles(array) || array.dtype() == nb::dtype<float>(),
          "scores must be float32 or float64");
  require(!lengths || lengths->size() == array.shape(0), "lengths must have shape (B,)");
  require(outcomes.size() == 3 * array.shape(0), "outcomes must have shape (B, 3)");
  CudaScores scores;
  scores.data = array.data();
  scores.is_double = holds_doubles(array);
  scores.size = array.shape(0);
  scores.max_n = static_cast<int>(array.shape(1)) - 1;
  scores.sentence_stride = array.stride(0);
  scores.head_stride = array.stride(1);
  scores.modifier_stride = array.stride(2);
  scores.lengths = lengths ? lengths->data() : nullptr;
  scores.root = multi ? RootRule::kMulti : RootRule::kSingle;
  return scores;
}

// A value for every edge; it is the library that promises to read some of them only.
template <typename Array>
CudaEdges edges_in(const Array& edges, const ReadFloats& scores) {
  require(edges.ndim() == 3 && edges.shape(0) == scores.shape(0) &&
              edges.shape(1) == scores.shape(1) && edges.shape(2) == scores.shape(2),
          "values of edges must have the shape of scores");
  require(holds_doubles(edges) || edges.dtype() == nb::dtype<float>(),
          "values of edges must be float32 or float64");
  return {const_cast<void*>(static_cast<const void*>(edges.data())), holds_doubles(edges),
          edges.stride(0), edges.stride(1), edges.stride(2)};
}

// Trees as [k][B][N].
CudaTrees trees_in(const OnDevice<std::int32_t>& heads, const CudaScores& scores) {
  require(heads.ndim() == 3 && heads.shape(1) == scores.size &&
              heads.shape(2) == static_cast<std::size_t>(scores.max_n),
          "heads must have shape (k, B, N)");
  return {heads.data(), heads.stride(1), heads.stride(0)};
}

CudaOutcome* outcomes_in(const OnDevice<std::int32_t>& outcomes) {
  static_assert(sizeof(CudaOutcome) == 3 * sizeof(std::int32_t));
  return reinterpret_cast<CudaOutcome*>(outcomes.data());
}

// One for each device, stream and precision: its workspace is that of the calls in flight.
class DeviceQueue {
 public:
  DeviceQueue(std::uintptr_t stream, bool in_double)
      : cuda_(in_double ? Precision::kFloat64 : Precision::kFloat32),
        stream_(reinterpret_cast<void*>(stream)) {}

  void log_partition(ReadFloats scores, Lengths lengths, bool multi,
                     OnDevice<std::int32_t> outcomes, OnDevice<double> out) {
    const CudaScores in = scores_of(scores, lengths, multi, outcomes);
    require(out.size() == in.size, "out must have shape (B,)");
    run([&] { cuda_.log_partition(in, outcomes_in(outcomes), out.data(), stream_); });
  }

  void marginals(ReadFloats scores, Lengths lengths, bool multi, OnDevice<std::int32_t> outcomes,
                 DeviceFloats out, OnDevice<double> log_z) {
    const CudaScores in = scores_of(scores, lengths, multi, outcomes);
    const CudaEdges edges = edges_in(out, scores);
    require(log_z.size() == in.size, "log_z must have shape (B,)");
    run([&] { cuda_.marginals(in, outcomes_in(outcomes), edges, log_z.data(), stream_); });
  }

  void hessian_product(ReadFloats scores, Lengths lengths, bool multi, ReadFloats direction,
                       OnDevice<std::int32_t> outcomes, DeviceFloats out) {
    const CudaScores in = scores_of(scores, lengths, multi, outcomes);
    const CudaEdges to = edges_in(out, scores);
    const CudaEdges along = edges_in(direction, scores);
    run([&] { cuda_.hessian_product(in, along, outcomes_in(outcomes), to, stream_); });
  }

  void sample(ReadFloats scores, Lengths lengths, bool multi, std::uint64_t seed,
              std::uint32_t first_sentence, OnDevice<std::int32_t> outcomes,
              OnDevice<std::int32_t> heads) {
    const CudaScores in = scores_of(scores, lengths, multi, outcomes);
    const CudaTrees to = trees_in(heads, in);
    run([&] {
      cuda_.sample(in, heads.shape(0), seed, outcomes_in(outcomes), to, stream_, first_sentence);
    });
  }

  void sample_without_replacement(ReadFloats scores, Lengths lengths, bool multi,
                                  std::uint64_t seed, std::uint32_t first_sentence,
                                  OnDevice<std::int32_t> outcomes, OnDevice<std::int32_t> heads,
                                  OnDevice<double> log_prob, OnDevice<double> gumbel,
                                  OnDevice<double> kappa, OnDevice<std::int32_t> counts) {
    const CudaScores in = scores_of(scores, lengths, multi, outcomes);
    const CudaWithoutReplacement out{trees_in(heads, in), log_prob.data(), gumbel.data(),
                                     kappa.data(), counts.data()};
    const std::size_t trees = heads.shape(0) * in.size;
    require(log_prob.size() == trees && gumbel.size() == trees,
            "log_prob and gumbel must have shape (B, k)");
    require(kappa.size() == in.size && counts.size() == in.size,
            "kappa and counts must have shape (B,)");
    run([&] {
      cuda_.sample_without_replacement(in, heads.shape(0), seed, outcomes_in(outcomes), out,
                                       stream_, first_sentence);
    });
  }

  std::uint64_t launches() {
    const Released released;
    const std::lock_guard lock(mutex_);
    return cuda_.statistics().launches;
  }

 private:
  template <typename Work>
  void run(Work&& work) {
    const Released released;
    const std::lock_guard lock(mutex_);
    work();
  }

  Cuda cuda_;
  void* stream_;
  std::mutex mutex_;
};

}  // namespace

void init_cuda(nb::module_& m) {
  m.def("cuda_available", &cuda_available,
        "Whether this build has CUDA, and this machine a device for it.");
  m.def("cuda_description", &cuda_description, "What the device is called, or why there is none.");
  const auto scores = nb::arg("scores").noconvert();
  const auto lengths = nb::arg("lengths").noconvert().none();
  const auto outcomes = nb::arg("outcomes").noconvert();
  const auto out = nb::arg("out").noconvert();
  const auto heads = nb::arg("heads").noconvert();
  nb::class_<DeviceQueue>(m, "DeviceQueue",
                          "Work on a CUDA device, on one of its streams: for arrays of any "
                          "framework that has __dlpack__.\n\n"
                          "Nothing is allocated for the caller, copied to the host or waited for. "
                          "Scores are (B, N+1, N+1), float32 or\n"
                          "float64, of any strides; lengths (B,), int32, or None; outcomes (B, 3), "
                          "int32: a status, 0 for ok (and 100\n"
                          "where only the CPU has the answer), and the cell of a bad score. Trees "
                          "are (k, B, N), int32.")
      .def(nb::init<std::uintptr_t, bool>(), "stream"_a, "in_double"_a)
      .def("log_partition", &DeviceQueue::log_partition, scores, lengths, "multi"_a, outcomes, out)
      .def("marginals", &DeviceQueue::marginals, scores, lengths, "multi"_a, outcomes, out,
           nb::arg("log_z").noconvert())
      .def("hessian_product", &DeviceQueue::hessian_product, scores, lengths, "multi"_a,
           nb::arg("direction").noconvert(), outcomes, out)
      .def("sample", &DeviceQueue::sample, scores, lengths, "multi"_a, "seed"_a, "first_sentence"_a,
           outcomes, heads)
      .def("sample_without_replacement", &DeviceQueue::sample_without_replacement, scores, lengths,
           "multi"_a, "seed"_a, "first_sentence"_a, outcomes, heads,
           nb::arg("log_prob").noconvert(), nb::arg("gumbel").noconvert(),
           nb::arg("kappa").noconvert(), nb::arg("counts").noconvert())
      .def("launches", &DeviceQueue::launches);
}

}  // namespace taproot::python
