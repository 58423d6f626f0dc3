// SPDX-License-Identifier: MIT
// src/api/device_workspaces.cpp
#include "api/device_workspaces.h"

#include <algorithm>

namespace nrd {
namespace {

// Pages of a device: what is less is rounded up by the driver anyway.
constexpr size_t kGranule = size_t{2} << 20;

size_t round_up(size_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

}  // namespace

DeviceWorkspaces::~DeviceWorkspaces() {
  for (const Owned& block : owned_) block.runtime->release(block.device, block.data);
}

Expected<DeviceWorkspaces::Block> DeviceWorkspaces::grow(DeviceRuntime& runtime,
                                                         const StreamKey& key, size_t bytes) {
  size_t wanted = round_up(bytes);
  {
    const std::lock_guard lock(mutex_);
    const size_t largest = streams_[key].largest;
    if (largest > 0 && largest < bytes) wanted = std::max(wanted, round_up(largest + largest / 2));
  }
  Expected<void*> memory = runtime.allocate(key.first, wanted);
  if (!memory && wanted > bytes) memory = runtime.allocate(key.first, wanted = bytes);
  if (!memory) return memory.error();
  const std::lock_guard lock(mutex_);
  owned_.push_back({&runtime, key.first, *memory});
  Stream& stream = streams_[key];
  stream.largest = std::max(stream.largest, wanted);
  // What is too small now would be found first for ever.
  std::erase_if(stream.idle, [&](const Block& block) { return block.bytes < bytes; });
  return Block{*memory, wanted};
}

Expected<void> DeviceWorkspaces::Lease::take(int device, void* stream, size_t bytes) {
  if (bytes == 0) return {};
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  Expected<uint64_t> number = (*runtime)->stream_number(device, stream);
  if (!number) return number.error();
  key_ = {device, *number};
  {
    const std::lock_guard lock(pool_.mutex_);
    std::vector<Block>& idle = pool_.streams_[key_].idle;
    const auto fits = std::find_if(idle.begin(), idle.end(),
                                   [&](const Block& block) { return block.bytes >= bytes; });
    if (fits != idle.end()) {
      block_ = *fits;
      idle.erase(fits);
      return {};
    }
  }
  Expected<Block> block = pool_.grow(**runtime, key_, bytes);
  if (!block) return block.error();
  block_ = *block;
  return {};
}

DeviceWorkspaces::Lease::~Lease() {
  if (!block_.data) return;
  const std::lock_guard lock(pool_.mutex_);
  pool_.streams_[key_].idle.push_back(block_);
}

}  // namespace nrd
