// SPDX-License-Identifier: MIT
// tests/cuda/emulator/fiber.h: a stack of its own for every CUDA thread, and the switch to it.
#pragma once

#include <cstddef>

namespace nrd::cuda::emulator {

// Memory with an inaccessible page on either side, given back to a pool and not to the system.
class GuardedPages {
 public:
  explicit GuardedPages(size_t bytes);
  ~GuardedPages();
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  char* begin() const { return begin_; }
  char* end() const { return begin_ + bytes_; }
  // Whether the address lies in one of the two pages around it.
  bool guards(const void* address) const;

 private:
  char* begin_ = nullptr;
  size_t bytes_ = 0;
};

// A suspended flow of control. Assembly on x86-64 (a switch is some twenty instructions), ucontext
// elsewhere.
class Context {
 public:
  Context();
  ~Context();
  // The next switch to it calls entry(), which must never return.
  void start(const GuardedPages& stack, void (*entry)());
  // Saves the running flow here and goes on with `other`.
  void switch_to(Context& other);

 private:
  void* state_ = nullptr;
};

}  // namespace nrd::cuda::emulator
