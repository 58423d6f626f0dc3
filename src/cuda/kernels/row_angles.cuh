// SPDX-License-Identifier: MIT
// src/cuda/kernels/row_angles.cuh: the rows of a launch, and the cos and sin that belong to them.
#pragma once

#include "cuda/kernels/row_slots.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// A row of the launch.
struct RowPlace {
  uint32_t outer, inner;
  __device__ __forceinline__ static RowPlace of(const Division& division, uint32_t row) {
    const uint32_t outer = division.quotient(row);
    return {outer, row - outer * division.divisor};
  }
  __device__ __forceinline__ int64_t operator()(const RowPitch& pitch) const {
    return outer * pitch.outer + inner * pitch.inner;
  }
};

// `elements` of T behind the row that starts at base + row_bytes.
template <class T>
__device__ __forceinline__ T* in_row(const void* base, int64_t row_bytes, uint32_t elements) {
  const char* row = static_cast<const char*>(base) + row_bytes;
  return reinterpret_cast<T*>(const_cast<char*>(row + elements * uint32_t{sizeof(T)}));
}

// The row of cos and sin that belongs to a row of x. Loaded first of all: what it names is loaded
// after everything else.
__device__ __forceinline__ uint32_t load_position(const RowTables& p, const RowPlace& place) {
  uint32_t position = place.inner;
  if (p.positions)
    load_words<4, Touch::kOften>(in_row<uint32_t>(p.positions, place(p.positions_pitch), 0),
                                 &position);
  return position;
}

// A thread's piece of cos and sin: of the packets of a slot.
template <class C, int kPacket>
struct Angles {
  Packet<C, kPacket> cos[2], sin[2];

  __device__ __forceinline__ void load_from(const RowTables& p, uint32_t outer, uint32_t position,
                                            const ThreadSlots& slots) {
    const bool is_known = position < p.count;
    const uint32_t row = is_known ? position : 0;
    const C* c = in_row<C>(p.cos, RowPlace{outer, row}(p.cos_pitch), slots.in_head);
    const C* s = in_row<C>(p.sin, RowPlace{outer, row}(p.sin_pitch), slots.in_head);
    load<Touch::kOften>(cos[0], c);
    load<Touch::kOften>(cos[1], c + slots.half);
    load<Touch::kOften>(sin[0], s);
    load<Touch::kOften>(sin[1], s + slots.half);
    // A position outside of the table turns its row into NaN: all ones, in every format.
    if (!is_known) {
#pragma unroll
      for (int w = 0; w < Packet<C, kPacket>::kWords; w++)
        cos[0].words[w] = cos[1].words[w] = 0xffffffffu;
    }
  }

  // As keep_narrow() of slots.
  __device__ __forceinline__ void keep_narrow(uint32_t zero) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
#pragma unroll
      for (int w = 0; w < Packet<C, kPacket>::kWords; w++)
        cos[j].words[w] ^= zero, sin[j].words[w] ^= zero;
    }
  }
};

// a and b turn together.
struct TurnPair {
  __device__ __forceinline__ static void apply(float cos_a, float sin_a, float cos_b, float sin_b,
                                               float& a, float& b) {
    const float turned = fmaf(a, cos_a, -(b * sin_a));
    b = fmaf(b, cos_b, a * sin_b);
    a = turned;
  }
};

// The gradient of what was turned, from that of the result: the transposed matrix, which is the
// turn back where the two entries of a pair are the same.
struct UnturnPair {
  __device__ __forceinline__ static void apply(float cos_a, float sin_a, float cos_b, float sin_b,
                                               float& a, float& b) {
    const float turned = fmaf(a, cos_a, b * sin_b);
    b = fmaf(b, cos_b, -(a * sin_a));
    a = turned;
  }
};

// Elements i and i + 1 of both packets of a slot.
template <Turn kTurn, class Pair = TurnPair, class C, int kPacket>
__device__ __forceinline__ void turn_two(const Angles<C, kPacket>& angles, int i, float (*v)[2]) {
  float cos[2][2], sin[2][2];
#pragma unroll
  for (int j = 0; j < 2; j++) {
    widen_two(angles.cos[j], i, cos[j]);
    widen_two(angles.sin[j], i, sin[j]);
  }
#pragma unroll
  for (int e = 0; e < 2; e++) {
    if constexpr (kTurn == Turn::kHalf) {
      Pair::apply(cos[0][e], sin[0][e], cos[1][e], sin[1][e], v[0][e], v[1][e]);
    } else {
      Pair::apply(cos[e][0], sin[e][0], cos[e][1], sin[e][1], v[e][0], v[e][1]);
    }
  }
}

// The same where the launch says which turn it is: the pairs of one are those of the other with
// two corners exchanged.
__device__ __forceinline__ void exchange_corners(bool yes, float (*v)[2]) {
  const float a = v[0][1], b = v[1][0];
  v[0][1] = yes ? b : a;
  v[1][0] = yes ? a : b;
}

template <class C, int kPacket>
__device__ __forceinline__ void turn_two_either(const Angles<C, kPacket>& angles, int i,
                                                bool interleaved, float (*v)[2]) {
  float cos[2][2], sin[2][2];
#pragma unroll
  for (int j = 0; j < 2; j++) {
    widen_two(angles.cos[j], i, cos[j]);
    widen_two(angles.sin[j], i, sin[j]);
  }
  exchange_corners(interleaved, cos);
  exchange_corners(interleaved, sin);
  exchange_corners(interleaved, v);
#pragma unroll
  for (int e = 0; e < 2; e++)
    TurnPair::apply(cos[0][e], sin[0][e], cos[1][e], sin[1][e], v[0][e], v[1][e]);
  exchange_corners(interleaved, v);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
