// SPDX-License-Identifier: MIT
// tests/cuda/emulator/atomics.h: atomics, fences and loads with hints. One thread runs at a time,
// so that a plain operation is atomic; what matters is who comes first, which the seed decides.
#pragma once

#include <cstdint>
#include <type_traits>

#include "emulator/scheduler.h"

namespace nrd::cuda::emulator {

// A device refuses an access whose address is not a multiple of its size.
inline void check_aligned(const void* address, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0)
    fail("an access of " + std::to_string(bytes) + " bytes is misaligned");
}

// Orders itself: not a plain access.
template <class T, class F>
__attribute__((no_sanitize("thread"))) T atomic(T* address, F change) {
  check_aligned(address, sizeof(T));
  atomic_point(address);
  const T old = *static_cast<volatile T*>(address);
  *static_cast<volatile T*>(address) = change(old);
  return old;
}

template <class T>
T aligned_load(const T* address) {
  check_aligned(address, alignof(T));
  return *address;
}
template <class T>
void aligned_store(T* address, T value) {
  check_aligned(address, alignof(T));
  *address = value;
}

}  // namespace nrd::cuda::emulator

// The second argument does not take part in deduction, as with the overloads of CUDA.
#define NRD_EMULATED_ATOMIC(name, expression)                                              \
  template <class T>                                                                       \
  T name(T* address, std::type_identity_t<T> value) {                                      \
    return nrd::cuda::emulator::atomic(address,                                            \
                                       [=](T old) { return static_cast<T>(expression); }); \
  }                                                                                        \
  template <class T>                                                                       \
  T name##_block(T* address, std::type_identity_t<T> value) {                              \
    return name(address, value);                                                           \
  }                                                                                        \
  template <class T>                                                                       \
  T name##_system(T* address, std::type_identity_t<T> value) {                             \
    return name(address, value);                                                           \
  }
NRD_EMULATED_ATOMIC(atomicAdd, old + value)
NRD_EMULATED_ATOMIC(atomicSub, old - value)
NRD_EMULATED_ATOMIC(atomicMax, old < value ? value : old)
NRD_EMULATED_ATOMIC(atomicMin, value < old ? value : old)
NRD_EMULATED_ATOMIC(atomicExch, (static_cast<void>(old), value))
NRD_EMULATED_ATOMIC(atomicAnd, old& value)
NRD_EMULATED_ATOMIC(atomicOr, old | value)
NRD_EMULATED_ATOMIC(atomicXor, old ^ value)
NRD_EMULATED_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
NRD_EMULATED_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef NRD_EMULATED_ATOMIC

template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return nrd::cuda::emulator::atomic(address, [=](T old) { return old == expected ? value : old; });
}

// Global memory is seen by all at once here (language.h).
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
// A loop that waits for memory must call this (or an atomic): here others run.
inline void __nanosleep(unsigned) { nrd::cuda::emulator::spin("__nanosleep", nullptr); }

#define NRD_EMULATED_LOAD(name)                        \
  template <class T>                                   \
  T name(const T* address) {                           \
    return nrd::cuda::emulator::aligned_load(address); \
  }
NRD_EMULATED_LOAD(__ldg)
NRD_EMULATED_LOAD(__ldca)
NRD_EMULATED_LOAD(__ldcg)
NRD_EMULATED_LOAD(__ldcs)
NRD_EMULATED_LOAD(__ldcv)
NRD_EMULATED_LOAD(__ldlu)
#undef NRD_EMULATED_LOAD

#define NRD_EMULATED_STORE(name)                         \
  template <class T>                                     \
  void name(T* address, std::type_identity_t<T> value) { \
    nrd::cuda::emulator::aligned_store(address, value);  \
  }
NRD_EMULATED_STORE(__stcg)
NRD_EMULATED_STORE(__stcs)
NRD_EMULATED_STORE(__stwb)
NRD_EMULATED_STORE(__stwt)
#undef NRD_EMULATED_STORE
