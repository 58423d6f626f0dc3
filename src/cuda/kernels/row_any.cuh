// SPDX-License-Identifier: MIT
// src/cuda/kernels/row_any.cuh: rows of any dtype, stride and alignment, a packet at a time.
//
// What the kernels for contiguous rows do not take comes here: the dtype is looked at once a
// packet, packets are gathered element by element where they are not aligned. Rows are read again
// for each pass, from L1 or L2 where they fit. The arithmetic and its order are those of the other
// kernels, so that the bits are too.
#pragma once

#include "cuda/kernels/row_angles.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// A block a row, and another round where a grid cannot have as many.
inline unsigned any_row_blocks(int64_t rows) {
  constexpr int64_t kMost = 1 << 20;
  return static_cast<unsigned>(rows < kMost ? rows : kMost);
}

// Where an operand's row starts, in elements.
__device__ __forceinline__ int64_t row_start(const int64_t* sizes, const RowOperand& o,
                                             int64_t row) {
  int64_t at = 0;
#pragma unroll
  for (int i = kRowAxes - 1; i >= 0; i--) {
    at += row % sizes[i] * o.outer[i];
    row /= sizes[i];
  }
  return at;
}

// The first `count` of a packet's elements from `at` on; the others are 0.
template <class T, int kPacket>
__device__ __forceinline__ void read_typed(const AnyOperand& o, int64_t at, int count,
                                           float* values) {
  const T* address = static_cast<const T*>(o.data) + at;
  Packet<T, kPacket> packet;
  if (o.packets && count == kPacket) {
    load<Touch::kOften>(packet, address);
  } else {
    gather(packet, address, o.step, count);
  }
  widen(packet, values);
}

template <int kPacket>
__device__ __forceinline__ void read(const AnyOperand& o, int64_t at, int count, float* values) {
  if (o.dtype == DType::kF32) {
    read_typed<f32, kPacket>(o, at, count, values);
  } else if (o.dtype == DType::kF16) {
    read_typed<f16, kPacket>(o, at, count, values);
  } else {
    read_typed<bf16, kPacket>(o, at, count, values);
  }
}

template <class T, int kPacket, bool kSaturate>
__device__ __forceinline__ void write_typed(const AnyOperand& o, int64_t at, int count,
                                            const float* values) {
  T* address = static_cast<T*>(o.data) + at;
  const Packet<T, kPacket> packet = narrow<T, kPacket, kSaturate>(values);
  if (o.packets && count == kPacket) {
    store<Touch::kOften>(address, packet);
  } else {
    scatter(address, o.step, count, packet);
  }
}

template <int kPacket>
__device__ __forceinline__ void write(const AnyOperand& o, int64_t at, int count,
                                      const float* values) {
  switch (o.dtype) {
    case DType::kF32: return write_typed<f32, kPacket, false>(o, at, count, values);
    case DType::kF16: return write_typed<f16, kPacket, false>(o, at, count, values);
    case DType::kBF16: return write_typed<bf16, kPacket, false>(o, at, count, values);
    case DType::kF8E4M3: return write_typed<f8e4m3, kPacket, true>(o, at, count, values);
    default: return write_typed<f8e5m2, kPacket, true>(o, at, count, values);
  }
}

// round_to of each value.
template <int kPacket>
__device__ __forceinline__ void round_to_type(DType dtype, float* values) {
  if (dtype == DType::kF16) round_all<f16, kPacket>(values);
  if (dtype == DType::kBF16) round_all<bf16, kPacket>(values);
}

// The slots of a row and the places of their packets.
template <int kPacket>
struct AnySlots {
  RowCut cut;
  int64_t cols;
  bool is_turned, is_across;  // across: pairs lie in two packets
  int apart;                  // elements between the packets of a slot

  __device__ __forceinline__ AnySlots(const AnyRows& rows, Turn turn)
      : cut(rows.cut), cols(rows.cols), is_turned(turn != Turn::kNone) {
    // Packets of one element are the pair itself, also where it is two neighbours.
    const bool is_pair = kPacket == 1 && turn == Turn::kInterleaved;
    is_across = is_pair || turn == Turn::kHalf;
    apart = is_pair ? 1 : cut.head_dim / 2;
  }

