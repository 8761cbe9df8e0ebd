// SPDX-License-Identifier: Apache-2.0
#include "bench/cuda/step_bench.h"

#include "bench/cuda/timing.h"

namespace taproot::bench {
namespace {

// The batch in float32, on the host and on the device.
struct NarrowData {
  int n;
  std::size_t batch;
  std::vector<float> host;
  DeviceArray<float> device;

  NarrowData(int words, std::size_t sentences) : n(words), batch(sentences) {
    for (const double s : uniform_weights(words, sentences)) host.push_back(static_cast<float>(s));
    TAPROOT_CUDA(cudaMemcpy(device.resize(host.size()), host.data(), host.size() * sizeof(float),
                            cudaMemcpyHostToDevice));
  }
  std::size_t cells() const { return host.size() / batch; }
  CudaScores scores() const {
    CudaScores s;
    s.data = device.data();
    s.is_double = false;
    s.size = batch;
    s.max_n = n;
    s.sentence_stride = static_cast<std::ptrdiff_t>(cells());
    s.head_stride = n + 1;
    return s;
  }
  std::vector<ScoreView> on_host() const {
    std::vector<ScoreView> views;
    for (std::size_t b = 0; b < batch; ++b) views.emplace_back(host.data() + b * cells(), n);
    return views;
  }
};

// Median milliseconds of run(stream), called and replayed as a graph.
template <typename Run>
std::pair<double, double> time_both(Run&& run) {
  const double called = time_device([&] { run(nullptr); });
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  TAPROOT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  TAPROOT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  run(stream);
  TAPROOT_CUDA(cudaStreamEndCapture(stream, &graph));
  TAPROOT_CUDA(cudaGraphInstantiate(&ready, graph, 0));
  const double replayed = time_device([&] { TAPROOT_CUDA(cudaGraphLaunch(ready, nullptr)); });
  TAPROOT_CUDA(cudaGraphExecDestroy(ready));
  TAPROOT_CUDA(cudaGraphDestroy(graph));
  TAPROOT_CUDA(cudaStreamDestroy(stream));
  return {called, replayed};
}

std::string name_of(const char* what, int n, std::size_t batch) {
  return std::string(what) + " n=" + std::to_string(n) + " B=" + std::to_string(batch);
}

}  // namespace

void bench_step(Pool& pool, Precision precision, int n, std::size_t batch) {
  const NarrowData data(n, batch);
  const bool is_double = precision == Precision::kFloat64;
  DeviceArray<float> marginals;
  DeviceArray<float> log_z;
  DeviceArray<unsigned char> workspace;
  CudaInference q;
  q.scores = data.scores();
  q.precision = precision;
  q.log_partition = {log_z.resize(batch), false, 1};
  q.marginals = {
      marginals.resize(data.host.size()), false, q.scores.sentence_stride, n + 1, 1, nullptr};
  const std::size_t bytes = cuda_inference_bytes(q);
  workspace.resize(bytes);
  const auto run = [&](void* stream) { cuda_infer(q, workspace.data(), bytes, stream); };
  run(nullptr);
  const auto found = fetch(marginals.data(), data.host.size());
  std::vector<double> exact(data.host.size());
  std::vector<EdgeMatrix> to;
  for (std::size_t b = 0; b < batch; ++b) to.push_back({exact.data() + b * data.cells(), n + 1});
  DependencyTrees(pool, data.on_host()).marginals(to);
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(static_cast<double>(found[i]) - exact[i]);
    worst = error <= worst ? worst : error;  // NaN sticks.
  }
  char note[128];
  std::snprintf(note, sizeof note, "max |p - cpu| %.1e, workspace %.1f MB", worst,
                static_cast<double>(bytes) * 1e-6);
  expect(worst <= (is_double ? 1e-6 : 1e-4), note);
  const auto [called, replayed] = time_both(run);
  const double cube = std::pow(n, 3) * static_cast<double>(batch);
  const double moved = 8.0 * static_cast<double>(exact.size());
  const double rate = is_double ? kDoubleFma : kFloatFma;
  const std::string precision_name = is_double ? "step f64" : "step f32";
  row(name_of(precision_name.c_str(), n, batch), called, 0, moved, cube, rate, note);
  row(name_of((precision_name + " in a graph").c_str(), n, batch), replayed, 0, moved, cube, rate,
      "");
}

void bench_argmax(Pool& pool, int n, std::size_t batch, double target) {
  const NarrowData data(n, batch);
  const auto width = static_cast<std::size_t>(n);
  DeviceArray<std::int32_t> heads;
  DeviceArray<unsigned char> workspace;
  CudaArgmax q;
  q.scores = data.scores();
  q.trees = CudaTreeBuffer{heads.resize(batch * width), n, 0};
  const std::size_t bytes = cuda_argmax_bytes(q);
  workspace.resize(bytes);
  const auto run = [&](void* stream) { cuda_argmax(q, workspace.data(), bytes, stream); };
  run(nullptr);
  const auto found = fetch(heads.data(), batch * width);
  std::vector<std::int32_t> exact(batch * width);
  std::vector<TreeOutput> out(batch);
  for (std::size_t b = 0; b < batch; ++b) out[b].heads = exact.data() + b * width;
  const double cpu_ms = time_host([&] { DependencyTrees(pool, data.on_host()).argmax(out); }, 5);
  expect(found == exact, "the best trees differ from the CPU's");
  const auto [called, replayed] = time_both(run);
  const double moved = 4.0 * static_cast<double>(data.host.size());
  row(name_of("argmax", n, batch), called, target, moved, 0, kFloatFma,
      "in a graph " + std::to_string(replayed) + ", cpu " + std::to_string(cpu_ms));
}

}  // namespace taproot::bench
