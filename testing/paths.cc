// SPDX-License-Identifier: Apache-2.0
#include "testing/paths.h"

namespace taproot::oracle {

std::string golden_file(const std::string& name) { return TAPROOT_GOLDEN "/" + name; }

}  // namespace taproot::oracle
