// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "arrays.h"
#include "distribution.h"

namespace taproot::python {

/// A Distribution and the arrays that it reads.
struct Core {
  Floats scores;
  std::optional<Floats> label_scores;
  std::unique_ptr<Distribution> kept;  // Made without the GIL.
  Distribution& distribution = *kept;
};

}  // namespace taproot::python
