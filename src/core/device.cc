// SPDX-License-Identifier: Apache-2.0
#include "taproot/cuda.h"

#include "core/check.h"

namespace taproot {

std::string_view to_string(Device device) { return device == Device::kCpu ? "cpu" : "cuda"; }

Device device_named(std::string_view name) {
  if (name == "cpu") return Device::kCpu;
  if (name == "cuda") return Device::kCuda;
  detail::misuse("device_named", "there is no device '" + std::string(name) + "': cpu or cuda");
}

}  // namespace taproot
