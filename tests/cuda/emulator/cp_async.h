// SPDX-License-Identifier: MIT
// tests/cuda/emulator/cp_async.h: the emulated twin of ptx/cp_async.cuh. A copy happens at once,
// later, or when its thread waits for it.
#pragma once

#include "emulator/copies.h"
#include "emulator/language.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

inline void cp_async_16(void* shared, const void* global, int bytes) {
  emulator::check_aligned(shared, 16);
  if (bytes > 0) emulator::check_aligned(global, 16);
  if (bytes < 0 || bytes > 16) emulator::fail("cp.async of less than 0 or more than 16 bytes");
  emulator::copy_async(shared, global, static_cast<size_t>(bytes));
}

inline void cp_async_commit() { emulator::commit(emulator::self().copies); }

template <int kPending>
inline void cp_async_wait(const emulator::Place& place = emulator::Place::current()) {
  if (!emulator::is_dropped("cp_async_wait", place)) emulator::copy_async_wait(kPending);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
