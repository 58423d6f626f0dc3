// SPDX-License-Identifier: MIT
// src/machine/probes.h: entry points of the probe_*.cpp files, one file an ISA.
//
// The loops are inline assembly: no compiler can remove, reorder or spill them, at any
// optimisation level and under sanitizers. Nothing is checked inside; peaks.cpp calls only what
// the IsaSet has. Plain C names and no library headers, so that an object file built with ISA
// flags exports no weak symbol that the linker could pick for the rest of the program.
#pragma once

#include <cstdint>

extern "C" {

// `rounds` >= 1 rounds of a loop over registers only; returns the operations done (a
// multiply-add counts two).
using NrdArithmeticProbe = int64_t(int64_t rounds);

// `passes` times over `bytes` bytes; `bytes` is a positive multiple of kProbeBlock, pointers are
// aligned to 64 bytes.
using NrdReadProbe = void(const void* from, int64_t bytes, int64_t passes);
using NrdCopyProbe = void(void* to, const void* from, int64_t bytes, int64_t passes);

#if defined(__x86_64__)
NrdArithmeticProbe nrd_probe_sse2_clock;  // a chain of one-cycle operations: cycles
NrdArithmeticProbe nrd_probe_sse2_f32;
NrdReadProbe nrd_probe_sse2_read;
NrdCopyProbe nrd_probe_sse2_copy, nrd_probe_sse2_copy_nt;

NrdArithmeticProbe nrd_probe_avx2_f32;   // needs fma
NrdArithmeticProbe nrd_probe_avx2_int8;  // needs avx_vnni
NrdReadProbe nrd_probe_avx2_read;
NrdCopyProbe nrd_probe_avx2_copy, nrd_probe_avx2_copy_nt;

NrdArithmeticProbe nrd_probe_avx512_f32;
NrdArithmeticProbe nrd_probe_avx512_bf16;  // needs avx512_bf16
NrdArithmeticProbe nrd_probe_avx512_int8;  // needs avx512_vnni
NrdReadProbe nrd_probe_avx512_read;
NrdCopyProbe nrd_probe_avx512_copy, nrd_probe_avx512_copy_nt;

NrdArithmeticProbe nrd_probe_amx_bf16;  // needs amx_tile, amx_bf16 and the permission
NrdArithmeticProbe nrd_probe_amx_int8;  // needs amx_tile, amx_int8 and the permission
#elif defined(__aarch64__)
NrdArithmeticProbe nrd_probe_neon_clock;
NrdArithmeticProbe nrd_probe_neon_f32;
NrdArithmeticProbe nrd_probe_neon_bf16;  // needs bf16
NrdArithmeticProbe nrd_probe_neon_int8;  // needs dotprod
NrdReadProbe nrd_probe_neon_read;
NrdCopyProbe nrd_probe_neon_copy, nrd_probe_neon_copy_nt;
#endif
}

// Bytes a loop body of a stream moves: long enough that the loop's own instructions do not count.
inline constexpr int64_t kProbeBlock = 1024;
