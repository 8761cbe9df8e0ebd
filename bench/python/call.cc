// SPDX-License-Identifier: Apache-2.0
//
// What overhead.py holds Python against: the same work by a C++ caller. Reads a matrix of doubles
// from a file, prints the median microseconds of factoring it and sampling k trees.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "taproot/taproot.h"

namespace {

template <typename Work>
double median_of(Work&& work) {
  std::vector<double> times;
  for (int round = 0; round < 300; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    times.push_back(taken.count());
  }
  std::nth_element(times.begin(), times.begin() + 150, times.end());
  return times[150];
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::fprintf(stderr, "usage: bench_call FILE N K\n"), 2;
  const int n = std::atoi(arguments[2]);
  const auto k = static_cast<std::size_t>(std::atoi(arguments[3]));
  const std::size_t cells = (static_cast<std::size_t>(n) + 1) * (static_cast<std::size_t>(n) + 1);
  std::vector<double> scores(cells);
  std::FILE* file = std::fopen(arguments[1], "rb");
  if (file == nullptr || std::fread(scores.data(), sizeof(double), cells, file) != cells) return 1;
  std::fclose(file);

  taproot::Workspace workspace;
  taproot::Sampler sampler;
  taproot::Factorization there;
  taproot::eliminate({scores.data(), n}, taproot::RootRule::kSingle, there, workspace);
  const auto sample = [&](const taproot::Factorization& f) {
    sampler.build(f, taproot::Algorithm::kAuto, workspace);
    std::vector<std::int32_t> heads(k * static_cast<std::size_t>(n));
    sampler.sample(0, {}, k, {heads.data(), n}, {}, nullptr, workspace);
  };
  const double all = median_of([&] {
    taproot::Factorization f;
    taproot::eliminate({scores.data(), n}, taproot::RootRule::kSingle, f, workspace);
    sample(f);
  });
  std::printf("%.3f %.3f\n", all, median_of([&] { sample(there); }));
}
