// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as scores, every query, and what must hold of the answers whatever
// the scores are. Knows nothing of how the answers are found.
//
// Input: byte 0 is n, byte 1 the root rule and the scalar type, then one byte a cell that says
// whether its score is a raw bit pattern taken from the bytes that follow or one of the values that
// break things. Missing bytes read as zero.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "taproot/taproot.h"

namespace taproot {
namespace {

constexpr int kMaxWords = 12;

void check(bool condition) {
  if (!condition) __builtin_trap();
}

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  template <typename Bits>
  Bits take() {
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(Bits); ++i) bits = static_cast<Bits>(bits << 8 | next());
    return bits;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

template <typename Real>
Real raw(Bytes& bytes);
template <>
float raw(Bytes& bytes) {
  return std::bit_cast<float>(bytes.take<std::uint32_t>());
}
template <>
double raw(Bytes& bytes) {
  return std::bit_cast<double>(bytes.take<std::uint64_t>());
}

template <typename Real>
Real next_score(Bytes& bytes) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  const std::uint8_t kind = bytes.next();
  switch (kind) {
    case 0:
      return -kInfinity;
    case 1:
      return static_cast<Real>(-1e9);
    case 2:
      return Real{0};
    case 3:
      return static_cast<Real>(9.9e14);
    case 4:
      return static_cast<Real>(-9.9e14);
    case 5:
      return static_cast<Real>(-1e4);
    case 6:
      return static_cast<Real>(1e15);
    case 7:
      return static_cast<Real>(-1e15);
    case 8:
      return std::numeric_limits<Real>::quiet_NaN();
    case 9:
      return kInfinity;
    default:
      break;
  }
  // The rest of the byte's values: small numbers, wide ones, and anything at all.
  const auto byte = static_cast<Real>(static_cast<std::int8_t>(bytes.next()));
  if (kind < 96) return byte / Real{16};
  if (kind < 160) return byte * Real{8};
  if (kind < 192) return byte * static_cast<Real>(1e3);
  if (kind < 208) return byte * static_cast<Real>(7e12);
  const Real any = raw<Real>(bytes);
  // Raw patterns are mostly far out of range; some are brought back, so that not all is bad_score.
  return kind < 232 && std::isfinite(any) ? std::fmod(any, static_cast<Real>(2000)) : any;
}

template <typename Real>
struct Sentence {
  int n;
  RootRule root;
  std::vector<Real> scores;

