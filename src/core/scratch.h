// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "core/interrupt.h"

namespace taproot::detail {

/// The stages that keep scratch memory in a workspace.
enum class Stage : std::size_t {
  kProjective,
  kEliminate,
  kReverse,
  kLanes,
  kQuery,
  kSample,
  kDecode
};
inline constexpr std::size_t kStages = 7;

/// The base of every stage's scratch memory. A stage derives a struct of named buffers from it and
/// gives that struct a member `static constexpr Stage kStage`.
struct StageScratch {
  StageScratch() = default;
  StageScratch(const StageScratch&) = delete;
  StageScratch& operator=(const StageScratch&) = delete;
  virtual ~StageScratch() = default;
};

/// What a Workspace holds: the scratch memory of each stage. Stages do not see each other's memory
/// here, and an unused stage costs one null pointer.
struct Scratch {
  /// The scratch memory of the stage that T belongs to. It is created on first use and then kept.
  template <typename T>
  T& get() {
    std::unique_ptr<StageScratch>& stage = stages[static_cast<std::size_t>(T::kStage)];
    if (stage == nullptr) stage = std::make_unique<T>();
    return static_cast<T&>(*stage);
  }

  std::array<std::unique_ptr<StageScratch>, kStages> stages;
  /// Whom long work asks whether to go on; may be null.
  Interrupt* interrupt = nullptr;
};

}  // namespace taproot::detail
