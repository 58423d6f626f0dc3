// SPDX-License-Identifier: MIT
// tests/cuda/emulator/tma.h: the emulated twin of ptx/tma.cuh, and the encoder of its tensor maps.
//
// A load lands at once, later, or when no thread can go on; each block that a multicast goes to
// gets it at a time of its own. A store reads shared memory at once, later, or when its thread
// waits for it. The swizzle is that of the hardware: bits of the address in shared memory.
#pragma once

#include "cuda/launch/tensor_map.h"
#include "emulator/mbarrier.h"

namespace nrd::cuda::emulator {

// As those of launch/memory.h; launches run at once, so that there is no order to keep.
Expected<void*> allocate_in_stream(size_t bytes, cudaStream_t stream);
void release_in_stream(void* pointer, cudaStream_t stream) noexcept;

// With the driver's conditions on alignment and boxes; the map holds the specification.
Expected<TensorMap> encode_matrix_map(const MatrixMapSpec& spec);

// `blocks`: ranks as bits; 0 for the own block alone.
void tma_load(void* shared, const TensorMap* map, uint64_t* barrier, int x, int y, uint32_t blocks);
void tma_store(const TensorMap* map, const void* shared, int x, int y);
// Bytes in a row; addresses and size are multiples of 16.
void bulk_load(void* shared, const void* global, uint32_t bytes, uint64_t* barrier);
void bulk_store(void* global, const void* shared, uint32_t bytes);
void bulk_commit();
void bulk_wait(int groups);

// Where the byte at `address` of shared memory lies in truth.
uint32_t swizzled(uint32_t address, Swizzle swizzle);

}  // namespace nrd::cuda::emulator

namespace nrd::cuda::NRD_CUDA_TARGET {

enum class L2Keep : uint64_t { kNormal, kFirstOut, kLastOut };

inline void tma_prefetch(const TensorMap*) {}
inline void tma_load(void* shared, const TensorMap* map, Barrier* barrier, int x, int y,
                     L2Keep = L2Keep::kNormal) {
  emulator::tma_load(shared, map, barrier, x, y, 0);
}
inline void tma_load_multicast(void* shared, const TensorMap* map, Barrier* barrier, int x, int y,
                               uint16_t blocks, L2Keep = L2Keep::kNormal) {
  emulator::tma_load(shared, map, barrier, x, y, blocks);
}
inline void tma_store(const TensorMap* map, const void* shared, int x, int y, L2Keep) {
  emulator::tma_store(map, shared, x, y);
}
inline void tma_store_commit() { emulator::bulk_commit(); }
template <int kGroups>
inline void tma_store_wait_read(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("tma_store_wait_read", place)) emulator::bulk_wait(kGroups);
}
inline void tma_store_wait(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("tma_store_wait", place)) emulator::bulk_wait(0);
}
inline void fence_async_shared(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("fence_async_shared", place)) emulator::fence_proxies(emulator::self());
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
