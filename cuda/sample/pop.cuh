// SPDX-License-Identifier: Apache-2.0
//
// Trees by popping cycles on the stacks of src/sample/walk/stacks.h, one lane of a warp per tree.
// Drawing the first heads is the same work for every tree, and the whole warp does it for a few
// trees at a time. But how often words are popped differs widely. So no lane waits for the trees of
// the other lanes: it follows heads until it needs one that was not drawn or until its tree is
// finished, and the warp serves the lanes that wait once there are enough of them. The order in
// which heads are drawn does not matter to the tree.
#pragma once

#include "cuda/core/heads.cuh"
#include "cuda/core/warp.cuh"
#include "cuda/sample/cells.cuh"
#include "cuda/sample/sample.h"
#include "cuda/sample/stack_heads.cuh"
#include "cuda/sample/words.cuh"

namespace taproot::cuda {

inline constexpr int kMostPopWarps = 16;     ///< Per block.
inline constexpr int kMostLanesPerTree = 8;  ///< That draw its first heads; a power of two.

/// A lane's tree. The path from word s has the color s, shifted as cells have it, and has come to
/// `node`. A lane that is done has the color of `stop` and stays at that node.
struct LaneTree {
  int sample = -1;  ///< Of those that are asked for; -1: none.
  int root = 0;
  std::uint32_t color = 0;
  std::uint32_t node = 0;
  int draws = 0;          ///< One by one, after the first heads.
  bool is_stuck = false;  ///< Whether the top of `node` has to be drawn.
  bool is_given_up = false;
};

/// A warp at work. `Cell` is the layout of cells, `Cells` their memory, and `Heads` draws.
template <typename Cell, typename Cells, typename Heads>
class PoppingWarp {
 public:
  __device__ PoppingWarp(const SampleArgs& args, int b, const Heads& heads, Cells cells,
                         int end_sample, int* next_sample, std::uint8_t* replaced)
      : args_(args),
        b_(b),
        heads_(heads),
        stride_(cell_stride(args.batch.max_n)),
        cells_(cells),
        own_(cells + lane_id() * stride_),
        end_sample_(end_sample),
        next_sample_(next_sample),
        replaced_(replaced),
        stop_(static_cast<std::uint32_t>(heads.n) + 1),
        below_(Cell::below(stop_)),
        most_pops_(static_cast<int>(detail::most_steps(heads.n)) - heads.n +
                   (heads.single ? 1 : 0)) {
    asm volatile("" : "+r"(below_));  // It is not found anew for every pop.
    if (heads.n / 4 >= lanes_per_tree_) lanes_per_tree_ = kMostLanesPerTree;
    take({}, stop_);
  }

  /// Pops until the block has no more trees.
  __device__ void run() {
    // As measured; numbers half or twice as large are up to 8 percent slower.
    constexpr int kVisits = 4;
    constexpr int kManyWait = 12;
    constexpr int kFewWork = 8;
    unsigned idle = 0;
    while (idle != kAllLanes) {
      const bool is_done = tree_.color == stop_ << Cell::kColorShift;
      const unsigned done = __ballot_sync(kAllLanes, is_done) & ~idle;
      const unsigned waiting = __ballot_sync(kAllLanes, tree_.is_stuck && !is_done);
      const int waits = __popc(waiting);
      const int work = kWarp - waits - __popc(done | idle);
      if (__popc(done) * lanes_per_tree_ >= kWarp ||
          (done != 0 && work == 0 && waits < kManyWait)) {
        idle |= replace(done);
      } else if (waits >= kManyWait || work == 0 || (work < kFewWork && waits > work)) {
        if ((waiting >> lane_id() & 1) != 0) draw_top();
      } else {
#pragma unroll
        for (int i = 0; i < kVisits; ++i) visit();
        if (work >= kFewWork) {  // Few lanes may soon be none.
#pragma unroll
          for (int i = 0; i < kVisits; ++i) visit();
        }
      }
      __syncwarp();
    }
  }

 private:
  static constexpr std::uint32_t kOneColor = std::uint32_t{1} << Cell::kColorShift;

  /// Visits a node, without a branch. A path that reaches a node of its own color has closed a
  /// cycle; the lane then goes around it once more and pops its words, which are fresh again.
  __device__ void visit() {
    const std::uint32_t cell = own_[tree_.node];
    const std::uint32_t top = cell & Cell::kTop;
    const bool in_tree = cell < tree_.color;
    const bool is_fresh = cell >= Cell::kFresh;
    tree_.is_stuck = is_fresh && top == stop_;
    const bool goes_on = !in_tree && !tree_.is_stuck;
    std::uint32_t next = is_fresh ? cell ^ Cell::kFresh ^ tree_.color : Cell::popped(cell, below_);
    asm volatile("" : "+r"(next));  // Else it would depend on a further comparison.
    if (goes_on) own_.store(tree_.node, next);
    if (in_tree) tree_.color += kOneColor;  // Here the path of the next word begins.
    if (in_tree) tree_.node = tree_.color >> Cell::kColorShift;
    if (goes_on) tree_.node = top;
  }

