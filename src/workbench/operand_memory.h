// SPDX-License-Identifier: MIT
// src/workbench/operand_memory.h: where the operands of a case lie, on the CPU or on a device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "workbench/memory.h"

namespace nrd {

// Holds what it gave out until it ends.
class OperandMemory {
 public:
  static Expected<std::unique_ptr<OperandMemory>> on(const Device& device);
  virtual ~OperandMemory() = default;

  // On the CPU a guarded piece ends at an inaccessible page. On a device bands of `guard` lie
  // before and behind it: NaN in every floating dtype where it is read, so that what is read there
  // shows, and what no kernel stores where it is written.
  static constexpr unsigned char kReadGuard = 0xFF, kWriteGuard = 0xC3;
  virtual Expected<void*> allocate(size_t bytes, MemoryMode mode, unsigned char guard) = 0;
  virtual size_t alignment() const = 0;  // of operands within a timed block

  // Copies wait until they are done.
  virtual Expected<void> write(void* to, const void* host, size_t bytes) = 0;
  virtual Expected<void> read(void* host, const void* from, size_t bytes) const = 0;
  virtual Expected<void> copy(void* to, const void* from, size_t bytes) = 0;  // both lie here
  virtual Expected<void> fill(void* to, unsigned char byte, size_t bytes) = 0;
  // Whether the host may use the pointers.
  virtual bool addressable() const = 0;
  // Waits for all that was enqueued on the default stream.
  virtual Expected<void> wait() = 0;

  // The first guarded piece beside which something was written, by its number: -1 when none was.
  // `where` says how: "3 bytes behind its end".
  virtual Expected<int> damaged(std::string& where) const = 0;
};

}  // namespace nrd
