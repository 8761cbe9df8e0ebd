// SPDX-License-Identifier: Apache-2.0
//
// Popping against the walk by its definition, on the same stacks: microseconds per tree on uniform
// weights, multi-root, after comparing every tree. The walk by its definition computes both halves
// of every draw, so it shows what the rest of the work gains, not what an older version took.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sample/walk/walk.h"
#include "taproot/taproot.h"
#include "testing/uniform_weights.h"

namespace taproot::bench {
namespace {

double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void report(int n) {
  const oracle::Problem problem = uniform_weights(n, 1);
  Factorization f;
  Workspace workspace;
  if (!eliminate(ScoreView(problem.scores.data(), n), RootRule::kMulti, f, workspace).ok()) {
    std::exit(1);
  }
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::Walk walk;
  walk.build(detail::Access::data(f), true, scratch);
  constexpr int kGroup = detail::kMostPopped;
  const int groups = 20000 / n / kGroup + 4;
  const auto words = static_cast<std::size_t>(n);
  std::vector<std::int32_t> walked(words * kGroup);
  std::vector<std::int32_t> popped(words * kGroup);
  std::uint32_t samples[kGroup];
  std::int32_t roots[kGroup];
  std::uint64_t steps[kGroup];
  double times[2] = {};
  for (int g = 0; g < groups; ++g) {
    for (int t = 0; t < kGroup; ++t) samples[t] = static_cast<std::uint32_t>(g * kGroup + t);
    detail::PopRequest request;
    request.tables = walk.tables();
    request.key = detail::stream_key(1, 0);
    request.count = kGroup;
    request.samples = samples;
    request.heads = popped.data();
    request.stride = n;
    request.roots = roots;
    request.steps = steps;
    const double begin = now();
    for (std::size_t t = 0; t < kGroup; ++t) {
      detail::walk_simply(request.tables, 0, {request.key, samples[t]}, {},
                          walked.data() + t * words);
    }
    const double middle = now();
    detail::pop_trees(request, scratch);
    times[0] += middle - begin;
    times[1] += now() - middle;
    if (walked != popped) {
      std::fprintf(stderr, "bench_pop: the trees differ at n = %d\n", n);
      std::exit(1);
    }
  }
  const double scale = 1e6 / (static_cast<double>(groups) * kGroup);
  std::printf("| %d | %.3f | %.3f |\n", n, times[0] * scale, times[1] * scale);
}

}  // namespace
}  // namespace taproot::bench

int main() {
  std::printf("| n | walk_simply, us | pop_trees, us |\n| --- | --- | --- |\n");
  for (const int n : {5, 10, 25, 50, 100, 200, 400}) taproot::bench::report(n);
}
