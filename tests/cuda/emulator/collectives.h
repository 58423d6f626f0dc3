// SPDX-License-Identifier: MIT
// tests/cuda/emulator/collectives.h: what the threads of a block or the lanes of a warp do
// together.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator/scheduler.h"

namespace nrd::cuda::emulator {

// Barrier `id` (0 to 15) over `count` threads, 0 for all that have not returned. Returns how many
// of them brought a predicate that holds.
uint64_t block_barrier(int id, int count, bool predicate = false, const char* kind = "barrier",
                       const Place& place = Place::current());
// All threads of a cooperative launch.
void grid_barrier(const Place& place = Place::current());

// All lanes of the mask meet and leave up to four words; returns those of all lanes, which stay
// until this lane meets the same lanes again. `kind` must be the same for all.
const Words* exchange(unsigned mask, const char* kind, const Words& words,
                      bool orders_memory = false);
inline const Words* exchange(unsigned mask, const char* kind, uint64_t value) {
  return exchange(mask, kind, Words{{value}});
}
int lane();
unsigned live_lanes();
// The value that a shuffle took from lane `source`, which must be of the mask.
uint64_t take(const Words* values, unsigned mask, int source);

template <class T>
T shuffle(unsigned mask, T value, int source, const char* kind) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = take(exchange(mask, kind, bits), mask, source);
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

}  // namespace nrd::cuda::emulator

using NrdPlace = nrd::cuda::emulator::Place;

inline void __syncthreads(const NrdPlace& place = NrdPlace::current()) {
  nrd::cuda::emulator::block_barrier(0, 0, false, "__syncthreads", place);
}
inline int __syncthreads_or(int predicate, const NrdPlace& place = NrdPlace::current()) {
  return nrd::cuda::emulator::block_barrier(0, 0, predicate != 0, "__syncthreads_or", place) != 0;
}
inline int __syncthreads_and(int predicate, const NrdPlace& place = NrdPlace::current()) {
  return nrd::cuda::emulator::block_barrier(0, 0, predicate == 0, "__syncthreads_and", place) == 0;
}
inline int __syncthreads_count(int predicate, const NrdPlace& place = NrdPlace::current()) {
  return static_cast<int>(
      nrd::cuda::emulator::block_barrier(0, 0, predicate != 0, "__syncthreads_count", place));
}

inline void __syncwarp(unsigned mask = 0xffffffff, const NrdPlace& place = NrdPlace::current()) {
  if (nrd::cuda::emulator::is_dropped("__syncwarp", place)) return;
  nrd::cuda::emulator::exchange(mask, "__syncwarp", {}, true);
}
inline unsigned __activemask() { return nrd::cuda::emulator::live_lanes(); }

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int first = nrd::cuda::emulator::lane() & ~(width - 1);
  return nrd::cuda::emulator::shuffle(mask, value, first + (source & (width - 1)), "__shfl_sync");
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int own = nrd::cuda::emulator::lane();
  const int source = own ^ bits;
  // A later segment cannot be read, an earlier one can.
  const bool is_later = source >= (own & ~(width - 1)) + width;
  return nrd::cuda::emulator::shuffle(mask, value, is_later ? own : source, "__shfl_xor_sync");
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int own = nrd::cuda::emulator::lane(), source = own + static_cast<int>(delta);
  const bool is_inside = source < (own & ~(width - 1)) + width;
  return nrd::cuda::emulator::shuffle(mask, value, is_inside ? source : own, "__shfl_down_sync");
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int own = nrd::cuda::emulator::lane(), source = own - static_cast<int>(delta);
  const bool is_inside = source >= (own & ~(width - 1));
  return nrd::cuda::emulator::shuffle(mask, value, is_inside ? source : own, "__shfl_up_sync");
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const auto* all = nrd::cuda::emulator::exchange(mask, "vote", uint64_t{predicate != 0});
  unsigned bits = 0;
  for (int i = 0; i < 32; i++) bits |= (mask >> i & 1) && all[i].of[0] ? 1u << i : 0;
  return bits;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == mask;
}

template <class T, class F>
T nrd_emulated_reduce(unsigned mask, T value, F combine) {
  static_assert(sizeof(T) == 4);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, 4);
  const auto* all = nrd::cuda::emulator::exchange(mask, "__reduce_sync", bits);
  bool is_first = true;
  T result{};
  for (int i = 0; i < 32; i++) {
    if (!(mask >> i & 1)) continue;
    T x;
    std::memcpy(&x, &all[i].of[0], 4);
    result = is_first ? x : combine(result, x);
    is_first = false;
  }
  return result;
}
template <class T>
T __reduce_add_sync(unsigned mask, T value) {
  return nrd_emulated_reduce(mask, value, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
T __reduce_max_sync(unsigned mask, T value) {
  return nrd_emulated_reduce(mask, value, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
T __reduce_min_sync(unsigned mask, T value) {
  return nrd_emulated_reduce(mask, value, [](T a, T b) { return b < a ? b : a; });
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return nrd_emulated_reduce(mask, value, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return nrd_emulated_reduce(mask, value, [](unsigned a, unsigned b) { return a & b; });
}
