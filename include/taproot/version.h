// SPDX-License-Identifier: Apache-2.0
//
// The one place that says which version this is: CMake, the Python package and the command line
// read it from here. And what a bug report should say besides.
#pragma once

#include <string>

#include "taproot/types.h"

#define TAPROOT_VERSION_MAJOR 0
#define TAPROOT_VERSION_MINOR 2
#define TAPROOT_VERSION_PATCH 0
#define TAPROOT_VERSION "0.2.0"

namespace taproot {

/// The vector instructions that the library uses on this machine: "AVX-512", "AVX2", "SSE4",
/// "SSE2", "NEON", or "scalar" for none.
TAPROOT_API std::string instruction_set();

/// What the library was built with: "GCC 12.2.0, Highway 1.0.3, own threads".
TAPROOT_API std::string build_description();

}  // namespace taproot
