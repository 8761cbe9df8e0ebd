// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of the library: root rules, per-sentence outcomes, trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#if defined(_WIN32)
#define TAPROOT_API
#else
#define TAPROOT_API __attribute__((visibility("default")))
#endif

namespace taproot {

/// How many edges may leave ROOT: exactly one (the rule of dependency treebanks), or at least one.
enum class RootRule : std::uint8_t { kSingle, kMulti };

/// "single" or "multi".
TAPROOT_API std::string_view to_string(RootRule root);

/// What became of one sentence. Data decides it, so it is a value and never an exception:
/// one bad sentence leaves the others of its batch unharmed.
enum class Status : std::uint8_t {
  kOk,         ///< answered
  kNoTree,     ///< the edges that are not forbidden admit no tree under the root rule
  kBadScore,   ///< a score is NaN, +inf, or finite beyond +-kMaxScore
  kEmpty,      ///< the sentence has no words
  kStepLimit,  ///< a walk took more steps than it was allowed; see taproot/sample.h
  /// what is left of the distribution is lost to rounding; see taproot/without_replacement.h
  kNumericalLoss,
};

/// "ok", "no_tree", "bad_score", "empty", "step_limit" or "numerical_loss": the same words in C++,
/// on the command line and in Python.
TAPROOT_API std::string_view to_string(Status status);

/// Finite scores beyond this magnitude are bad_score: there a double resolves no tenth of a nat.
inline constexpr double kMaxScore = 1e15;

/// A sentence's status; for bad_score also the first offending cell, in row-major order.
struct Outcome {
  Status status = Status::kOk;
  std::int32_t head = -1;
  std::int32_t modifier = -1;

  bool ok() const { return status == Status::kOk; }
  bool operator==(const Outcome&) const = default;
};

/// One sentence in plain English that names what is wrong, where, and what to do about it.
/// `sentence` is its index in the batch.
TAPROOT_API std::string describe(const Outcome& outcome, std::size_t sentence);

/// A tree over words 1..n is its heads: `heads[i - 1]` is the head of word i, 0 for ROOT.
using Tree = std::vector<std::int32_t>;
using TreeView = std::span<const std::int32_t>;

}  // namespace taproot
