// SPDX-License-Identifier: Apache-2.0
//
// The device against the CPU, and against the floors that memory and arithmetic set: answers are
// compared before they are timed. Medians over CUDA events; scores and results stay on the device.
#include <cstring>
#include <thread>

#include "bench/cuda/step_bench.h"
#include "bench/cuda/timing.h"

namespace taproot {
namespace {

using namespace bench;

void bench_marginals(Pool& pool, Precision precision, int n, std::size_t batch, double target,
                     int repeats = 21) {
  Data data(n, batch);
  Cuda cuda(precision);
  const bool is_double = precision == Precision::kFloat64;
  DeviceArray<double> out;
  DeviceArray<double> log_z;
  CudaEdges edges;
  edges.data = out.resize(data.host.size());
  edges.sentence_stride = static_cast<std::ptrdiff_t>(data.side() * data.side());
  edges.head_stride = n + 1;
  log_z.resize(batch);
  // A single question, for which nothing is kept.
  const auto run = [&] {
    CudaDependencyTrees trees(cuda, data.scores(), false);
    trees.marginals(edges, nullptr);
  };
  TAPROOT_CUDA(cudaMemset(out.data(), 0xff, data.host.size() * sizeof(double)));
  const auto only_z = [&] {
    CudaDependencyTrees trees(cuda, data.scores(), false);
    trees.log_partition(log_z.data(), nullptr);
  };
  run();
  only_z();
  const auto found = fetch(out.data(), data.host.size());
  const auto found_z = fetch(log_z.data(), batch);
  std::vector<double> exact(data.host.size());
  std::vector<EdgeMatrix> to;
  for (std::size_t b = 0; b < batch; ++b) {
    to.push_back({exact.data() + b * data.side() * data.side(), n + 1});
  }
  std::vector<double> exact_z(batch);
  DependencyTrees cpu(pool, data.on_host());
  cpu.marginals(to);
  cpu.log_partition(exact_z);
  double worst = 0;
  double worst_z = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(found[i] - exact[i]);
    worst = error <= worst ? worst : error;  // NaN sticks.
  }
  for (std::size_t b = 0; b < batch; ++b) {
    worst_z = std::max(worst_z, std::abs(found_z[b] - exact_z[b]) / std::abs(exact_z[b]));
  }
  char note[96];
  std::snprintf(note, sizeof note, "max |p - cpu| %.1e, log Z %.1e rel", worst, worst_z);
  expect(worst <= (is_double ? 1e-12 : 1e-4), note);
  const double cube = std::pow(n, 3) * static_cast<double>(batch);
  const double bytes = 16.0 * static_cast<double>(exact.size());
  row("marginals " + std::string(is_double ? "f64" : "f32") + " n=" + std::to_string(n) +
          " B=" + std::to_string(batch),
      time_device(run, repeats), target, bytes, cube, is_double ? kDoubleFma : kFloatFma, note);
  row("log_partition " + std::string(is_double ? "f64" : "f32") + " n=" + std::to_string(n) +
          " B=" + std::to_string(batch),
      time_device(only_z, repeats), 0, bytes / 2, cube / 3, is_double ? kDoubleFma : kFloatFma, "");
}

void bench_sample(Pool& pool, Precision precision, int n, std::size_t batch, std::size_t k,
                  double target_rate, int repeats = 21) {
  Data data(n, batch);
  Cuda cuda(precision);
  const auto width = static_cast<std::size_t>(n);
  DeviceArray<std::int32_t> heads;
  const CudaTreeBuffer out{heads.resize(batch * k * width), static_cast<std::ptrdiff_t>(k * width),
                           n};
  const auto run = [&] {
    CudaDependencyTrees trees(cuda, data.scores(), false);
    trees.sample(k, 7, 0, nullptr, out, nullptr);
  };
  TAPROOT_CUDA(cudaMemset(heads.data(), 0xee, batch * k * width * sizeof(std::int32_t)));
  run();
  const auto found = fetch(heads.data(), batch * k * width);
  std::vector<std::int32_t> exact(found.size());
  std::vector<TreeOutput> to(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    to[b].heads = exact.data() + b * k * width;
    to[b].stride = n;
  }
  SampleOptions options;
  options.seed = 7;
  DependencyTrees(pool, data.on_host()).sample(k, options, to);
  std::size_t different = 0;
  for (std::size_t t = 0; t < batch * k; ++t) {
    different += std::memcmp(found.data() + t * width, exact.data() + t * width,
                             width * sizeof(std::int32_t)) != 0;
  }
  const double count = static_cast<double>(batch * k);
  expect(static_cast<double>(different) <= 1e-3 * count, "sampled trees differ from the CPU's");
  const double ms = time_device(run, repeats);
  char note[128];
  std::snprintf(note, sizeof note, "%.1f M trees/s (target %.0f), %zu of %zu trees differ",
                count / ms / 1e3, target_rate, different, batch * k);
  const double cells = static_cast<double>(data.host.size());
  row("sample " + std::string(precision == Precision::kFloat64 ? "f64" : "f32") +
          " n=" + std::to_string(n) + " B=" + std::to_string(batch) + " k=" + std::to_string(k),
      ms, target_rate > 0 ? count / target_rate / 1e3 : 0, 8 * cells + 4 * count * n, cells * n / 3,
      kDoubleFma, note);
}

// Further trees per second: from the times for two numbers of trees, so that set-up does not count.
void bench_further(Precision precision, int n, std::size_t batch, int head_bytes,
                   int repeats = 11) {
  constexpr std::size_t kFew = 1000;
  constexpr std::size_t kMany = 10000;
  Data data(n, batch);
  Cuda cuda(precision);
  CudaDependencyTrees trees(cuda, data.scores());
  const std::size_t heads_of_trees = kMany * static_cast<std::size_t>(n);
  DeviceArray<std::int32_t> heads;
  heads.resize(batch * heads_of_trees);
  const CudaHeadBuffer out{heads.data(), head_bytes, static_cast<std::ptrdiff_t>(heads_of_trees),
                           n};
  const auto time = [&](std::size_t k) {
    return time_device([&] { trees.sample(k, 7, 0, nullptr, out, nullptr); }, repeats);
  };
  const double few = time(kFew);
  const double many = time(kMany);
  char note[128];
  std::snprintf(note, sizeof note, "%.4f ms for k=%zu: %.0f M further trees/s", few, kFew,
                static_cast<double>(batch * (kMany - kFew)) / (many - few) / 1e3);
  const double bytes = static_cast<double>(batch * heads_of_trees) * head_bytes;
  row("sample int" + std::to_string(8 * head_bytes) + " n=" + std::to_string(n) +
          " B=" + std::to_string(batch) + " k=" + std::to_string(kMany),
      many, 0, bytes, 0, kDoubleFma, note);
}

void bench_beam(Pool* pool, Precision precision, int n, std::size_t batch, std::size_t k,
                double target, bool ratio, int repeats = 11) {
  Data data(n, batch);
  Cuda cuda(precision);
  const bool is_double = precision == Precision::kFloat64;
  const auto width = static_cast<std::size_t>(n);
  DeviceArray<std::int32_t> heads;
  DeviceArray<double> log_prob;
  DeviceArray<double> gumbel;
  DeviceArray<double> kappa;
  DeviceArray<std::int32_t> count;
  DeviceArray<CudaOutcome> outcomes_there;
  outcomes_there.resize(batch);
  CudaWithoutReplacement out;
  out.trees = {heads.resize(batch * k * width), static_cast<std::ptrdiff_t>(k * width), n};
  out.log_prob = log_prob.resize(batch * k);
  out.gumbel = gumbel.resize(batch * k);
  out.kappa = kappa.resize(batch);
  out.count = count.resize(batch);
  const auto run = [&] {
    CudaDependencyTrees trees(cuda, data.scores(), false);
    trees.sample_without_replacement(k, WithoutReplacementAlgorithm::kBeam, 7,
                                     outcomes_there.data(), out, nullptr);
  };
  run();
  const auto found = fetch(heads.data(), batch * k * width);
  const auto found_gumbel = fetch(gumbel.data(), batch * k);
  const auto found_p = fetch(log_prob.data(), batch * k);
  std::string note;
  double cpu_ms = 0;
  if (pool != nullptr) {
    std::vector<WithoutReplacementSample> exact(batch);
    WithoutReplacementOptions options;
    options.algorithm = WithoutReplacementAlgorithm::kBeam;
    options.seed = 7;
    const auto on_cpu = [&] {
      DependencyTrees(*pool, data.on_host()).sample_without_replacement(k, options, exact);
    };
    cpu_ms = time_host(on_cpu, ratio ? 3 : 1);
    std::size_t different = 0;
    double worst = 0;
    double worst_p = 0;
    for (std::size_t b = 0; b < batch; ++b) {
      expect(exact[b].size() == k, "the CPU's beam is short");
      for (std::size_t t = 0; t < k; ++t) {
        const std::size_t at = b * k + t;
        if (std::memcmp(found.data() + at * width, exact[b][t].data(),
                        width * sizeof(std::int32_t)) != 0) {
          ++different;
        } else {
          worst = std::max(worst, std::abs(found_gumbel[at] - exact[b].gumbel[t]));
          worst_p = std::max(worst_p, std::abs(found_p[at] - exact[b].log_prob[t]));
        }
      }
    }
    char text[160];
    std::snprintf(text, sizeof text,
                  "%zu of %zu trees differ, |gumbel| %.1e, |log p| %.1e; cpu %.2f ms", different,
                  batch * k, worst, worst_p, cpu_ms);
    note = text;
    expect(static_cast<double>(different) <= 0.01 * static_cast<double>(batch * k), note);
  }
  const double ms = time_device(run, repeats);
  if (ratio) note += ", gpu over cpu " + std::to_string(cpu_ms / ms).substr(0, 6);
  note += ", exact laws " + std::to_string(cuda.statistics().exact);
  const double states = static_cast<double>(batch * (k + 1));
  // Float32 has no rows, but contracts for every law.
  const double bytes = is_double ? states * n * (n + 1) * 8.0 : states * n * (n + 1) * 2.0;
  const double fma = states * (is_double ? std::pow(n, 3) / 2 : std::pow(n, 4) / 12);
  row("beam " + std::string(is_double ? "f64" : "f32") + " n=" + std::to_string(n) +
          " B=" + std::to_string(batch) + " k=" + std::to_string(k),
      ms, target, bytes, fma, is_double ? kDoubleFma : kFloatFma, note);
}

// One object that is asked for log Z, marginals, entropy and k trees per sentence, with answers in
// device memory; and the same by an object per question.
void bench_questions(Precision precision, int n, std::size_t batch, std::size_t k) {
  Data data(n, batch);
  Cuda cuda(precision);
  const auto width = static_cast<std::size_t>(n);
  DeviceArray<double> out;
  DeviceArray<double> numbers;
  DeviceArray<std::int32_t> heads;
  CudaEdges edges;
  edges.data = out.resize(data.host.size());
  edges.sentence_stride = static_cast<std::ptrdiff_t>(data.side() * data.side());
  edges.head_stride = n + 1;
  numbers.resize(2 * batch);
  const CudaTreeBuffer trees_out{heads.resize(batch * k * width),
                                 static_cast<std::ptrdiff_t>(k * width), n};
  const auto ask = [&](auto&& trees) {
    trees().marginals(edges, nullptr);
    trees().log_partition(numbers.data(), nullptr);
    trees().entropy(numbers.data() + batch, nullptr);
    trees().sample(k, 7, 0, nullptr, trees_out, nullptr);
  };
  const auto once = [&] {
    CudaDependencyTrees trees(cuda, data.scores());
    ask([&]() -> CudaDependencyTrees& { return trees; });
  };
  const auto each = [&] { ask([&] { return CudaDependencyTrees(cuda, data.scores(), false); }); };
  once();
  const std::uint64_t eliminations = cuda.statistics().eliminations;
  expect(eliminations == 1, "one object eliminated " + std::to_string(eliminations) + " times");
  const std::string name =
      "questions " + std::string(precision == Precision::kFloat64 ? "f64" : "f32") +
      " n=" + std::to_string(n) + " B=" + std::to_string(batch) + " k=" + std::to_string(k);
  row(name, time_device(once), 0, 0, 0, kDoubleFma,
      "log Z, marginals, entropy, samples: " + std::to_string(eliminations) + " elimination");
  row(name, time_device(each), 0, 0, 0, kDoubleFma, "the same with an object per question");
}

// From host memory and back: trees and their log p, as the command line asks for them.
void bench_host(Pool& pool, int n, std::size_t batch, std::size_t k) {
  const Data data(n, batch);
  Cuda cuda;
  std::vector<std::int32_t> heads(batch * k * static_cast<std::size_t>(n));
  std::vector<double> log_prob(batch * k);
  std::vector<TreeOutput> out(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    out[b].heads = heads.data() + b * k * static_cast<std::size_t>(n);
    out[b].stride = n;
    out[b].log_prob = log_prob.data() + b * k;
  }
  const std::string name =
      "host n=" + std::to_string(n) + " B=" + std::to_string(batch) + " k=" + std::to_string(k);
  const auto on_cpu = [&] { DependencyTrees(pool, data.on_host()).sample(k, {}, out); };
  const double cpu_ms = time_host(on_cpu, 5);
  const auto exact = heads;
  const auto there = [&] { DependencyTrees(cuda, data.on_host()).sample(k, {}, out); };
  const double first_ms = time_host(there, 1);
  expect(heads == exact, "sampled trees differ from the CPU's");
  row(name, time_host(there, 5), 0, 0, 0, kDoubleFma,
      "the first time " + std::to_string(first_ms) + ", cpu " + std::to_string(cpu_ms));
}

constexpr Precision kWide = Precision::kFloat64;
constexpr Precision kNarrow = Precision::kFloat32;

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  Pool pool(threads);
  std::printf("%s; CPU with %d threads\n", cuda_description().c_str(), threads);
  std::printf("%-38s %9s %9s %10s %10s\n", "milliseconds", "median", "target", "bytes/bw",
              "fma/rate");
  if (what == "all" || what == "marginals") {
    for (const Precision p : {Precision::kFloat64, Precision::kFloat32}) {
      const bool d = p == Precision::kFloat64;
      bench_marginals(pool, p, 25, 1024, d ? 0.10 : 0);
      bench_marginals(pool, p, 50, 256, d ? 0.20 : 0);
      bench_marginals(pool, p, 100, 64, d ? 0.40 : 0);
      bench_marginals(pool, p, 200, 64, 0);
      bench_marginals(pool, p, 256, 16, 0);
    }
  }
  if (what == "all" || what == "step") {
    for (const Precision p : {kNarrow, kWide}) {
      bench_step(pool, p, 10, 1024);
      bench_step(pool, p, 25, 1024);
      bench_step(pool, p, 50, 256);
      bench_step(pool, p, 100, 64);
      bench_step(pool, p, 100, 1024);
      bench_step(pool, p, 200, 64);
    }
  }
  if (what == "all" || what == "argmax") {
    bench_argmax(pool, 25, 1024, 0.15);
    bench_argmax(pool, 100, 1024, 1);
  }
  if (what == "all" || what == "sample") {
    bench_sample(pool, Precision::kFloat64, 25, 1024, 100, 50);
    bench_sample(pool, Precision::kFloat64, 100, 64, 1000, 10);
    bench_sample(pool, Precision::kFloat32, 25, 1024, 100, 0);
    bench_sample(pool, Precision::kFloat32, 100, 64, 1000, 0);
  }
  if (what == "all" || what == "sample" || what == "further") {
    bench_further(kWide, 10, 1024, 4);
    bench_further(kWide, 25, 1024, 4);
    bench_further(kWide, 25, 1024, 1);
    bench_further(kWide, 50, 256, 4);
    bench_further(kWide, 100, 64, 4);
    bench_further(kWide, 100, 64, 1);
    bench_further(kWide, 200, 16, 4, 5);
    bench_further(kWide, 400, 4, 4, 5);
  }
  if (what == "all" || what == "beam") {
    bench_beam(&pool, kWide, 14, 1, 1000, 0, false);
    bench_beam(&pool, kWide, 30, 1, 1000, 0.6, false);
    bench_beam(&pool, kWide, 60, 1, 1000, 1.5, false);
    bench_beam(&pool, kWide, 100, 1, 10, 0, true);
    bench_beam(&pool, kWide, 100, 1, 100, 0, true);
    bench_beam(&pool, kWide, 100, 1, 1000, 3.5, true);
    bench_beam(&pool, kWide, 100, 1, 4000, 11, true);
    // A sentence's beam is one thread's work on the CPU: with 16 sentences all cores are busy.
    for (const std::size_t k : {10U, 100U, 1000U, 4000U}) {
      bench_beam(&pool, kWide, 100, 16, k, 0, true, 5);
    }
    bench_beam(&pool, kWide, 25, 64, 50, 0, false);
    bench_beam(&pool, kWide, 25, 256, 50, 0, false);
    for (const int n : {14, 30, 60}) bench_beam(&pool, kNarrow, n, 1, 1000, 0, false);
    for (const std::size_t k : {100U, 1000U, 4000U}) {
      bench_beam(&pool, kNarrow, 100, 1, k, 0, false);
    }
    bench_beam(&pool, kNarrow, 25, 64, 50, 0, false);
    bench_beam(&pool, kNarrow, 25, 256, 50, 0, false);
  }
  if (what == "all" || what == "questions") {
    for (const Precision p : {kWide, kNarrow}) {
      bench_questions(p, 25, 1024, 100);
      bench_questions(p, 50, 256, 100);
      bench_questions(p, 100, 64, 100);
      bench_questions(p, 200, 64, 100);
    }
    bench_host(pool, 25, 10000, 100);
  }
  if (what == "check") {  // Every kernel on little data, for compute-sanitizer.
    for (const Precision p : {Precision::kFloat64, Precision::kFloat32}) {
      for (const int n : {10, 40, 70, 180}) bench_marginals(pool, p, n, 1, 0, 1);
      bench_sample(pool, p, 30, 2, 150, 0, 1);
    }
    for (const Precision p : {kWide, kNarrow}) {
      bench_beam(&pool, p, 20, 2, 60, 0, false, 1);
      bench_beam(&pool, p, 50, 1, 40, 0, false, 1);
      bench_beam(&pool, p, 70, 1, 20, 0, false, 1);
    }
  }
  if (what == "profile") {  // Each kernel once or a few times, for a profiler.
    bench_beam(nullptr, kWide, 30, 1, 1000, 0, false, 1);
    bench_beam(nullptr, kWide, 100, 1, 1000, 0, false, 1);
    bench_beam(nullptr, kWide, 100, 1, 4000, 0, false, 1);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace taproot

int main(int argc, char** argv) {
  try {
    return taproot::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_bench: %s\n", error.what());
    return 2;
  }
}
