// SPDX-License-Identifier: Apache-2.0
//
// How the operators of taproot.torch give memory and say which trees there are.
#pragma once

#include <cstdint>

#include "taproot/types.h"

namespace taproot::python {

using Address = std::uintptr_t;

template <typename T = void>
T* at(Address address) {
  return reinterpret_cast<T*>(address);
}

/// The root rule and the family of trees in one number, as in _torch_operators.kind_of().
inline RootRule root_of(int kind) { return (kind & 1) != 0 ? RootRule::kMulti : RootRule::kSingle; }
inline TreeFamily family_of(int kind) {
  return (kind & 2) != 0 ? TreeFamily::kProjective : TreeFamily::kAll;
}

}  // namespace taproot::python
