// SPDX-License-Identifier: MIT
// src/cuda/ptx/wgmma.cuh: products of tiles in shared memory by a warpgroup (four warps).
//
// d[64, N] (+)= a[64, 32] b[N, 32]^T of e4m3 codes. Both operands are K-major: a tile of R rows is
// R x 128 bytes, 1024-byte aligned, 128-byte swizzled as TMA writes it; one product takes 32 bytes
// of each row. Thread t of the warpgroup (warp w = t/32, lane l = t%32) holds in d[4j+2h+i] the
// element of row 16w + l/4 + 8h and column 8j + 2*(l%4) + i.
//
// Products run on their own. Between wgmma_fence() and the wait for the group of a product nobody
// touches its d. Hopper keeps a running sum with 13 bits of mantissa and truncates the rest, so a
// sum over many products is biased towards zero; promoting means to start d anew and to add it up
// in f32.
#pragma once

#include "cuda/ptx/mbarrier.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/wgmma.h"
#else

namespace nrd::cuda::NRD_CUDA_TARGET {

// Where a tile lies: bits 0-13 the address / 16, 32-45 the step between groups of eight rows / 16,
// 62-63 the swizzle (1: 128 bytes). The upper half is the same for all.
struct TileDescriptor {
  uint32_t low;
  __device__ __forceinline__ uint64_t bits() const {
    return uint64_t{1u << 30 | 1024 >> 4} << 32 | low;
  }
};

__device__ __forceinline__ TileDescriptor describe_tile(const void* tile) {
  return {(shared_address(tile) & 0x3ffff) >> 4};
}

// The tile that starts `bytes` bytes later (a multiple of 16): 32 a step of k, 1024 for eight rows.
__device__ __forceinline__ TileDescriptor advance(TileDescriptor tile, int bytes) {
  return {tile.low + static_cast<uint32_t>(bytes / 16)};
}

// Before the first product after other code has touched its registers.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Closes the group of the products issued so far.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most kGroups groups of this warpgroup are under way.
template <int kGroups>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}

// d = a b^T, or d += a b^T where `accumulate`. Written once for each width that a kernel uses.
template <int N>
__device__ void wgmma_e4m3(float (&d)[N / 2], TileDescriptor a, TileDescriptor b, bool accumulate);

// clang-format off: the lists of registers are read as tables
#define NRD_F4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define NRD_F16(d, i) NRD_F4(d, i), NRD_F4(d, i + 4), NRD_F4(d, i + 8), NRD_F4(d, i + 12)
#define NRD_F64(d, i) NRD_F16(d, i), NRD_F16(d, i + 16), NRD_F16(d, i + 32), NRD_F16(d, i + 48)
#define NRD_T16_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define NRD_T16_16 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NRD_T16_32 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define NRD_T16_48 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NRD_T16_64 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define NRD_T16_80 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NRD_T16_96 \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define NRD_T16_112 \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define NRD_T64_0 NRD_T16_0 ", " NRD_T16_16 ", " NRD_T16_32 ", " NRD_T16_48
#define NRD_T64_64 NRD_T16_64 ", " NRD_T16_80 ", " NRD_T16_96 ", " NRD_T16_112
#define NRD_WGMMA(N, REGISTERS, A, B, ACCUMULATE, ...)                                          \
  template <>                                                                                   \
  __device__ __forceinline__ void wgmma_e4m3<N>(float(&d)[N / 2], TileDescriptor a,             \
                                                TileDescriptor b, bool accumulate) {            \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " ACCUMULATE                                 \
                 ", 0;\n"                                                                       \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k32.f32.e4m3.e4m3 {" REGISTERS "}, " A \
                 ", " B ", p, 1, 1;\n}"                                                         \
                 : __VA_ARGS__                                                                  \
                 : "l"(a.bits()), "l"(b.bits()), "r"(static_cast<int>(accumulate)));            \
  }
NRD_WGMMA(8, "%0, %1, %2, %3", "%4", "%5", "%6", NRD_F4(d, 0))
NRD_WGMMA(16, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9", "%10", NRD_F4(d, 0), NRD_F4(d, 4))
NRD_WGMMA(32, NRD_T16_0, "%16", "%17", "%18", NRD_F16(d, 0))
NRD_WGMMA(40, NRD_T16_0 ", %16, %17, %18, %19", "%20", "%21", "%22", NRD_F16(d, 0), NRD_F4(d, 16))
NRD_WGMMA(64, NRD_T16_0 ", " NRD_T16_16, "%32", "%33", "%34", NRD_F16(d, 0), NRD_F16(d, 16))
NRD_WGMMA(88,
          NRD_T16_0 ", " NRD_T16_16
                    ", "
                    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43",
          "%44", "%45", "%46", NRD_F16(d, 0), NRD_F16(d, 16), NRD_F4(d, 32), NRD_F4(d, 36),
          NRD_F4(d, 40))
NRD_WGMMA(96, NRD_T16_0 ", " NRD_T16_16 ", " NRD_T16_32, "%48", "%49", "%50", NRD_F16(d, 0),
          NRD_F16(d, 16), NRD_F16(d, 32))
NRD_WGMMA(112,
          NRD_T16_0 ", " NRD_T16_16 ", " NRD_T16_32
                    ", "
                    "%48, %49, %50, %51, %52, %53, %54, %55",
          "%56", "%57", "%58", NRD_F16(d, 0), NRD_F16(d, 16), NRD_F16(d, 32), NRD_F4(d, 48),
          NRD_F4(d, 52))
NRD_WGMMA(128, NRD_T64_0, "%64", "%65", "%66", NRD_F64(d, 0))
NRD_WGMMA(160, NRD_T64_0 ", " NRD_T16_64, "%80", "%81", "%82", NRD_F64(d, 0), NRD_F16(d, 64))
NRD_WGMMA(176,
          NRD_T64_0 ", " NRD_T16_64
                    ", "
                    "%80, %81, %82, %83, %84, %85, %86, %87",
          "%88", "%89", "%90", NRD_F64(d, 0), NRD_F16(d, 64), NRD_F4(d, 80), NRD_F4(d, 84))
NRD_WGMMA(192, NRD_T64_0 ", " NRD_T16_64 ", " NRD_T16_80, "%96", "%97", "%98", NRD_F64(d, 0),
          NRD_F16(d, 64), NRD_F16(d, 80))
NRD_WGMMA(256, NRD_T64_0 ", " NRD_T64_64, "%128", "%129", "%130", NRD_F64(d, 0), NRD_F64(d, 64))
// clang-format on
#undef NRD_WGMMA
#undef NRD_F4
#undef NRD_F16
#undef NRD_F64
#undef NRD_T16_0
#undef NRD_T16_16
#undef NRD_T16_32
#undef NRD_T16_48
#undef NRD_T16_64
#undef NRD_T16_80
#undef NRD_T16_96
#undef NRD_T16_112
#undef NRD_T64_0
#undef NRD_T64_64

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
