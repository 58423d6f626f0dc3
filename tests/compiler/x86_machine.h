// SPDX-License-Identifier: MIT
// tests/compiler/x86_machine.h: runs a few instructions on this processor, on a given state.
#pragma once

#include <array>
#include <cstdint>

// What a snippet reads and writes; rsp is the thunk's own.
struct MachineState {
  std::array<uint64_t, 16> gpr{};
  std::array<std::array<uint64_t, 2>, 8> vector{};
};

extern "C" void nrd_test_run_snippet(const void* code, MachineState* state);

struct Snippet {
  const char* text;
  const void* code;  // followed by ret
  bool available;    // this processor has it
};

#define NRD_SNIPPET_IF(available, text)                               \
  [] {                                                                \
    const void* code;                                                 \
    asm volatile("jmp 2f\n.intel_syntax noprefix\n1: " text           \
                 "\nret\n.att_syntax prefix\n2: leaq 1b(%%rip), %0\n" \
                 : "=r"(code));                                       \
    return Snippet{text, code, static_cast<bool>(available)};         \
  }()
#define NRD_SNIPPET(text) NRD_SNIPPET_IF(true, text)

// For NRD_SNIPPET_IF.
#define NRD_HAS_FMA __builtin_cpu_supports("fma")
#define NRD_HAS_AVX __builtin_cpu_supports("avx")
#define NRD_HAS_AVX512 __builtin_cpu_supports("avx512vl")
#define NRD_HAS_BMI __builtin_cpu_supports("bmi2")
#define NRD_HAS_SSE41 __builtin_cpu_supports("sse4.1")
