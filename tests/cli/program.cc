// SPDX-License-Identifier: Apache-2.0
#include "program.h"

namespace taproot::cli {

const char* const kProgram = TAPROOT_PROGRAM;
const char* const kDataFolder = TAPROOT_DATA;

}  // namespace taproot::cli
