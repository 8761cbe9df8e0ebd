// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace taproot::detail {

/// A prefix of the beam with one more choice.
struct BeamCandidate {
  double gumbel;
  double log_p;  ///< Of its choice, given the prefix.
  std::int32_t state;
  std::int32_t choice;
  std::int32_t previous;  ///< The candidate that the same prefix took before, or -1.
};

/// The step back from a prefix to the one that it extends.
struct BeamLink {
  std::int32_t parent;
  std::int32_t choice;
};

}  // namespace taproot::detail
