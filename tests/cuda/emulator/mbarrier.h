// SPDX-License-Identifier: MIT
// tests/cuda/emulator/mbarrier.h: the emulated twin of ptx/mbarrier.cuh.
//
// The state of a barrier is in its eight bytes, as on a device, so that whoever writes over it is
// found out: bit 0 the parity of the phase, then 20 bits of arrivals a phase, 20 of arrivals that
// are missing, 21 of bytes that are missing (signed), and a mark.
#pragma once

#include "emulator/language.h"

namespace nrd::cuda::emulator {

void mbarrier_init(uint64_t* barrier, uint32_t arrivals);
// On the barrier at the same place in block `rank` of the cluster; -1 for the own block.
void mbarrier_arrive(uint64_t* barrier, int rank, uint32_t bytes);
void mbarrier_wait(uint64_t* barrier, uint32_t parity, const char* role, int stage);
bool mbarrier_test(uint64_t* barrier, uint32_t parity);
void mbarrier_init_fence();
// The copies of the phase that runs, of a block's mbarrier: by which agent, at which count.
struct CopyAgent {
  size_t agent;
  uint32_t count;
};
CopyAgent copies_of(Block& block, uint32_t address);
// By a copy that has arrived; not of a thread.
void mbarrier_complete(Block& block, uint32_t address, uint32_t bytes);

}  // namespace nrd::cuda::emulator

namespace nrd::cuda::NRD_CUDA_TARGET {

using Barrier = uint64_t;

inline uint32_t shared_address(const void* pointer) { return emulator::shared_address(pointer); }

inline void mbarrier_init(Barrier* barrier, uint32_t arrivals) {
  emulator::mbarrier_init(barrier, arrivals);
}
inline void mbarrier_init_fence(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("mbarrier_init_fence", place)) emulator::mbarrier_init_fence();
}
inline void mbarrier_arrive(Barrier* barrier,
                            const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("mbarrier_arrive", place)) emulator::mbarrier_arrive(barrier, -1, 0);
}
inline void mbarrier_arrive_at(Barrier* barrier, uint32_t rank,
                               const emulator::Place& place = emulator::Place::current()) {
  if (emulator::is_dropped("mbarrier_arrive_at", place)) return;
  emulator::mbarrier_arrive(barrier, static_cast<int>(rank), 0);
}
inline void mbarrier_arrive_expect(Barrier* barrier, uint32_t bytes,
                                   const emulator::Place& place = emulator::Place::current()) {
  if (emulator::is_dropped("mbarrier_arrive_expect", place)) return;
  emulator::mbarrier_arrive(barrier, -1, bytes);
}
// Waits once: whoever asks again and again would wait anyway.
inline bool mbarrier_try_wait(Barrier* barrier, uint32_t parity) {
  if (!emulator::mbarrier_test(barrier, parity)) emulator::spin("mbarrier_try_wait", barrier);
  return emulator::mbarrier_test(barrier, parity);
}
inline void mbarrier_wait(Barrier* barrier, uint32_t parity, const char* role, int stage,
                          const emulator::Place& place = emulator::Place::current()) {
  if (emulator::is_dropped("mbarrier_wait", place)) return;
  if (emulator::is_dropped("parity", place)) parity ^= 1;
  emulator::mbarrier_wait(barrier, parity, role, stage);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
