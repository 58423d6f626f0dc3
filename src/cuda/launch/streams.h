// SPDX-License-Identifier: MIT
// src/cuda/launch/streams.h: the current device of a thread, streams told apart, copies in them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "base/tensor.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// Makes a device the current one of this thread and returns the former; a call that changes nothing
// costs a look at the thread's own state.
Expected<int> make_current(int device);

// Of no other stream of this process, not even of one that is gone. For the current device.
Expected<uint64_t> stream_number(Stream stream);

// Between the host and a device, or two devices, or inside one. Only enqueues, but returns no
// earlier than host memory that is not pinned has been read or written.
Expected<void> copy_bytes(void* to, const Device& to_device, const void* from,
                          const Device& from_device, size_t bytes, Stream stream);

// As long as it lives, this thread may allocate while another one, or itself, records a graph.
class AllocatesWhileRecording {
 public:
  AllocatesWhileRecording();
  ~AllocatesWhileRecording();
  AllocatesWhileRecording(const AllocatesWhileRecording&) = delete;
  AllocatesWhileRecording& operator=(const AllocatesWhileRecording&) = delete;

 private:
  int mode_;
};

}  // namespace nrd::cuda
