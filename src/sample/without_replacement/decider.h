// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/random.h"
#include "eliminate/factor_data.h"
#include "sample/without_replacement/tree_set.h"
#include "taproot/without_replacement.h"

namespace taproot::detail {

/// Makes trees choice by choice from conditional laws, by a trie or a beam, in double or, where
/// that has not the range, over Wide. There is one for each family of trees.
class Decider {
 public:
  virtual ~Decider() = default;

  /// Prepares the laws. `data` must be of the family and outlive this object.
  virtual void build(const FactorData& data, Scratch& scratch) = 0;

  /// Starts a trie with the trees that have been sampled.
  virtual void start_trie(const TreeSet& sampled, std::size_t memory_limit, Scratch& scratch) = 0;
  /// log of the mass of the trees that are not in the trie, -inf only if there are none. `sampled`
  /// has the trees that are in it.
  virtual double log_left(const TreeSet& sampled, Scratch& scratch) = 0;
  /// Samples a tree that is not in the trie, and inserts it. log_left() must not be -inf.
  virtual void sample(Stream& stream, Scratch& scratch, std::int32_t* heads) = 0;
  /// Bytes that the trie takes.
  virtual std::size_t trie_bytes() const = 0;

  /// Stochastic beam search: heads, gumbel, kappa, exhausted and memory of `out`.
  virtual void sample_beam(std::size_t k, const StreamKey& key, WithoutReplacementSample& out,
                           Scratch& scratch) = 0;
};

std::unique_ptr<Decider> make_decider(TreeFamily family);

}  // namespace taproot::detail