  struct Slot {
    int head, in_head, count;  // count: elements of each packet, 0 where there is no such slot
  };
  __device__ __forceinline__ Slot find(int64_t number) const {
    const int head = static_cast<int>(number >> cut.chunk_bits);
    const int chunk = static_cast<int>(number & ((1 << cut.chunk_bits) - 1));
    if (chunk >= cut.chunks) return {head, 0, 0};
    if (is_turned) return {head, chunk * (apart == 1 ? 2 : kPacket), kPacket};
    const int64_t left = cols - static_cast<int64_t>(head) * kPacket;
    return {head, 0, left < kPacket ? static_cast<int>(left) : kPacket};
  }
  __device__ __forceinline__ int packets() const { return is_turned ? 2 : 1; }

  // Packet j of a slot, in elements from the start of the row.
  __device__ __forceinline__ int64_t offset(const AnyOperand& o, const Slot& slot, int j) const {
    if (!is_turned) return static_cast<int64_t>(slot.head) * kPacket * o.step;
    return slot.head * o.head + (slot.in_head + j * apart) * o.step;
  }
};

// cos and sin of a row.
template <int kPacket, class Params>
class AnyAngles {
  const Params& p_;
  int64_t cos_, sin_;
  bool is_known_ = true;

 public:
  __device__ __forceinline__ AnyAngles(const Params& p, int64_t row) : p_(p) {
    cos_ = row_start(p.outer, p.cos, row);
    sin_ = row_start(p.outer, p.sin, row);
    if (!p.positions.present) return;
    const int32_t* positions = static_cast<const int32_t*>(p.positions.data);
    const int64_t position = positions[row_start(p.outer, p.positions, row)];
    is_known_ = position >= 0 && position < p.table;
    cos_ += is_known_ ? position * p.cos.table : 0;
    sin_ += is_known_ ? position * p.sin.table : 0;
  }

  // The packets of a slot turn; a row with a wrong position becomes NaN.
  template <class Pair>
  __device__ __forceinline__ void turn(const AnySlots<kPacket>& slots, int in_head,
                                       float (*v)[kPacket]) const {
    float cos[2][kPacket], sin[2][kPacket];
#pragma unroll
    for (int j = 0; j < 2; j++) {
      const int64_t at = in_head + j * slots.apart;
      read<kPacket>(p_.cos, cos_ + at * p_.cos.step, kPacket, cos[j]);
      read<kPacket>(p_.sin, sin_ + at * p_.sin.step, kPacket, sin[j]);
#pragma unroll
      for (int i = 0; i < kPacket; i++) cos[j][i] = is_known_ ? cos[j][i] : float_of_bits(~0u);
    }
    if (slots.is_across) {
#pragma unroll
      for (int i = 0; i < kPacket; i++)
        Pair::apply(cos[0][i], sin[0][i], cos[1][i], sin[1][i], v[0][i], v[1][i]);
    } else if constexpr (kPacket > 1) {
#pragma unroll
      for (int j = 0; j < 2; j++) {
#pragma unroll
        for (int i = 0; i < kPacket; i += 2)
          Pair::apply(cos[j][i], sin[j][i], cos[j][i + 1], sin[j][i + 1], v[j][i], v[j][i + 1]);
      }
    }
  }
};

// The sums of slots, in shared memory: slot s of the tree adds s, s + kTreeSlots, ... in turn.
class TreeSlots {
  float* slots_;
  float* exchange_;
  int count_, threads_;  // powers of two

 public:
  static constexpr size_t bytes(int count, int threads) {
    return (count + threads) * sizeof(float);
  }

  __device__ __forceinline__ TreeSlots(float* shared, int count, int threads)
      : slots_(shared), exchange_(shared + count), count_(count), threads_(threads) {}

  template <class Combine>
  __device__ __forceinline__ void clear() {
    for (int s = static_cast<int>(threadIdx.x); s < count_; s += threads_)
      slots_[s] = Combine::kIdentity;
  }
  // Of a slot that belongs to this thread: its number modulo the threads.
  template <class Combine>
  __device__ __forceinline__ void add(int64_t slot, float value) {
    float& own = slots_[slot & (count_ - 1)];
    own = Combine::combine(own, value);
  }
  template <class Combine>
  __device__ __forceinline__ float combine() {
    for (int half = count_ / 2; half >= threads_; half /= 2)
      for (int s = static_cast<int>(threadIdx.x); s < half; s += threads_)
        slots_[s] = Combine::combine(slots_[s], slots_[s + half]);
    const float all = combine_row<Combine>(slots_[threadIdx.x], threads_, exchange_);
    __syncthreads();  // before the exchange is used again
    return all;
  }
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
