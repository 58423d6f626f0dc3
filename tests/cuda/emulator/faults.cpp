// SPDX-License-Identifier: MIT
// tests/cuda/emulator/faults.cpp: what goes wrong in a kernel becomes the report of its launch.
#include <signal.h>
#include <sys/time.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "emulator/machine.h"

namespace nrd::cuda::emulator {
namespace {

// A thread that computes for so long without a switch is caught in a loop (processor time).
constexpr int kWatchdogSeconds = 10;

struct sigaction old_segv, old_bus, old_fpe, old_alarm;
uint64_t switches_seen = 0;
char* signal_stack() {
  static char stack[64 * 1024];
  return stack;
}

std::string running() {
  const Thread* t = machine().current;
  return t ? name(*t) : "asynchronous work";
}

std::string what_lies_at(const void* address) {
  for (const auto& b : machine().blocks) {
    if (b->memory->guards(address)) {
      const auto offset = static_cast<const char*>(address) - b->shared;
      return "byte " + std::to_string(offset) + " of a shared memory of " +
             std::to_string(b->shared_bytes) + " bytes";
    }
  }
  for (const auto& t : machine().threads) {
    if (t->stack->guards(address)) return "the end of its stack (local memory)";
  }
  char text[64];
  std::snprintf(text, sizeof text, "address %p", address);
  return text;
}

void on_fault(int signal, siginfo_t* info, void*) {
  if (signal == SIGFPE) abandon(cudaErrorLaunchFailure, running() + " divides by zero");
  abandon(cudaErrorIllegalAddress, running() + " accesses " + what_lies_at(info->si_addr));
}

void on_alarm(int) {
  Machine& m = machine();
  if (switches_seen == m.switches && m.current)
    abandon(cudaErrorLaunchTimeout,
            running() +
                " runs in a loop that nothing in the emulator can leave: a loop that waits "
                "for memory must call __nanosleep or an atomic");
  switches_seen = m.switches;
}

void set_watchdog(int seconds) {
  itimerval timer{};
  timer.it_interval.tv_sec = timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

}  // namespace

FaultHandlers::FaultHandlers() {
  stack_t stack{};
  stack.ss_sp = signal_stack();
  stack.ss_size = 64 * 1024;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &old_segv);
  sigaction(SIGBUS, &action, &old_bus);
  sigaction(SIGFPE, &action, &old_fpe);
  struct sigaction alarm {};
  alarm.sa_handler = on_alarm;
  alarm.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(SIGVTALRM, &alarm, &old_alarm);
  set_watchdog(kWatchdogSeconds);
}

FaultHandlers::~FaultHandlers() {
  set_watchdog(0);
  sigaction(SIGSEGV, &old_segv, nullptr);
  sigaction(SIGBUS, &old_bus, nullptr);
  sigaction(SIGFPE, &old_fpe, nullptr);
  sigaction(SIGVTALRM, &old_alarm, nullptr);
}

std::string name(const Thread& thread) {
  const uint3 b = thread.block->position, t = thread.position;
  const auto text = [](uint3 p) {
    return "(" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z) + ")";
  };
  return "block " + text(b) + " thread " + text(t);
}

std::string describe_waiting() {
  // Threads of a block in order; those that wait alike share a line.
  std::string lines;
  const Machine& m = machine();
  int written = 0;
  for (size_t i = 0; i < m.threads.size();) {
    const auto describe = [&](const Thread& t) {
      return t.done || !t.waiting ? std::string() : t.waiting->describe(t.waiting->describe_state);
    };
    const std::string what = describe(*m.threads[i]);
    size_t end = i + 1;
    while (end < m.threads.size() && m.threads[end]->block == m.threads[i]->block &&
           describe(*m.threads[end]) == what)
      end++;
    if (!what.empty() && written++ < 64) {
      lines += "  " + name(*m.threads[i]);
      if (end - i > 1) lines += " and " + std::to_string(end - i - 1) + " behind it";
      lines += ": " + what + "\n";
    }
    i = end;
  }
  return lines;
}

}  // namespace nrd::cuda::emulator

// The kernels are compiled with -fsanitize=alignment,bounds; these are the functions that such code
// calls, so that a misaligned vector load (which the GPU refuses) and an index outside a register
// array end the launch with the line of the source.
namespace {

struct SourceLocation {
  const char* file;
  unsigned line, column;
};

[[noreturn]] void sanitizer_failure(const SourceLocation& where, const std::string& what) {
  nrd::cuda::emulator::fail(what + " at " + where.file + ":" + std::to_string(where.line) + ":" +
                            std::to_string(where.column));
}

struct TypeMismatch {
  SourceLocation where;
  const void* type;
  unsigned char log_alignment, kind;
};
struct OutOfBounds {
  SourceLocation where;
};

[[noreturn]] void type_mismatch(const TypeMismatch* data, uintptr_t address) {
  char text[96];
  std::snprintf(text, sizeof text, "address %#zx is not a multiple of %u", address,
                1u << data->log_alignment);
  sanitizer_failure(data->where, text);
}
[[noreturn]] void out_of_bounds(const OutOfBounds* data, uintptr_t index) {
  sanitizer_failure(data->where, "index " + std::to_string(static_cast<int64_t>(index)) +
                                     " is outside the array");
}

}  // namespace

extern "C" {
[[noreturn]] void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t address) {
  type_mismatch(data, address);
}
[[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(TypeMismatch* data, uintptr_t address) {
  type_mismatch(data, address);
}
[[noreturn]] void __ubsan_handle_out_of_bounds(OutOfBounds* data, uintptr_t index) {
  out_of_bounds(data, index);
}
[[noreturn]] void __ubsan_handle_out_of_bounds_abort(OutOfBounds* data, uintptr_t index) {
  out_of_bounds(data, index);
}
}
