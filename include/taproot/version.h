// SPDX-License-Identifier: Apache-2.0
//
// The one place that says which version this is: CMake, the Python package and the command line
// read it from here.
#pragma once

#define TAPROOT_VERSION_MAJOR 0
#define TAPROOT_VERSION_MINOR 2
#define TAPROOT_VERSION_PATCH 0
#define TAPROOT_VERSION "0.2.0"
