// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/random.h"
#include "sample/conditionals/conditionals.h"

namespace taproot::detail {

/// Sampling without replacement as in Zmigrod et al. (2021), for comparison with the literature. At
/// every word, the probabilities of the listed trees that share the prefix are subtracted from the
/// masses of the word's heads. The k-th tree costs O(n^3 + k n). Subtraction loses all digits when
/// little mass is left, and then sample() returns false.
class List {
 public:
  /// Starts with an empty list, in O(n^3). `conditionals` must belong to `data` and outlive this
  /// object.
  void build(const Conditionals& conditionals, const FactorData& data, Scratch& scratch);

  /// Whether all trees have been sampled.
  bool complete() const { return static_cast<double>(p_.size()) >= trees_ - 0.5; }

  /// The log of the mass of the trees that are not listed, or -inf if it is below 1e-8, where most
  /// of it is rounding error.
  double log_left() const;

  /// Samples a tree that is not listed. Returns false if log_left() is -inf, or if rounding has
  /// left no mass on the way to a tree. Must not be called if complete().
  bool sample(Stream& stream, Scratch& scratch, std::int32_t* heads);

  /// Lists the tree that was just sampled, with its probability.
  void add(double p);

 private:
  template <typename T>
  bool sample_over(Stream& stream, Scratch& scratch);

  const Conditionals* conditionals_ = nullptr;
  double trees_ = 0;                 // The number of trees that exist.
  std::vector<std::int32_t> heads_;  // [listed][n+1], by node, with the root at index 0.
  std::vector<double> p_;            // The probabilities of the listed trees.
  std::vector<std::size_t> active_;  // The listed trees that share the current prefix.
  Buffer<double> mass_;              // The masses of the heads of the current word.
};

}  // namespace taproot::detail