  double at(int h, int m) const {
    return static_cast<double>(scores[static_cast<std::size_t>(h * (n + 1) + m)]);
  }
  bool has_edge(int h, int m) const { return m != 0 && h != m && at(h, m) != -HUGE_VAL; }
  bool is_bad(int h, int m) const {
    return m != 0 && h != m && at(h, m) != -HUGE_VAL && !(std::abs(at(h, m)) <= 1e15);
  }
};

// Grows a tree below `top` (ROOT itself if 0), always by the best edge there is. Empty if it cannot
// reach every word.
template <typename Real>
Tree grow(const Sentence<Real>& sentence, int top) {
  const int n = sentence.n;
  Tree heads(static_cast<std::size_t>(n), -1);
  std::vector<bool> in(static_cast<std::size_t>(n) + 1, false);
  in[static_cast<std::size_t>(top)] = true;
  if (top != 0) heads[static_cast<std::size_t>(top - 1)] = 0;
  for (int missing = top == 0 ? n : n - 1; missing > 0; --missing) {
    int head = -1;
    int modifier = -1;
    for (int h = 0; h <= n; ++h) {
      if (!in[static_cast<std::size_t>(h)]) continue;
      for (int m = 1; m <= n; ++m) {
        if (in[static_cast<std::size_t>(m)] || !sentence.has_edge(h, m)) continue;
        if (head < 0 || sentence.at(h, m) > sentence.at(head, modifier)) {
          head = h;
          modifier = m;
        }
      }
    }
    if (head < 0) return {};
    in[static_cast<std::size_t>(modifier)] = true;
    heads[static_cast<std::size_t>(modifier - 1)] = head;
  }
  return heads;
}

template <typename Real>
Tree find_tree(const Sentence<Real>& sentence) {
  if (sentence.root == RootRule::kMulti) return grow(sentence, 0);
  for (int r = 1; r <= sentence.n; ++r) {
    if (!sentence.has_edge(0, r)) continue;
    Tree heads = grow(sentence, r);
    if (!heads.empty()) return heads;
  }
  return {};
}

// Whether `heads` is a tree of the sentence: n steps up lead from every word to ROOT.
template <typename Real>
bool allows(const Sentence<Real>& sentence, const Tree& heads) {
  int roots = 0;
  for (int m = 1; m <= sentence.n; ++m) {
    const int head = heads[static_cast<std::size_t>(m - 1)];
    if (!sentence.has_edge(head, m)) return false;
    roots += head == 0 ? 1 : 0;
    int node = m;
    for (int step = 0; step <= sentence.n && node != 0; ++step) {
      node = heads[static_cast<std::size_t>(node - 1)];
    }
    if (node != 0) return false;
  }
  return sentence.root == RootRule::kMulti || roots == 1;
}

template <typename Real>
void check_marginals(const Sentence<Real>& sentence, const Factorization& f) {
  const int n = sentence.n;
  const std::vector<double> p = marginals(f);
  const std::vector<double> roots = root_marginals(f);
  const auto at = [&](int h, int m) { return p[static_cast<std::size_t>(h * (n + 1) + m)]; };
  double root_sum = 0;
  for (int m = 0; m <= n; ++m) {
    double sum = 0;
    for (int h = 0; h <= n; ++h) {
      check(at(h, m) >= 0 && at(h, m) <= 1 + 1e-9);  // False for NaN.
      check(at(h, m) == 0 || sentence.has_edge(h, m));
      sum += at(h, m);
    }
    if (m == 0) continue;
    check(std::abs(sum - 1) <= 1e-9);
    const double root = roots[static_cast<std::size_t>(m - 1)];
    check(root >= 0 && root <= 1 + 1e-9);
    check(std::abs(root - at(0, m)) <= 1e-9);
    root_sum += root;
  }
  if (sentence.root == RootRule::kSingle) check(std::abs(root_sum - 1) <= 1e-9);
  const std::vector<double> ones(p.size(), 1.0);
  check(std::abs(expectation(f, ones) - n) <= 1e-9 * n);
}

template <typename Real>
void check_log_prob(const Sentence<Real>& sentence, const Factorization& f, const Tree& tree,
                    const Tree& heads) {
  // Scores of 1e15 are resolved to 0.1 each, and so is what they add up to.
  double size = 1;
  for (int h = 0; h <= sentence.n; ++h) {
    for (int m = 1; m <= sentence.n; ++m) {
      if (sentence.has_edge(h, m)) size = std::max(size, std::abs(sentence.at(h, m)));
    }
  }
  const double tolerance = 1e-12 * size * (sentence.n + 1);
  const double of_tree = log_prob(f, tree);
  check(std::isfinite(of_tree) && of_tree <= tolerance);
  const double of_heads = log_prob(f, heads);
  check(!std::isnan(of_heads) && of_heads <= tolerance);
  check((of_heads == -HUGE_VAL) == !allows(sentence, heads));
}

// A batch answers as the sentence does, twice, and samples trees that the sentence allows.
template <typename Real>
void check_batch(const Sentence<Real>& sentence, const Factorization& f) {
  static Pool pool(1);
  const ScoreView view(sentence.scores.data(), sentence.n);
  DependencyTrees d(pool, {view, view}, {.root = sentence.root});
  const std::size_t n = static_cast<std::size_t>(sentence.n);
  Tree heads(2 * n, -2);
  const std::vector<TreeOutput> out{{heads.data(), sentence.n}, {heads.data() + n, sentence.n}};
  for (const Outcome& outcome : d.sample(1, {}, out)) check(outcome == f.outcome());
  for (const std::size_t b : {std::size_t{0}, std::size_t{1}}) {
    const Tree tree(heads.begin() + static_cast<std::ptrdiff_t>(b * n),
                    heads.begin() + static_cast<std::ptrdiff_t>((b + 1) * n));
    check(f.outcome().ok() ? allows(sentence, tree) : tree == Tree(n, -1));
  }
  std::vector<double> log_z(2);
  d.log_partition(log_z);
  for (const double z : log_z) check(f.outcome().ok() ? z == log_partition(f) : std::isnan(z));
}

template <typename Real>
void run(Bytes& bytes, int n, RootRule root) {
  Sentence<Real> sentence{n, root, {}};
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  for (std::size_t c = 0; c < side * side; ++c) sentence.scores.push_back(next_score<Real>(bytes));
  const Factorization f = eliminate(ScoreView(sentence.scores.data(), n), root);
  check_batch(sentence, f);
  for (int h = 0; h <= n; ++h) {
    for (int m = 1; m <= n; ++m) {
      if (!sentence.is_bad(h, m)) continue;
      check(f.outcome() == Outcome{Status::kBadScore, h, m});  // The first one.
      return;
    }
  }
  const Tree tree = find_tree(sentence);
  check(f.outcome() == Outcome{tree.empty() ? Status::kNoTree : Status::kOk});
  if (tree.empty()) return;

  check(std::isfinite(log_partition(f)));
  check_marginals(sentence, f);
  Tree heads;
  for (int m = 1; m <= n; ++m) heads.push_back(bytes.next() % (n + 1));
  check_log_prob(sentence, f, tree, heads);
  check(entropy(f) >= 0);
  check(kl_divergence(f, f) == 0);
  check(!std::isnan(cross_entropy(f, f)));
  check(expected_tries(f) >= 1 - 1e-9);
  check(expected_steps(f) >= (root == RootRule::kSingle ? n - 1 : n) * (1 - 1e-9));
}

}  // namespace
}  // namespace taproot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  taproot::Bytes bytes(data, size);
  const int n = 1 + bytes.next() % taproot::kMaxWords;
  const std::uint8_t flags = bytes.next();
  const taproot::RootRule root =
      (flags & 1) != 0 ? taproot::RootRule::kMulti : taproot::RootRule::kSingle;
  if ((flags & 2) != 0) {
    taproot::run<float>(bytes, n, root);
  } else {
    taproot::run<double>(bytes, n, root);
  }
  return 0;
}
