// SPDX-License-Identifier: MIT
// src/workbench/memory.h: the buffers of a case: guarded for checks, page aligned for timing.
#pragma once

#include <cstddef>

#include "base/error.h"

namespace nrd {

// kGuarded: the last byte lies against an inaccessible page, so that one element too far is a
// fault and not a silent write. kTimed: 2 MiB pages where the system gives them, 64-byte aligned:
// with small pages the luck of their physical addresses decides how well a cache holds them, and
// two processes that run the same code differ by several per cent.
enum class MemoryMode { kGuarded, kTimed };

class Buffer {
 public:
  Buffer() = default;
  static Expected<Buffer> allocate(size_t bytes, MemoryMode mode);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* map_ = nullptr;
  size_t map_bytes_ = 0;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace nrd
