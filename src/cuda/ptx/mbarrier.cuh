// SPDX-License-Identifier: MIT
// src/cuda/ptx/mbarrier.cuh: barriers in shared memory that count arrivals and bytes.
//
// A barrier runs through phases. A phase ends when its arrivals have come and no announced byte is
// outstanding; the next one starts at once with the same number of arrivals. Waiting for parity p
// returns when the phase of parity p has ended: on a new barrier (phase 0) parity 1 returns at
// once, parity 0 after the first phase.
#pragma once

#include "cuda/device/language.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/mbarrier.h"
#else
#ifdef NRD_CUDA_WATCHDOG
#include <cstdio>
#endif

namespace nrd::cuda::NRD_CUDA_TARGET {

using Barrier = uint64_t;  // 8-byte aligned, in shared memory

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// One thread, before any other use.
__device__ __forceinline__ void mbarrier_init(Barrier* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

// By the thread that initialised, before the barrier of the block or the cluster that publishes
// the barriers: other blocks and TMA see them.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One arrival; releases this thread's accesses to those who wait.
__device__ __forceinline__ void mbarrier_arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

// One arrival on the barrier at the same place in block `rank` of the cluster (the own one too).
// Orders no other accesses across blocks (that would wait for all of this thread's writes), but
// within the own one (.release.cta is what the instruction does): it is for saying that TMA may
// overwrite what wgmma has read, and that warps of the own block may overwrite factors.
__device__ __forceinline__ void mbarrier_arrive_at(Barrier* barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

// One arrival that announces `bytes` bytes of TMA copies of this phase: all that land here, those
// that other blocks send included.
__device__ __forceinline__ void mbarrier_arrive_expect(Barrier* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

// Has the phase of this parity ended? May sleep for a while before it says no.
__device__ __forceinline__ bool mbarrier_try_wait(Barrier* barrier, uint32_t parity) {
  uint32_t ended;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n"
      "}"
      : "=r"(ended)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return ended != 0;
}

// Waits for the end of the phase of this parity. `role` and `stage` name the wait for the watchdog
// of debug builds (NRD_CUDA_WATCHDOG), which ends the kernel with a message after two seconds.
__device__ __forceinline__ void mbarrier_wait(Barrier* barrier, uint32_t parity,
                                              [[maybe_unused]] const char* role,
                                              [[maybe_unused]] int stage) {
#ifdef NRD_CUDA_WATCHDOG
  const long long start = clock64();
  while (!mbarrier_try_wait(barrier, parity)) {
    if (clock64() - start < 4'000'000'000LL) continue;
    printf("block %d thread %d: %s waits for stage %d parity %u\n", blockIdx.x, threadIdx.x, role,
           stage, parity);
    asm volatile("trap;");
  }
#else
  while (!mbarrier_try_wait(barrier, parity)) {
  }
#endif
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
