// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cuda/sample/without_replacement/beam.h"

namespace taproot::cuda {

BeamArgs take_beam(Arena& arena, const Batch& batch, int trees, bool narrow) {
  constexpr int kMostSlots = 1056;
  const std::size_t size = batch.size;
  const auto nodes = static_cast<std::size_t>(batch.nodes());
  const std::size_t ld = (nodes + 3) / 4 * 4;
  const std::size_t states = size * (static_cast<std::size_t>(trees) + 1);
  const auto block = static_cast<std::size_t>(block_words(beam_chunk(batch.max_n)));
  const auto contraction = static_cast<std::size_t>(exact_scratch(batch.max_n));
  BeamArgs args{};
  ConditionalsArgs& c = args.c;
  c.batch = batch;
  c.ld = static_cast<int>(ld);
  c.scaled = arena.take<double>(size * nodes * nodes);
  c.weights = arena.take<double>(size * nodes * ld);
  c.by_head = arena.take<double>(size * nodes * ld);
  if (narrow) {
    c.narrow_by_head = arena.take<float>(size * nodes * ld);
  } else {
    c.gradient = arena.take<double>(size * nodes * ld);
  }
  for (double** vector : {&c.sums, &c.tree_sum, &c.top, &c.visits, &c.roots, &c.scale}) {
    *vector = arena.take<double>(size * ld);
  }
  c.word = arena.take<std::int32_t>(size * ld);
  c.facts = arena.take<double>(size * kFacts);
  args.narrow = narrow;
  args.keys = arena.take<detail::StreamKey>(size);
  args.width = trees + 1;
  args.trees = trees;
  for (int i = 0; i < 2; ++i) {
    args.gumbel[i] = arena.take<double>(states);
    args.log_p[i] = arena.take<double>(states);
    args.visits[i] = arena.take<double>(states);
    args.amplification[i] = arena.take<double>(states);
    args.sink[i] = arena.take<std::int32_t>(states);
    args.anchor[i] = arena.take<std::int32_t>(states);
    args.leads[i] = arena.take<std::uint16_t>(states * ld);
    args.path[i] = arena.take<Step>(states * nodes);
    args.steps[i] = arena.take<Step>(states * block);
  }
  if (!narrow) {
    args.rows = arena.take<double>(nodes * states * ld);
    args.partial = arena.take<double>(states * block * ld);
  }
  args.child_head = arena.take<std::int32_t>(states * nodes);
  args.last = arena.take<double>(states);
  args.bound = arena.take<double>(states);
  args.list_gumbel = arena.take<double>(states * nodes);
  args.list_log_p = arena.take<double>(states * nodes);
  args.list_state = arena.take<std::int32_t>(states * nodes);
  args.list_head = arena.take<std::int32_t>(states * nodes);
  args.list_size = arena.take<std::int32_t>(size);
  args.selected = arena.take<std::int32_t>(states + size);  // One more for each sentence.
  for (std::int32_t** vector : {&args.parent, &args.head, &args.child_count}) {
    *vector = arena.take<std::int32_t>(states);
  }
  args.states = arena.take<std::int32_t>(size);
  args.exact = arena.take<std::int32_t>(size);
  args.bar = arena.take<double>(size);
  args.slots = std::min(kMostSlots, beam_blocks(args) * static_cast<int>(size));
  args.scratch = arena.take<double>(static_cast<std::size_t>(args.slots) * contraction);
  args.locks = arena.take<std::int32_t>(static_cast<std::size_t>(args.slots));
  args.select_scratch = arena.take<double>(size * kSelectWarps * contraction);
  return args;
}

CudaWithoutReplacement slice(const CudaWithoutReplacement& out, std::size_t begin,
                             std::size_t trees) {
  CudaWithoutReplacement piece = out;
  piece.trees.heads += static_cast<std::ptrdiff_t>(begin) * out.trees.sentence_stride;
  for (double** values : {&piece.log_prob, &piece.gumbel, &piece.weight}) {
    if (*values != nullptr) *values += begin * trees;
  }
  piece.kappa += begin;
  piece.count += begin;
  return piece;
}

}  // namespace taproot::cuda
