// SPDX-License-Identifier: MIT
// src/cuda/ptx/tma.cuh: copies of boxes between global and shared memory, by one thread each.
//
// Coordinates are in elements of the tensor map, innermost first. What lies outside the tensor is
// read as zero and not written; a barrier counts the bytes of the whole box in both cases. The
// address in shared memory is 128-byte aligned, 1024 for a box with a 128-byte swizzle: 16-byte
// chunk c of row r (128 bytes a row) then lies at chunk c ^ (r % 8) of the row.
#pragma once

#include "cuda/launch/tensor_map.h"
#include "cuda/ptx/mbarrier.cuh"

#ifdef NRD_CUDA_EMULATED
#include "emulator/tma.h"
#else

namespace nrd::cuda::NRD_CUDA_TARGET {

// How long L2 should keep what is read or written.
enum class L2Keep : uint64_t {
  kNormal = 0x1000000000000000,
  kFirstOut = 0x12f0000000000000,  // read once
  kLastOut = 0x14f0000000000000,   // read by every block, or by what comes next
};

// Fetches the map itself, so that the first copy does not wait for it.
__device__ __forceinline__ void tma_prefetch(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Box at (x, y) to shared memory; its bytes are counted by the barrier.
__device__ __forceinline__ void tma_load(void* shared, const TensorMap* map, Barrier* barrier,
                                         int x, int y, L2Keep keep = L2Keep::kNormal) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "l"(static_cast<uint64_t>(keep))
      : "memory");
}

// The same to the same place in every block of the cluster whose bit is set in `blocks`; each one's
// barrier at the same place counts the bytes that it gets.
__device__ __forceinline__ void tma_load_multicast(void* shared, const TensorMap* map,
                                                   Barrier* barrier, int x, int y, uint16_t blocks,
                                                   L2Keep keep = L2Keep::kNormal) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(
          shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "h"(blocks),
      "l"(static_cast<uint64_t>(keep))
      : "memory");
}

// Box from shared memory to (x, y). What threads wrote there before is sent after each of them has
// called fence_async_shared() and a barrier has brought them together.
__device__ __forceinline__ void tma_store(const TensorMap* map, const void* shared, int x, int y,
                                          L2Keep keep) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint"
      " [%0, {%2, %3}], [%1], %4;" ::"l"(map),
      "r"(shared_address(shared)), "r"(x), "r"(y), "l"(static_cast<uint64_t>(keep))
      : "memory");
}

// Closes the group of this thread's stores so far.
__device__ __forceinline__ void tma_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most kGroups of this thread's groups still read shared memory.
template <int kGroups>
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
}

// Waits until all of this thread's stores are written.
__device__ __forceinline__ void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// This thread's writes to shared memory are seen by TMA and wgmma.
__device__ __forceinline__ void fence_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
#endif
