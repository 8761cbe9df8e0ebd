// SPDX-License-Identifier: Apache-2.0
//
// Asking for a device: builds with and without CUDA.
#include <gtest/gtest.h>

#include "taproot/cuda.h"

namespace taproot {
namespace {

TEST(DeviceNames, ThereAndBack) {
  for (const Device device : {Device::kCpu, Device::kCuda}) {
    EXPECT_EQ(device_named(to_string(device)), device);
  }
  EXPECT_THROW(device_named("tpu"), std::invalid_argument);
}

TEST(DeviceNames, NoDeviceIsAnError) {
  if (cuda_available()) GTEST_SKIP() << "there is one: " << cuda_description();
  EXPECT_FALSE(cuda_description().empty());
  EXPECT_THROW(Cuda(), std::runtime_error);
}

}  // namespace
}  // namespace taproot
