// SPDX-License-Identifier: MIT
// tests/cuda/emulator/fiber.cpp
#include "emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace nrd::cuda::emulator {
namespace {

size_t page_bytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

GuardedPages::GuardedPages(size_t bytes) {
  const size_t page = page_bytes();
  bytes_ = (bytes + page - 1) / page * page;
  void* map = mmap(nullptr, bytes_ + 2 * page, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) std::abort();
  begin_ = static_cast<char*>(map) + page;
  if (bytes_ > 0 && mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
}

GuardedPages::~GuardedPages() { munmap(begin_ - page_bytes(), bytes_ + 2 * page_bytes()); }

bool GuardedPages::guards(const void* address) const {
  const char* a = static_cast<const char*>(address);
  return (a >= begin_ - page_bytes() && a < begin_) || (a >= end() && a < end() + page_bytes());
}

#ifdef __x86_64__

// The registers that a function must leave as they were, and the stack pointer.
asm(R"(
.text
.p2align 4
.type nrd_emulator_switch, @function
nrd_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size nrd_emulator_switch, .-nrd_emulator_switch
)");
extern "C" void nrd_emulator_switch(void** save, void* load);

Context::Context() = default;
Context::~Context() = default;

void Context::start(const GuardedPages& stack, void (*entry)()) {
  // Six registers, then where `ret` goes; behind it the stack is as a call leaves it (8 mod 16).
  void** top = reinterpret_cast<void**>(stack.end()) - 10;
  std::memset(top, 0, 10 * sizeof(void*));
  top[6] = reinterpret_cast<void*>(entry);
  state_ = top;
}

void Context::switch_to(Context& other) { nrd_emulator_switch(&state_, other.state_); }

#else

Context::Context() : state_(new ucontext_t) {}
Context::~Context() { delete static_cast<ucontext_t*>(state_); }

void Context::start(const GuardedPages& stack, void (*entry)()) {
  ucontext_t& c = *static_cast<ucontext_t*>(state_);
  getcontext(&c);
  c.uc_stack.ss_sp = stack.begin();
  c.uc_stack.ss_size = static_cast<size_t>(stack.end() - stack.begin());
  c.uc_link = nullptr;
  makecontext(&c, entry, 0);
}

void Context::switch_to(Context& other) {
  swapcontext(static_cast<ucontext_t*>(state_), static_cast<ucontext_t*>(other.state_));
}

#endif

}  // namespace nrd::cuda::emulator