  /// Draws the head that this lane waits for, or gives its tree up.
  __device__ void draw_top() {
    tree_.is_stuck = false;
    const int drawn = Cell::drawn(own_[tree_.node], stop_);
    // Every draw follows a pop.
    if (drawn >= detail::kHeadsPerWord || tree_.draws >= most_pops_) {
      tree_.is_given_up = true;
      tree_.color = stop_ << Cell::kColorShift;
      return;
    }
    ++tree_.draws;
    const auto head = static_cast<std::uint32_t>(
        heads_.draw(static_cast<std::uint32_t>(tree_.sample), static_cast<int>(tree_.node), drawn));
    own_.store(tree_.node, Cell::later(head, stop_, drawn + 1) | tree_.color);
    tree_.node = head;
  }

  /// Whether this lane's finished tree has taken more heads than the budget allows.
  __device__ bool is_over_budget() const {
    const int ahead = Cell::kDrawnAhead - 1;  // A word's pops without a draw.
    if (tree_.draws + ahead * heads_.n <= most_pops_) return false;
    int pops = 0;
    for (int m = 1; m <= heads_.n; ++m) {
      if (m != tree_.root) pops += Cell::used(own_[static_cast<std::uint32_t>(m)], stop_) - 1;
    }
    return pops > most_pops_;
  }

  __device__ void take(const LaneTree& tree, std::uint32_t start) {
    tree_ = tree;
    tree_.node = start;
    tree_.color = start << Cell::kColorShift;
    own_.store(0, 0);
    own_.store(static_cast<std::uint32_t>(tree.root), 0);
    own_.store(stop_, Cell::kFresh + stop_);
  }

  /// Writes the finished trees of the lanes in `done`, as many as are drawn at once, and gives
  /// these lanes the next trees, by the whole warp. Returns the lanes for which there are none.
  __device__ unsigned replace(unsigned done) {
    const int lane = lane_id();
    const int count = min(__popc(done), kWarp / lanes_per_tree_);
    const int rank = __popc(done & ((1u << lane) - 1));
    const bool is_replaced = (done >> lane & 1) != 0 && rank < count;
    if (is_replaced) {
      replaced_[rank] = static_cast<std::uint8_t>(lane);
      if (tree_.sample >= 0 && !tree_.is_given_up) tree_.is_given_up = is_over_budget();
      if (tree_.is_given_up) list();
    }
    int next = 0;
    if (lane == 0) next = atomicAdd(next_sample_, count);
    next = __shfl_sync(kAllLanes, next, 0);
    __syncwarp();
    // This lane writes and draws a part of the tree of lane `whose`.
    const int place = lane / lanes_per_tree_;
    const int whose = place < count ? replaced_[place] : 0;
    const int sample = __shfl_sync(kAllLanes, tree_.sample, whose);
    const int given_up = __shfl_sync(kAllLanes, tree_.is_given_up ? 1 : 0, whose);
    const Cells cells = cells_ + whose * stride_;
    if (place < count && sample >= 0) write(cells, sample, given_up != 0);
    __syncwarp();
    const bool has_tree = place < count && next + place < end_sample_;
    const int drawn = draw_first(cells, next + place, has_tree);
    const int root =
        __shfl_sync(kAllLanes, drawn, rank % (kWarp / lanes_per_tree_) * lanes_per_tree_);
    const bool is_left = is_replaced && next + rank >= end_sample_;
    if (is_replaced) take({is_left ? -1 : next + rank, root}, is_left ? stop_ : 1);
    return __ballot_sync(kAllLanes, is_left);
  }

  /// Leaves this lane's tree to fallback_kernel.
  __device__ void list() const {
    atomicAdd(args_.given_up + b_, 1);
    const int at = atomicAdd(args_.list_size, 1);
    args_.list[at] = static_cast<std::int64_t>(b_) * args_.trees + tree_.sample;
    args_.list_root[at] = tree_.root;
  }

  __device__ void write(Cells cells, int sample, bool given_up) const {
    const TreeHeads out(args_.out, b_, sample);
    const int of_tree = lane_id() % lanes_per_tree_;
    for (int i = of_tree; i < args_.batch.max_n; i += lanes_per_tree_) {
      const bool is_word = i < heads_.n;
      if (is_word && given_up) continue;
      out.set(i, is_word ? static_cast<int>(cells[static_cast<std::uint32_t>(i) + 1] & Cell::kTop)
                         : -1);
    }
  }

