// SPDX-License-Identifier: Apache-2.0
//
// Arrays on a CUDA device, in and out through DLPack: nothing is copied to the host, everything is
// on the caller's stream. Shapes and types are checked by the Python side.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>

#include "arrays.h"
#include "gil.h"
#include "module.h"
#include "taproot/device.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

template <typename T>
using OnDevice = nb::ndarray<T, nb::c_contig, nb::device::cuda>;
using DeviceFloats = nb::ndarray<nb::device::cuda>;
using ReadFloats = nb::ndarray<nb::ro, nb::device::cuda>;
using Lengths = std::optional<OnDevice<const std::int32_t>>;

template <typename Array>
bool holds_doubles(const Array& array) {
  return array.dtype() == nb::dtype<double>();
}

// [B][N+1][N+1], any strides.
CudaScores scores_of(const ReadFloats& array, const Lengths& lengths, bool multi) {
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

// Trees as [k][B][N].
CudaTrees trees_in(const OnDevice<std::int32_t>& heads) {
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
    run([&] {
      cuda_.log_partition(scores_of(scores, lengths, multi), outcomes_in(outcomes), out.data(),
                          stream_);
    });
  }

  void marginals(ReadFloats scores, Lengths lengths, bool multi, OnDevice<std::int32_t> outcomes,
                 DeviceFloats out, OnDevice<double> log_z) {
    const CudaEdges edges{out.data(), holds_doubles(out), out.stride(0), out.stride(1),
                          out.stride(2)};
    run([&] {
      cuda_.marginals(scores_of(scores, lengths, multi), outcomes_in(outcomes), edges, log_z.data(),
                      stream_);
    });
  }

  void sample(ReadFloats scores, Lengths lengths, bool multi, std::uint64_t seed,
              std::uint32_t first_sentence, OnDevice<std::int32_t> outcomes,
              OnDevice<std::int32_t> heads) {
    run([&] {
      cuda_.sample(scores_of(scores, lengths, multi), heads.shape(0), seed, outcomes_in(outcomes),
                   trees_in(heads), stream_, first_sentence);
    });
  }

  void sample_without_replacement(ReadFloats scores, Lengths lengths, bool multi,
                                  std::uint64_t seed, std::uint32_t first_sentence,
                                  OnDevice<std::int32_t> outcomes, OnDevice<std::int32_t> heads,
                                  OnDevice<double> log_prob, OnDevice<double> gumbel,
                                  OnDevice<double> threshold, OnDevice<std::int32_t> counts) {
    const CudaDistinct out{trees_in(heads), log_prob.data(), gumbel.data(), threshold.data(),
                           counts.data()};
    run([&] {
      cuda_.sample_without_replacement(scores_of(scores, lengths, multi), heads.shape(0), seed,
                                       outcomes_in(outcomes), out, stream_, first_sentence);
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
  nb::class_<DeviceQueue>(m, "DeviceQueue")
      .def(nb::init<std::uintptr_t, bool>(), "stream"_a, "in_double"_a)
      .def("log_partition", &DeviceQueue::log_partition, scores, lengths, "multi"_a, outcomes, out)
      .def("marginals", &DeviceQueue::marginals, scores, lengths, "multi"_a, outcomes, out,
           nb::arg("log_z").noconvert())
      .def("sample", &DeviceQueue::sample, scores, lengths, "multi"_a, "seed"_a, "first_sentence"_a,
           outcomes, heads)
      .def("sample_without_replacement", &DeviceQueue::sample_without_replacement, scores, lengths,
           "multi"_a, "seed"_a, "first_sentence"_a, outcomes, heads,
           nb::arg("log_prob").noconvert(), nb::arg("gumbel").noconvert(),
           nb::arg("threshold").noconvert(), nb::arg("counts").noconvert())
      .def("launches", &DeviceQueue::launches);
}

}  // namespace taproot::python
