// SPDX-License-Identifier: Apache-2.0
//
// Asking for a device: builds with and without CUDA.
#include <gtest/gtest.h>

#include <stdexcept>

#include "taproot/cuda.h"

namespace taproot {
namespace {

TEST(Device, NoDeviceIsAnError) {
  if (cuda_available()) GTEST_SKIP() << "there is one: " << cuda_description();
  EXPECT_FALSE(cuda_description().empty());
  EXPECT_THROW(Cuda(), std::runtime_error);
}

}  // namespace
}  // namespace taproot
