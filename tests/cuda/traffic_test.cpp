// SPDX-License-Identifier: MIT
// tests/cuda/traffic_test.cpp: the copy copies and the read reads everything once.
#include "cuda/launch/traffic.h"

#include <gtest/gtest.h>

#include <numeric>

#include "cuda/launch/tables.h"
#include "target.h"

namespace nrd::cuda {
namespace {

class Traffic : public TargetTest {
 protected:
  const TrafficKernels& kernels() const { return *target().target.kernels->traffic; }
};
NRD_ON_EVERY_TARGET(Traffic);

std::vector<unsigned char> some_bytes(size_t count) {
  std::vector<unsigned char> bytes(count);
  uint32_t state = 1;
  for (unsigned char& b : bytes)
    b = static_cast<unsigned char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

const TrafficConfig kConfigs[] = {{},
                                  {.vectors = 1, .threads = 64, .hint = TrafficHint::kOften},
                                  {.vectors = 8, .threads = 128, .hint = TrafficHint::kFirstOut},
                                  {.vectors = 2, .threads = 96, .blocks = 3}};

TEST_P(Traffic, CopyIsEqual) {
  for (size_t bytes : {0u, 1u, 16u, 17u, 4096u, 20000u, 65535u})
    for (const TrafficConfig& config : kConfigs) {
      const std::vector<unsigned char> data = some_bytes(bytes);
      const DeviceBuffer from = DeviceBuffer::of(target(), data);
      DeviceBuffer to(target(), bytes);
      ASSERT_EQ(kernels().copy(from.data(), to.data(), bytes, config, nullptr), cudaSuccess);
      ASSERT_TRUE(finish(target()));
      EXPECT_EQ(to.values<unsigned char>(), data) << bytes;
      EXPECT_TRUE(to.check_guards());
    }
}

TEST_P(Traffic, ReadSumsEveryWord) {
  for (size_t bytes : {0u, 3u, 16u, 4096u, 20000u, 65535u})
    for (const TrafficConfig& config : kConfigs) {
      const std::vector<unsigned char> data = some_bytes(bytes);
      const DeviceBuffer from = DeviceBuffer::of(target(), data);
      DeviceBuffer sums(target(), read_blocks(bytes, config) * sizeof(uint32_t));
      ASSERT_EQ(kernels().read(from.data(), bytes, sums.as<uint32_t>(), config, nullptr),
                cudaSuccess);
      ASSERT_TRUE(finish(target()));
      uint32_t expected = 0;
      for (size_t i = 0; i < bytes; i++) expected += uint32_t{data[i]} << (i % 4 * 8);
      const std::vector<uint32_t> got = sums.values<uint32_t>();
      EXPECT_EQ(std::accumulate(got.begin(), got.end(), uint32_t{0}), expected) << bytes;
      EXPECT_TRUE(sums.check_guards());
    }
}

TEST_P(Traffic, RefusesWhatCannotBe) {
  DeviceBuffer memory(target(), 64);
  for (const TrafficConfig& config :
       {TrafficConfig{.vectors = 3}, TrafficConfig{.threads = 48}, TrafficConfig{.threads = 2048}})
    EXPECT_NE(kernels().copy(memory.data(), memory.data(), 64, config, nullptr), cudaSuccess);
}

}  // namespace
}  // namespace nrd::cuda
