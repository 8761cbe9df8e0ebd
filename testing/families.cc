// SPDX-License-Identifier: Apache-2.0
#include "testing/families.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <utility>

namespace taproot::oracle {
namespace {

// splitmix64 (Steele, Lea and Flood 2014); written out so that no standard library can change it.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  // In (0, 1), never either end.
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

  // Box-Muller, one of the pair.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  // In [0, bound).
  int below(int bound) { return static_cast<int>(uniform() * bound); }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

// score(head, modifier) is called once for each edge, row by row.
template <typename Score>
Problem build(int n, Score score) {
  Problem problem{n, {}};
  problem.scores.reserve(static_cast<std::size_t>(n + 1) * static_cast<std::size_t>(n + 1));
  for (int h = 0; h <= n; ++h) {
    for (int m = 0; m <= n; ++m) {
      problem.scores.push_back(m == 0 || h == m ? -HUGE_VAL : score(h, m));
    }
  }
  return problem;
}

// Heads of words 1..n at [1..n]: words in random order, the first below ROOT, each other below one
// of those before it.
std::vector<int> random_tree(int n, Generator& generator) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 1);
  for (int i = n - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(generator.below(i + 1))]);
  }
  std::vector<int> heads(static_cast<std::size_t>(n) + 1, 0);
  for (int i = 1; i < n; ++i) {
    heads[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] =
        order[static_cast<std::size_t>(generator.below(i))];
  }
  return heads;
}

}  // namespace

Problem uniform(int n) {
  return build(n, [](int, int) { return 0.0; });
}

Problem gaussian(int n, double sigma, std::uint64_t seed) {
  Generator generator(seed);
  return build(n, [&](int, int) { return sigma * generator.normal(); });
}

Problem heavy_tailed(int n, std::uint64_t seed) {
  Generator generator(seed);
  return build(n, [&](int, int) {
    return std::clamp(std::tan(std::numbers::pi * (generator.uniform() - 0.5)), -1e6, 1e6);
  });
}

Problem attractor_pairs(int n, double gap, std::uint64_t seed) {
  Generator generator(seed);
  return build(n, [&](int h, int m) {
    const bool partners = h != 0 && (h - 1) / 2 == (m - 1) / 2;
    return partners ? 0.1 * generator.normal() : -gap + generator.normal();
  });
}

Problem rings(int n, int ring_size, double gap, std::uint64_t seed) {
  Generator generator(seed);
  return build(n, [&](int h, int m) {
    const int first = (m - 1) / ring_size * ring_size + 1;
    const int last = std::min(first + ring_size - 1, n);
    const bool in_ring = h == (m == first ? last : m - 1);
    return in_ring ? 0.1 * generator.normal() : -gap + generator.normal();
  });
}

Problem nested_rings(int n, double gap, std::uint64_t seed) {
  Generator generator(seed);
  const int ring_count = (n + 2) / 3;
  return build(n, [&](int h, int m) {
    const int ring = (m - 1) / 3;
    const int first = 3 * ring + 1;
    const int last = std::min(first + 2, n);
    double level = 3.0;
    if (h == (m == first ? last : m - 1)) {
      level = 1.0;
    } else if (h != 0 && ((h - 1) / 3 + 1) % ring_count == ring && (h - 1) / 3 != ring) {
      level = 2.0;
    }
    return -level * gap + generator.normal();
  });
}

Problem near_empty_columns(int n, std::uint64_t seed) {
  Generator generator(seed);
  const std::vector<int> heads = random_tree(n, generator);
  std::vector<int> others(heads.size(), 0);
  for (int m = 1; m <= n; ++m) {
    const std::size_t word = static_cast<std::size_t>(m);
    others[word] = generator.uniform() < 0.5 ? generator.below(n + 1) : heads[word];
  }
  return build(n, [&](int h, int m) {
    const std::size_t word = static_cast<std::size_t>(m);
    return h == heads[word] || h == others[word] ? generator.normal() : -HUGE_VAL;
  });
}

Problem wide_range(int n, double orders, std::uint64_t seed) {
  Generator generator(seed);
  return build(n,
               [&](int, int) { return (generator.uniform() - 0.5) * orders * std::numbers::ln10; });
}

Problem sparse(int n, double density, std::uint64_t seed) {
  Generator generator(seed);
  return build(n, [&](int, int) {
    const double score = generator.normal();
    return generator.uniform() < density ? score : -HUGE_VAL;
  });
}

Problem masked(int n, double mask, std::uint64_t seed) {
  Generator generator(seed);
  const std::vector<int> heads = random_tree(n, generator);
  return build(n, [&](int h, int m) {
    const double score = generator.normal();
    const bool hide = generator.uniform() < 1.0 / 3.0;
    return hide && h != heads[static_cast<std::size_t>(m)] ? mask : score;
  });
}

Problem column_offsets(int n, double size, std::uint64_t seed) {
  Generator generator(seed);
  std::vector<double> offsets(static_cast<std::size_t>(n) + 1);
  for (double& offset : offsets) offset = size * (2.0 * generator.uniform() - 1.0);
  return build(
      n, [&](int, int m) { return generator.normal() + offsets[static_cast<std::size_t>(m)]; });
}

Problem rounded_to_float(const Problem& problem) {
  Problem rounded = problem;
  for (double& score : rounded.scores) score = static_cast<double>(static_cast<float>(score));
  return rounded;
}

}  // namespace taproot::oracle
