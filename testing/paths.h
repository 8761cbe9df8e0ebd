// SPDX-License-Identifier: Apache-2.0
//
// Where known answers are. Only paths.cc has the folder of the checkout, so that all other tests
// are compiled to the same objects in every clone, and a compiler cache finds them.
#pragma once

#include <string>

namespace taproot::oracle {

/// The path of a file in tests/golden.
std::string golden_file(const std::string& name);

}  // namespace taproot::oracle
