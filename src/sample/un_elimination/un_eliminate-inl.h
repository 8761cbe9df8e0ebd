// SPDX-License-Identifier: Apache-2.0
//
// Sampling by un-elimination, over any scalar and any way of choosing. Included once per target;
// see core/simd-inl.h for the guard.
//
// Words return in the opposite order of elimination, and a tree over the words that have returned
// is kept. An edge h -> m of this tree, made when the words up to k are there, has the weight
//     A0[h][m] + sum over words l not yet back of A[l][m] A[h][l] / pivot_l.
// One of these terms is sampled for it: the edge itself, or a path through l, its break word.
// When k returns, the edges that break at k are cut. k takes a head h among the nodes that are
// still connected to ROOT, by A[h][k], and becomes the head of the pieces that were cut off.
// docs/math.md proves that this samples a tree by its weight.
#if defined(TAPROOT_SAMPLE_UN_ELIMINATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_UN_ELIMINATE_INL_H_
#undef TAPROOT_SAMPLE_UN_ELIMINATE_INL_H_
#else
#define TAPROOT_SAMPLE_UN_ELIMINATE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "core/host_device.h"
#include "sample/un_elimination/elimination_tables.h"
#if defined(__CUDACC__)  // A device has one target and does not use Highway.
#define HWY_BEFORE_NAMESPACE() static_assert(true)
#define HWY_AFTER_NAMESPACE() static_assert(true)
#define HWY_NAMESPACE device
#else
#include "core/simd-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Chooser:
//   int pick_head(const EliminationTables<T>& t, int k, int begin)
//       a head in [begin, k), with probability t.into(k)[h] / t.pivot(k)
//   int pick(const T* weights, int begin, int end, const T& total)
//       an index in [begin, end), with probability weights[i] / total, total their sum
//   int pick_term(const T& direct, const T* a, const T* b, int begin, int end, const T& total)
//       -1 with probability direct / total, l in [begin, end) with probability a[l] b[l] / total
template <typename T, typename Chooser>
class UnElimination {
 public:
  TAPROOT_HOST_DEVICE UnElimination(const EliminationTables<T>& tables, const RootColumn<T>& root,
                                    Chooser& chooser, UnEliminationScratch<T>& scratch)
      : t_(tables), root_(root), chooser_(chooser), s_(scratch) {}

  // Leaves the heads by position in scratch.head.
  TAPROOT_HOST_DEVICE void run() {
    const int n = t_.n;
    std::fill(s_.first_broken + 1, s_.first_broken + n + 1, 0);
    // ROOT is its own head, and so is node n+1, to which cut edges lead. A walk up the tree may
    // take steps beyond its end and stay there.
    s_.head[0] = 0;
    s_.head[n + 1] = n + 1;
    s_.head[1] = 0;
    std::fill(s_.children, s_.children + n + 2, 0);
    root_word_ = 1;
    choose_break(0, 1, 1, root_.into[1]);
    for (int k = 2; k <= n; ++k) bring_back(k);
  }

 private:
  TAPROOT_HOST_DEVICE bool single() const { return t_.root == RootRule::kSingle; }

  TAPROOT_HOST_DEVICE void bring_back(int k) {
    cut_leaves_only_ = true;
    for (int m = s_.first_broken[k]; m != 0; m = s_.next_broken[m]) {
      --s_.children[s_.head[m]];
      s_.head[m] = t_.n + 1;
      cut_leaves_only_ &= s_.children[m] == 0;
    }
    const int head = choose_head(k);
    s_.head[k] = head;
    ++s_.children[head];
    if (single() && head == 0) root_word_ = k;
    choose_break(head, k, k, head == 0 ? root_.into[k] : t_.into(k)[head]);
    for (int m = s_.first_broken[k]; m != 0;) {
      const int next = s_.next_broken[m];  // choose_break moves m to another list.
      s_.head[m] = k;
      ++s_.children[k];
      choose_break(k, m, k, t_.into(m)[k]);
      m = next;
    }
  }

