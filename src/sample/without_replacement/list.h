// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/random.h"
#include "sample/conditionals/conditionals.h"

namespace taproot::detail {

/// Sampling without replacement as of Zmigrod et al. (2021): at every word, the probabilities of
/// the listed trees that share the prefix are subtracted from the masses of its heads. The k-th
/// tree costs O(n^3 + k n). Here as the baseline of the literature: what is left is a difference,
/// so the tail is lost when little is left, and then it says so.
class List {
 public:
  /// O(n^3). `conditionals`, of `data`, is read later on.
  void build(const Conditionals& conditionals, const FactorData& data, Scratch& scratch);

  /// Whether all trees are drawn.
  bool complete() const { return static_cast<double>(p_.size()) >= trees_ - 0.5; }

  /// log of the mass not drawn; -inf if less than 1e-8 is left, which is all rounding.
  double log_left() const;

  /// False when less than that is left, or nothing is where something should be. Not if complete().
  bool sample(Stream& stream, Scratch& scratch, std::int32_t* heads);

  /// The tree just drawn has this probability.
  void add(double p);

 private:
  template <typename T>
  bool draw_over(Stream& stream, Scratch& scratch);

  const Conditionals* conditionals_ = nullptr;
  double trees_ = 0;                 // How many there are.
  std::vector<std::int32_t> heads_;  // [listed][n+1], by node; the root's choice at 0.
  std::vector<double> p_;
  std::vector<std::size_t> active_;
  Buffer<double> mass_;
};

}  // namespace taproot::detail
