// SPDX-License-Identifier: Apache-2.0
#include "taproot/types.h"

#include <cstdio>

namespace taproot {

std::string_view to_string(RootRule root) { return root == RootRule::kSingle ? "single" : "multi"; }

std::string_view to_string(TreeFamily family) {
  return family == TreeFamily::kProjective ? "projective" : "all";
}

std::string_view to_string(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kNoTree:
      return "no_tree";
    case Status::kBadScore:
      return "bad_score";
    case Status::kEmpty:
      return "empty";
    case Status::kStepLimit:
      return "step_limit";
    case Status::kNumericalLoss:
      return "numerical_loss";
  }
  return "unknown";
}

SentenceError::SentenceError(const Outcome& outcome, std::size_t sentence)
    : std::runtime_error(describe(outcome, sentence)), outcome_(outcome) {}

SentenceError::~SentenceError() = default;

std::string describe(const Outcome& outcome, std::size_t sentence) {
  const std::string where = "sentence " + std::to_string(sentence) + ": ";
  switch (outcome.status) {
    case Status::kOk:
      return where + "ok";
    case Status::kNoTree:
      return where + "the allowed edges admit no tree under the root rule";
    case Status::kBadScore: {
      char limit[32];
      std::snprintf(limit, sizeof limit, "%g", kMaxScore);
      return where + "the score of head " + std::to_string(outcome.head) + " -> modifier " +
             std::to_string(outcome.modifier) + " is NaN, +inf or beyond " + limit +
             " in magnitude (forbid an edge with -inf)";
    }
    case Status::kEmpty:
      return where + "it has no words";
    case Status::kStepLimit:
      return where +
             "a random walk met its step limit (the samplers auto and elimination need none)";
    case Status::kNumericalLoss:
      return where + "the trees left are lost to rounding (auto, trie and beam lose none)";
  }
  return where + "unknown status";
}

}  // namespace taproot
