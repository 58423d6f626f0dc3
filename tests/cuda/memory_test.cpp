// SPDX-License-Identifier: MIT
// tests/cuda/memory_test.cpp: device memory, streams, events and recorded calls; where there is no
// device, the errors.
#include "cuda/launch/memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "cuda/launch/timing.h"

namespace nrd::cuda {
namespace {

bool device_present() {
  Expected<std::vector<DeviceInfo>> devices = list_devices();
  return devices && !devices->empty();
}

#define NEEDS_DEVICE() \
  if (!device_present()) GTEST_SKIP() << "no CUDA device"

TEST(DeviceMemory, SaysWhyThereIsNone) {
  if (device_present()) GTEST_SKIP() << "there is a CUDA device";
  const Expected<DeviceMemory> memory = DeviceMemory::allocate(16, 0);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(memory.error().message().find("cuda"), std::string::npos) << memory.error().message();
  EXPECT_FALSE(OwnStream::create(0));
  EXPECT_FALSE(memory_left(0));
}

TEST(DeviceMemory, NothingIsNull) {
  const Expected<DeviceMemory> memory = DeviceMemory::allocate(0, 0);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->data(), nullptr);
}

TEST(DeviceMemory, RefusesAnUnknownDevice) {
  NEEDS_DEVICE();
  const Expected<DeviceMemory> memory = DeviceMemory::allocate(16, 999);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(memory.error().got, "cuda:999");
}

TEST(DeviceMemory, SaysWhatIsLeft) {
  NEEDS_DEVICE();
  const Expected<DeviceMemory> memory = DeviceMemory::allocate(size_t{1} << 50, 0);
  ASSERT_FALSE(memory);
  EXPECT_NE(memory.error().allowed.find("free of"), std::string::npos) << memory.error().message();
  EXPECT_TRUE(DeviceMemory::allocate(16, 0)) << "the failure must not stick";
}

TEST(DeviceMemory, GoesThereAndBack) {
  NEEDS_DEVICE();
  std::vector<int> there(1000), back(1000);
  for (int i = 0; i < 1000; i++) there[static_cast<size_t>(i)] = i * i;
  Expected<DeviceMemory> first = DeviceMemory::allocate(4000, 0);
  Expected<DeviceMemory> second = DeviceMemory::allocate(4000, 0);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first->data()) % 256, 0u);
  ASSERT_TRUE(copy_to_device(first->data(), there.data(), 4000));
  ASSERT_TRUE(copy_on_device(second->data(), first->data(), 4000));
  ASSERT_TRUE(fill_bytes(second->data(), 0xff, 4));
  ASSERT_TRUE(copy_to_host(back.data(), second->data(), 4000));
  EXPECT_EQ(back[0], -1);
  EXPECT_TRUE(std::equal(back.begin() + 1, back.end(), there.begin() + 1));
  const Expected<Device> where = device_of(first->data());
  ASSERT_TRUE(where);
  EXPECT_EQ(where->kind, DeviceKind::kCuda);
  EXPECT_EQ(device_of(there.data())->kind, DeviceKind::kCpu);
}

TEST(RecordedCalls, RunAgainAndAreTimed) {
  NEEDS_DEVICE();
  Expected<OwnStream> stream = OwnStream::create(0);
  Expected<DeviceMemory> memory = DeviceMemory::allocate(1 << 20, 0);
  Expected<Event> first = Event::create(), last = Event::create();
  ASSERT_TRUE(stream && memory && first && last);
  Expected<RecordedCalls> calls = RecordedCalls::record([&](Stream s) -> Expected<void> {
    for (int i = 0; i < 10; i++) NRD_TRY(fill_bytes(memory->data(), i, memory->bytes(), s));
    return {};
  });
  ASSERT_TRUE(calls) << calls.error().message();
  ASSERT_TRUE(first->record(stream->get()));
  ASSERT_TRUE(calls->launch(stream->get()));
  ASSERT_TRUE(last->record(stream->get()));
  ASSERT_TRUE(last->wait());
  EXPECT_GT(*microseconds_between(*first, *last), 0);
  unsigned char byte = 0;
  ASSERT_TRUE(copy_to_host(&byte, memory->data(), 1, stream->get()));
  EXPECT_EQ(byte, 9);
}

TEST(RecordedCalls, PassOnTheErrorInside) {
  NEEDS_DEVICE();
  const Expected<RecordedCalls> calls = RecordedCalls::record([](Stream) -> Expected<void> {
    return make_error({.code = ErrorCode::kUnsupported, .got = "inside"});
  });
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().got, "inside");
}

}  // namespace
}  // namespace nrd::cuda
