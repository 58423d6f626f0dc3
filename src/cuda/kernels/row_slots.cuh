// SPDX-License-Identifier: MIT
// src/cuda/kernels/row_slots.cuh: the slots of a row that one thread holds, and their loads.
#pragma once

#include "cuda/device/reduce.cuh"
#include "cuda/device/vector.cuh"
#include "cuda/launch/row_params.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

// Slot k of a thread is number thread + k * threads. The distance between its slots is a whole
// number of heads, so that all of them lie at the same place of their heads: one piece of the
// tables turns them all.
struct ThreadSlots {
  uint32_t in_head;  // elements from the start of the head to the first packet
  uint32_t first;    // from the start of the row
  uint32_t jump;     // from slot to slot
  uint32_t half;     // from packet to packet of a slot
  int heads_left;    // heads from the first slot's on
  int heads_a_jump;

  __device__ __forceinline__ ThreadSlots(const RowSteps& steps, uint32_t thread) {
    const uint32_t chunk = thread & steps.chunk_mask;
    const uint32_t head = thread >> steps.chunk_bits;
    // Numbers that stand for no slot keep to the table's row, so that its loads need no test.
    in_head = min(chunk, steps.chunks - 1) * steps.packet;
    first = head * steps.head_dim + in_head;
    jump = steps.jump;
    half = steps.half;
    heads_left = chunk < steps.chunks ? steps.heads - static_cast<int>(head) : 0;
    heads_a_jump = steps.heads_a_jump;
  }
  __device__ __forceinline__ bool has(int k) const { return k * heads_a_jump < heads_left; }
};

// kPackets of each slot.
template <class T, int kPacket, int kItems, int kPackets>
struct SlotPackets {
  Packet<T, kPacket> at[kItems][kPackets];

  // `row` is that of the thread's first slot.
  template <Touch kTouch>
  __device__ __forceinline__ void load_from(const T* row, const ThreadSlots& slots) {
#pragma unroll
    for (int k = 0; k < kItems; k++) {
#pragma unroll
      for (int j = 0; j < kPackets; j++) {
        if (slots.has(k)) {
          load<kTouch>(at[k][j], row + (k * slots.jump + j * slots.half));
        } else {
#pragma unroll
          for (uint32_t& word : at[k][j].words) word = 0;
        }
      }
    }
  }

  template <Touch kTouch>
  __device__ __forceinline__ void store_to(T* row, const ThreadSlots& slots) const {
#pragma unroll
    for (int k = 0; k < kItems; k++) {
#pragma unroll
      for (int j = 0; j < kPackets; j++)
        if (slots.has(k)) store<kTouch>(row + (k * slots.jump + j * slots.half), at[k][j]);
    }
  }
};

// A packet that is used before and after a barrier would be kept as f32 by the compiler, which
// finds the same conversion twice. `zero` is 0, and the compiler does not know it.
template <class T, int kPacket, int kItems, int kPackets>
__device__ __forceinline__ void keep_narrow(SlotPackets<T, kPacket, kItems, kPackets>& x,
                                            uint32_t zero) {
#pragma unroll
  for (int k = 0; k < kItems; k++) {
#pragma unroll
    for (int j = 0; j < kPackets; j++) {
#pragma unroll
      for (uint32_t& word : x.at[k][j].words) word ^= zero;
    }
  }
}

// One bit pattern of everything that was loaded into `x`: whoever needs it has issued the loads.
template <class T, int kPacket, int kItems, int kPackets>
__device__ __forceinline__ uint32_t fold(const SlotPackets<T, kPacket, kItems, kPackets>& x) {
  uint32_t all = 0;
#pragma unroll
  for (int k = 0; k < kItems; k++) {
#pragma unroll
    for (int j = 0; j < kPackets; j++) all |= x.at[k][j].words[0];
  }
  return all;
}

// The squares of a packet one after the other: the lowest level of a row's sum.
template <int kPacket>
__device__ __forceinline__ float sum_squares(const float* values) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kPacket; i++) sum = fmaf(values[i], values[i], sum);
  return sum;
}

template <int kPacket>
__device__ __forceinline__ float sum_values(const float* values) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kPacket; i++) sum += values[i];
  return sum;
}

// As the definitions' 1 / sqrt(sum / n + eps), within two units of its last place.
__device__ __forceinline__ float inverse_root(float sum, float inverse_count, float eps) {
  return rsqrtf(fmaf(sum, inverse_count, eps));
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
