// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of the library: root rules, outcomes of sentences, trees, and views of the memory
// that answers are written to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
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

/// Which trees a distribution is over. A tree is projective if for every edge all words between
/// head and modifier descend from the head; ROOT stands before the first word.
enum class TreeFamily : std::uint8_t { kAll, kProjective };

/// "all" or "projective".
TAPROOT_API std::string_view to_string(TreeFamily family);

/// What became of one sentence. The data decides it, so in a batch it is a value and never an
/// exception: a bad sentence does not harm the others.
enum class Status : std::uint8_t {
  kOk,         ///< The sentence was answered.
  kNoTree,     ///< The allowed edges admit no tree under the root rule.
  kBadScore,   ///< A score is NaN, +inf, or finite with a magnitude above kMaxScore.
  kEmpty,      ///< The sentence has no words.
  kStepLimit,  ///< A walk took more steps than it was allowed; see taproot/sample.h.
  /// The trees that are left are lost to rounding; see taproot/without_replacement.h.
  kNumericalLoss,
};

/// "ok", "no_tree", "bad_score", "empty", "step_limit" or "numerical_loss": the same words in C++,
/// on the command line and in Python.
TAPROOT_API std::string_view to_string(Status status);

/// Finite scores of a larger magnitude are bad_score, because beyond it neighboring doubles are
/// more than a tenth of a nat apart.
inline constexpr double kMaxScore = 1e15;

/// The status of a sentence; for bad_score also the first offending cell, in row-major order.
struct Outcome {
  Status status = Status::kOk;
  std::int32_t head = -1;
  std::int32_t modifier = -1;

  bool ok() const { return status == Status::kOk; }
  bool operator==(const Outcome&) const = default;
};

/// A sentence in plain English that names what is wrong and where.
/// `sentence` is the index in the batch.
TAPROOT_API std::string describe(const Outcome& outcome, std::size_t sentence);

/// Thrown where a single answer is asked for and the sentence has none. (A batch gives the outcome
/// of each sentence instead, and misuse throws std::invalid_argument.)
class TAPROOT_API SentenceError : public std::runtime_error {
 public:
  explicit SentenceError(const Outcome& outcome, std::size_t sentence = 0);
  ~SentenceError() override;
  SentenceError(const SentenceError&) = default;
  SentenceError& operator=(const SentenceError&) = default;

  const Outcome& outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

/// The 64-bit id of a sentence that a text names: XXH64 of its bytes, with seed 0. Samples are
/// keyed by ids, so this function is pinned like the format of the samples.
TAPROOT_API std::uint64_t sentence_id(std::string_view text);

/// A tree over words 1..n is the list of its heads: `heads[i - 1]` is the head of word i, 0 for
/// ROOT.
using Tree = std::vector<std::int32_t>;
using TreeView = std::span<const std::int32_t>;

/// A matrix [n+1][n+1] over edges that the caller owns: entry (h, m) is data[h * head_stride + m].
struct EdgeMatrix {
  double* data;
  std::ptrdiff_t head_stride;
};

/// The same, to be read.
struct ConstEdgeMatrix {
  const double* data;
  std::ptrdiff_t head_stride;
};

/// Trees of a sentence, to write or to read: the n heads or labels of tree s at data + s * stride.
struct TreeBuffer {
  std::int32_t* data;
  std::ptrdiff_t stride;
};

}  // namespace taproot