  /// Draws the first heads of a tree, four words per lane. Its first lane returns the root.
  __device__ int draw_first(Cells cells, int tree, bool has_tree) const {
    constexpr int kAhead = Cell::kDrawnAhead;
    const auto sample = static_cast<std::uint32_t>(tree);
    const int of_tree = lane_id() % lanes_per_tree_;
    int root = 0;
    for (int first = 0; first <= heads_.n / 4; first += lanes_per_tree_) {
      const int group = min(first + of_tree, heads_.n / 4);  // Some lanes may be too many.
      detail::StackBlock blocks[kAhead];
      int drawn[kAhead][4];
      heads_.blocks(sample, group, 0, blocks);
#pragma unroll
      for (int d = 0; d < kAhead; ++d) heads_.of_group(blocks[d], sample, group, d, drawn[d]);
      if (first == 0 && of_tree == 0) root = heads_.root(blocks[0], sample);
      std::uint32_t words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        std::uint32_t heads[kAhead];
#pragma unroll
        for (int d = 0; d < kAhead; ++d) heads[d] = static_cast<std::uint32_t>(drawn[d][j]);
        words[j] = Cell::first(heads) + Cell::kFresh;
      }
      if (has_tree && group == first + of_tree) {
        cells.store(static_cast<std::uint32_t>(4 * group), words);
      }
    }
    __syncwarp();
    return root;
  }

  const SampleArgs& args_;
  int b_;
  Heads heads_;
  int stride_;
  Cells cells_;  ///< [lane][stride]
  Cells own_;
  int end_sample_;          ///< Where the samples of the block end.
  int* next_sample_;        ///< In shared memory.
  std::uint8_t* replaced_;  ///< [kWarp], likewise: the lanes whose trees are being replaced.
  std::uint32_t stop_;      ///< n + 1
  std::uint32_t below_;     ///< What a pop fills a cell with.
  int most_pops_;
  int lanes_per_tree_ = 4;  ///< That draw its first heads.
  LaneTree tree_;
};

/// Block x of a sentence has the x-th part of its trees. A multiprocessor has registers for kBlocks
/// blocks of kWarps warps.
template <typename Cell, bool kTableShared, bool kCellsShared, int kWarps, int kBlocks>
__global__ void __launch_bounds__(kWarps* kWarp, kBlocks)
    pop_kernel(const __grid_constant__ SampleArgs args) {
  using Cells = std::conditional_t<kCellsShared, SharedWords, GlobalWords>;
  using Heads = StackHeads < std::conditional_t<kTableShared, SharedWords, const std::uint32_t*>,
        Cell::kMostWords<detail::kMostPacked>;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ __align__(16) std::uint32_t round_keys[RoundKeys::kWords];
  __shared__ int next_sample;
  __shared__ std::uint8_t replaced[kWarps][kWarp];
  const int b = static_cast<int>(blockIdx.y);
  const int n = args.batch.n(b);
  const int tid = static_cast<int>(threadIdx.x);
  const auto share = [&](unsigned x) {
    return static_cast<int>(static_cast<std::int64_t>(args.trees) * x / gridDim.x);
  };
  const int first = share(blockIdx.x);
  const int end = share(blockIdx.x + 1);
  if (args.summary.outcomes[b].status != kOk) {
    for (int s = first + warp_id(); s < end; s += warp_count()) {
      const TreeHeads out(args.out, b, s);
      for (int i = lane_id(); i < args.batch.max_n; i += kWarp) out.set(i, -1);
    }
    return;
  }
  const detail::StreamKey key = detail::stream_key(args.seed, args.batch.id(b));
  if (tid < RoundKeys::kWords) round_keys[tid] = RoundKeys::key_of(key, tid);
  if (tid == 0) next_sample = first;
  const std::uint32_t* planes = args.planes_of(b);
  auto* near = reinterpret_cast<std::uint32_t*>(memory);
  for (int i = tid; kTableShared && i < (n + 1) * (n + 1); i += static_cast<int>(blockDim.x)) {
    near[i] = planes[i];
  }
  __syncthreads();
  const int warp_words = kWarp * cell_stride(args.batch.max_n);
  std::uint32_t* cells = near + (kTableShared ? table_words(args.batch.max_n) : 0);
  if (!kCellsShared) {
    cells = reinterpret_cast<std::uint32_t*>(args.scratch) +
            (std::int64_t{b} * gridDim.x + blockIdx.x) * warp_count() * warp_words;
  }
  const auto table = [&] {
    if constexpr (kTableShared) {
      return SharedWords(near);
    } else {
      return planes;
    }
  };
  const RoundKeys keys(SharedWords(round_keys), key.word);
  const Heads heads{n, args.batch.single(), args.first_tree, key, keys, table(), planes};
  PoppingWarp<Cell, Cells, Heads>(args, b, heads, Cells(cells + warp_id() * warp_words), end,
                                  &next_sample, replaced[warp_id()])
      .run();
}

}  // namespace taproot::cuda
