// SPDX-License-Identifier: MIT
// src/cuda/launch/memory.h: device memory and streams as values. Nothing throws; every error names
// the call, what was asked for and, where memory is short, what is left.
#pragma once

#include <cstddef>
#include <utility>

#include "base/error.h"
#include "base/tensor.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// Makes `device` the current one of this thread and gives the former back at the end. A device that
// does not exist is an error, as is a machine without any.
class DeviceScope {
 public:
  static Expected<DeviceScope> enter(int device);
  DeviceScope(DeviceScope&& other) noexcept : former_(std::exchange(other.former_, -1)) {}
  DeviceScope& operator=(DeviceScope&&) = delete;
  ~DeviceScope();

 private:
  explicit DeviceScope(int former) : former_(former) {}
  int former_;
};

struct MemoryLeft {
  size_t free = 0;
  size_t total = 0;
};
Expected<MemoryLeft> memory_left(int device);

// Where memory lies: host memory that CUDA does not know counts as the CPU's, managed memory as
// that of the device it was last asked for on.
Expected<Device> device_of(const void* pointer);

// An error that names where it lies unless kernels of the device, which is the current one, can use
// it: memory of its own, managed or pinned memory, and any host memory where the machine allows it.
Expected<void> check_memory(int device, const void* pointer);

// Device memory, 256-byte aligned, given back when it goes out of scope. Zero bytes give null.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  static Expected<DeviceMemory> allocate(size_t bytes, int device);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~DeviceMemory();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  int device() const { return device_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  int device_ = 0;
};

// The plain pair under DeviceMemory, for memory that a handle of the C ABI owns.
Expected<void*> allocate_device(size_t bytes, int device);
void release_device(void* pointer, int device) noexcept;

// Memory from the moment that the stream comes to it until release_in_stream() comes there: for
// what few calls need. Can be recorded.
Expected<void*> allocate_in_stream(size_t bytes, Stream stream);
void release_in_stream(void* pointer, Stream stream) noexcept;

// A stream of its own, not ordered against the default stream.
class OwnStream {
 public:
  OwnStream() = default;
  static Expected<OwnStream> create(int device);
  OwnStream(OwnStream&& other) noexcept { *this = std::move(other); }
  OwnStream& operator=(OwnStream&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~OwnStream();
  Stream get() const { return stream_; }

 private:
  Stream stream_ = nullptr;
  int device_ = 0;
};

// Copies wait until the bytes have arrived, after everything that the stream was given before.
Expected<void> copy_to_device(void* device_pointer, const void* host, size_t bytes,
                              Stream stream = nullptr);
Expected<void> copy_to_host(void* host, const void* device_pointer, size_t bytes,
                            Stream stream = nullptr);
// These two only enqueue.
Expected<void> copy_on_device(void* to, const void* from, size_t bytes, Stream stream = nullptr);
Expected<void> fill_bytes(void* device_pointer, int byte, size_t bytes, Stream stream = nullptr);

// Waits for all that the current device was given before, whatever the stream. False where a
// stream is being recorded: nothing can be waited for then.
Expected<bool> wait_for_device();

// Waits for the stream; the error is that of any kernel in it ("an illegal memory access ...").
Expected<void> wait_for(Stream stream);

}  // namespace nrd::cuda
