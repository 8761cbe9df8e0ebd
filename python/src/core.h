// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "arrays.h"
#include "distribution.h"

namespace taproot::python {

/// A Distribution and the arrays that it reads.
struct Core {
  Floats scores;
  std::optional<Floats> label_scores;
  Distribution distribution;
};

}  // namespace taproot::python