  TAPROOT_HOST_DEVICE int choose_head(int k) {
    const int begin = single() ? 1 : 0;
    if (single() && s_.head[root_word_] != 0) return 0;  // Only ROOT itself is still connected.
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const int head = chooser_.pick_head(t_, k, begin);
      if (s_.first_broken[k] == 0 || is_connected(head)) return head;
    }
    // All attempts were rejected. Sample from the connected nodes alone, which takes a bounded time
    // however unlikely they are.
    mark_connected(k);
    T total = T(0);
    for (int h = begin; h < k; ++h) {
      s_.weight[h] = s_.mark[h] == kConnected ? t_.into(k)[h] : T(0);
      total += s_.weight[h];
    }
    return chooser_.pick(s_.weight, begin, k, total);
  }

  // Marks whether the nodes below k are connected to ROOT. Each walk up the tree stops at a node
  // that is already marked, so every node is visited once.
  TAPROOT_HOST_DEVICE void mark_connected(int k) {
    // Devices cannot take the address of kUnknown, so this passes a copy.
    std::fill(s_.mark, s_.mark + k, std::uint8_t{kUnknown});
    s_.mark[0] = kConnected;
    s_.mark[t_.n + 1] = kCutOff;
    for (int start = 1; start < k; ++start) {
      int node = start;
      while (s_.mark[node] == kUnknown) node = s_.head[node];
      const std::uint8_t found = s_.mark[node];
      for (node = start; s_.mark[node] == kUnknown; node = s_.head[node]) s_.mark[node] = found;
    }
  }

  // Walks up several steps between tests, because a branch at every step would be unpredictable.
  TAPROOT_HOST_DEVICE bool is_connected(int node) const {
    const std::int32_t* head = s_.head;
    if (cut_leaves_only_) return head[node] != t_.n + 1;
    while (node != 0 && node != t_.n + 1) {
      for (int step = 0; step < 6; ++step) node = head[node];
    }
    return node == 0;
  }

  // Samples the term that the edge head -> modifier stands for: itself, or its break word. The edge
  // was made when the words up to k were there.
  TAPROOT_HOST_DEVICE void choose_break(int head, int modifier, int k, const T& total) {
    const T* share = head == 0 ? root_.share : t_.share_of(head);
    const T direct = head == 0 ? root_.direct[modifier] : t_.direct(head, modifier);
    const int word = chooser_.pick_term(direct, t_.into(modifier), share, k + 1, t_.n + 1, total);
    if (word < 0) return;
    s_.next_broken[modifier] = s_.first_broken[word];
    s_.first_broken[word] = modifier;
  }

  // A few attempts by rejection are cheaper on average than marking the connected nodes.
  static constexpr int kAttempts = 6;

  static constexpr std::uint8_t kUnknown = 0;
  static constexpr std::uint8_t kConnected = 1;
  static constexpr std::uint8_t kCutOff = 2;

  const EliminationTables<T>& t_;
  const RootColumn<T>& root_;
  Chooser& chooser_;
  UnEliminationScratch<T>& s_;
  int root_word_ = 1;
  bool cut_leaves_only_ = true;  // Whether all words whose edge was just cut have no modifiers.
};

// Chooses by a linear scan, for any scalar that converts from double.
template <typename T, typename Random>
class PlainChooser {
 public:
  TAPROOT_HOST_DEVICE explicit PlainChooser(Random& stream) : stream_(stream) {}

  TAPROOT_HOST_DEVICE int pick_head(const EliminationTables<T>& t, int k, int begin) {
    return pick(t.into(k), begin, k, t.pivot(k));
  }
  TAPROOT_HOST_DEVICE int pick(const T* weights, int begin, int end, const T& total) {
    const T target = T(stream_.uniform()) * total;
    return scan(target, T(0), begin, end, Plain{weights});
  }
  TAPROOT_HOST_DEVICE int pick_term(const T& direct, const T* a, const T* b, int begin, int end,
                                    const T& total) {
    const T target = T(stream_.uniform()) * total;
    if (target < direct) return -1;
    return scan(target, direct, begin, end, Product{a, b});
  }

 private:
  struct Plain {
    const T* weights;
    TAPROOT_HOST_DEVICE T operator()(int i) const { return weights[i]; }
  };
  struct Product {
    const T* a;
    const T* b;
    TAPROOT_HOST_DEVICE T operator()(int i) const { return a[i] * b[i]; }
  };

  template <typename Weight>
  TAPROOT_HOST_DEVICE static int scan(const T& target, T running, int begin, int end,
                                      const Weight& weight) {
    int last = -1;
    for (int i = begin; i < end; ++i) {
      const T w = weight(i);
      if (!(T(0) < w)) continue;
      last = i;
      running += w;
      if (target < running) break;
    }
    return last;
  }

  Random& stream_;
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SAMPLE_UN_ELIMINATE_INL_H_
