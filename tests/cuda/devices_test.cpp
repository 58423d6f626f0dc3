// SPDX-License-Identifier: MIT
// tests/cuda/devices_test.cpp: the devices are found, or their absence is explained.
#include "cuda/devices.h"

#include <gtest/gtest.h>

#include "base/env.h"

namespace nrd::cuda {
namespace {

TEST(Devices, AreDescribed) {
  Expected<std::vector<DeviceInfo>> devices = list_devices();
  const bool none = !devices || devices->empty();
  if (none && env("NEREID_EXPECT_CUDA") != "1")
    GTEST_SKIP() << "no CUDA device: "
                 << (devices ? "the driver lists none" : devices.error().message());
  ASSERT_TRUE(devices) << devices.error().message();
  ASSERT_FALSE(devices->empty());
  for (const DeviceInfo& d : *devices) {
    EXPECT_FALSE(d.name.empty());
    EXPECT_GE(d.major, 8);
    EXPECT_GT(d.multiprocessors, 0);
    EXPECT_GT(d.memory_gib, 0);
  }
}

}  // namespace
}  // namespace nrd::cuda
