// SPDX-License-Identifier: MIT
// src/api/device_workspaces.h: a context's workspaces on devices, by stream.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/locks.h"
#include "dispatch/device_runtime.h"

namespace nrd {

// Calls of one stream run one after the other, so that they may share a block; calls of two
// streams never do. A block is out of the pool while a call is enqueued: two threads that use one
// stream have two blocks, since the kernels of their calls may alternate there.
//
// Nothing is given back before the context goes: a kernel or a recorded graph may still be using
// it. A stream that asks for more gets half as much again as it had, so that what it no longer uses
// stays below twice of what it does.
class DeviceWorkspaces {
 public:
  DeviceWorkspaces() = default;
  ~DeviceWorkspaces();
  DeviceWorkspaces(const DeviceWorkspaces&) = delete;
  DeviceWorkspaces& operator=(const DeviceWorkspaces&) = delete;

 private:
  struct Block {
    void* data = nullptr;
    size_t bytes = 0;
  };
  using StreamKey = std::pair<int, uint64_t>;  // device, stream_number()

 public:
  class Lease {
   public:
    explicit Lease(DeviceWorkspaces& pool) : pool_(pool) {}
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    // Once; zero bytes take nothing.
    Expected<void> take(int device, void* stream, size_t bytes);
    void* data() const { return block_.data; }

   private:
    DeviceWorkspaces& pool_;
    StreamKey key_{};
    Block block_;
  };

 private:
  struct Stream {
    std::vector<Block> idle;
    size_t largest = 0;
  };
  struct Owned {
    DeviceRuntime* runtime = nullptr;
    int device = 0;
    void* data = nullptr;
  };

  Expected<Block> grow(DeviceRuntime& runtime, const StreamKey& key, size_t bytes);

  Mutex mutex_;
  std::map<StreamKey, Stream> streams_;
  std::vector<Owned> owned_;  // all there are, the idle ones and those in use
};

}  // namespace nrd
