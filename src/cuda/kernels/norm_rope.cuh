// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope.cuh: norm and rotary embedding of rows that are held in registers.
//
// Work: a row belongs to 2^n threads of one block, small rows share a block. A thread holds up to
// kItems slots (config/rows.h): 16-byte packets, or pairs of packets that turn together, so that
// nothing is exchanged but the sum. One launch; every element is read once and written once.
// Registers: the row as it lies in memory (4 a packet), as many for the weights, 16 for the
// thread's piece of cos and sin, which all its slots share. Results replace x word by word, so that
// no more than two neighbours are ever f32. Latency: every load of a row (x, residual, weights,
// tables) is issued before the first use, and other rows of the multiprocessor load while this one
// sums (blocks that stay and load their next row ahead are slower by a tenth: fewer rows are on
// their way; by 2 to 10 % where bulk copies bring rows to shared memory, which are slower copies
// altogether). Bound: bytes of x and out (residual and sum) over the copy bandwidth; weights and
// tables come from L1 and L2. Order of the sum: fused multiply-adds along a packet, the packets of
// a slot, then the tree of device/reduce.cuh over slots. No atomics.
#pragma once

#include "cuda/kernels/row_angles.cuh"
#include "cuda/kernels/row_slots.cuh"
#include "cuda/launch/launch.cuh"
#include "cuda/ptx/grid.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// What is decided when a kernel is compiled.
enum NormRopeFlag : unsigned {
  kNorm = 1,
  kResidual = 2,
  kRounds = 4,  // NormRopeParams::before_weight or round_between
  kFp8 = 8,
  kEither = 16,  // half or interleaved, as NormRopeParams::interleaved says
};

template <Turn kTurnOf, int kSlots, unsigned kFlags>
struct NormRopePlan {
  static constexpr Turn turn = kTurnOf;
  static constexpr int items = kSlots;  // of a thread
  static constexpr int packets = kTurnOf == Turn::kNone ? 1 : 2;
  static constexpr bool norm = kFlags & kNorm;
  static constexpr bool residual = kFlags & kResidual;
  static constexpr bool rounds = kFlags & kRounds;
  static constexpr bool fp8 = kFlags & kFp8;
  static constexpr bool either = kFlags & kEither;
};

template <class T>
__device__ __forceinline__ void round_two(float* two) {
  if constexpr (!kSame<T, f32>) widen_pair<T>(narrow_pair<T, true>(two[0], two[1]), two);
}

// The largest finite magnitude.
__device__ __forceinline__ float finite_magnitude(float x) {
  const float magnitude = fabsf(x);
  return magnitude < __builtin_inff() ? magnitude : 0.0f;
}

// x / scale, by a reciprocal, which overflows where the scale is very small: hence the way round.
struct RowScale {
  float scale, up, inverse;
  __device__ __forceinline__ RowScale(float top, float largest) {
    const float ratio = top / largest;
    scale = ratio > 0.0f ? ratio : 1.0f;
    up = scale < 0x1p-100f ? 0x1p100f : 1.0f;
    inverse = 1.0f / (scale * up);
  }
  __device__ __forceinline__ float operator()(float x) const { return x * up * inverse; }
};

template <class T, class W, class C, class Plan>
class NormRope {
  static constexpr int kPacket = kPerVector<T>;
  static constexpr int kPackets = Plan::packets;
  static constexpr int kItems = Plan::items;
  using Packets = SlotPackets<T, kPacket, kItems, kPackets>;

  const NormRopeParams& p_;
  const ThreadSlots& slots_;
  SlotPackets<W, kPacket, kItems, kPackets> weights_;

 public:
  __device__ __forceinline__ NormRope(const NormRopeParams& p, const ThreadSlots& slots)
      : p_(p), slots_(slots) {}

  __device__ __forceinline__ void load_weights() {
    if constexpr (Plan::norm)
      weights_.template load_from<Touch::kOften>(in_row<const W>(p_.weight, 0, slots_.first),
                                                 slots_);
  }

  __device__ __forceinline__ void load_row(Packets& x, const RowPlace& place) const {
    x.template load_from<kStreamed>(in_row<const T>(p_.x, place(p_.x_pitch), slots_.first), slots_);
  }

  __device__ __forceinline__ void load_residual(Packets& residual, const RowPlace& place) const {
    residual.template load_from<kStreamed>(
        in_row<const T>(p_.residual, place(p_.residual_pitch), slots_.first), slots_);
  }

  // x becomes the sum as it is stored.
  __device__ __forceinline__ void add_residual(Packets& x, const Packets& residual,
                                               const RowPlace& place, bool is_row) const {
#pragma unroll
    for (int k = 0; k < kItems; k++) {
#pragma unroll
      for (int j = 0; j < kPackets; j++) {
#pragma unroll
        for (int i = 0; i < kPacket; i += 2) {
          float a[2], b[2];
          widen_two(x.at[k][j], i, a);
          widen_two(residual.at[k][j], i, b);
          const float sum[2] = {a[0] + b[0], a[1] + b[1]};
          narrow_two<true>(x.at[k][j], i, sum);
        }
      }
    }
    if (is_row)
      x.template store_to<kStreamed>(in_row<T>(p_.sum, place(p_.sum_pitch), slots_.first), slots_);
  }

  __device__ __forceinline__ float inverse_rms(Packets& x, float* exchange) {
    float sums[kItems];
#pragma unroll
    for (int k = 0; k < kItems; k++) {
      sums[k] = 0;
#pragma unroll
      for (int j = 0; j < kPackets; j++) {
        float values[kPacket];
        widen(x.at[k][j], values);
        const float sum = sum_squares<kPacket>(values);
        sums[k] = j == 0 ? sum : sums[k] + sum;
      }
    }
    const float own = combine_slots<Sum, kItems>(sums);
    const float sum = combine_row<Sum>(own, static_cast<int>(p_.steps.thread_mask) + 1, exchange);
    keep_narrow(x, p_.zero);
    return inverse_root(sum, p_.inverse_cols, p_.eps);
  }

  // Every load of the row is issued before x is used; the compiler would let weights and tables
  // wait for the first sums.
  __device__ __forceinline__ void issue_loads(Packets& x, const Angles<C, kPacket>& angles) const {
    uint32_t all = Plan::norm ? fold(weights_) : 0;
    if constexpr (Plan::turn != Turn::kNone)
      all |= angles.cos[0].words[0] | angles.cos[1].words[0] | angles.sin[0].words[0] |
             angles.sin[1].words[0];
#pragma unroll
    for (int k = 0; k < kItems; k++) {
#pragma unroll
      for (int j = 0; j < kPackets; j++) x.at[k][j].words[0] ^= all & p_.zero;
    }
  }

  // Elements i and i + 1 of the packets of slot k.
  __device__ __forceinline__ void finish_two(const Packets& x, int k, int i, float r,
                                             const Angles<C, kPacket>& angles,
                                             float (*v)[2]) const {
#pragma unroll
    for (int j = 0; j < kPackets; j++) {
      widen_two(x.at[k][j], i, v[j]);
      if constexpr (Plan::norm) {
        float w[2];
        widen_two(weights_.at[k][j], i, w);
        v[j][0] *= r, v[j][1] *= r;
        if (Plan::rounds && p_.before_weight) round_two<T>(v[j]);
        v[j][0] *= w[0], v[j][1] *= w[1];
        if (Plan::rounds && p_.round_between) round_two<T>(v[j]);
      }
    }
    if constexpr (Plan::either) {
      turn_two_either(angles, i, p_.interleaved, v);
    } else if constexpr (Plan::turn != Turn::kNone) {
      turn_two<Plan::turn>(angles, i, v);
    }
  }

  __device__ __forceinline__ void finish(Packets& x, float r, const Angles<C, kPacket>& angles,
                                         const RowPlace& place, bool is_row) const {
#pragma unroll
    for (int i = 0; i < kPacket; i += 2) {
#pragma unroll
      for (int k = 0; k < kItems; k++) {
        float v[2][2];
        finish_two(x, k, i, r, angles, v);
#pragma unroll
        for (int j = 0; j < kPackets; j++) narrow_two(x.at[k][j], i, v[j]);
      }
    }
    if (is_row)
      x.template store_to<kStreamed>(in_row<T>(p_.out, place(p_.out_pitch), slots_.first), slots_);
  }

  // An 8-bit output needs the row's largest value before any of it can be stored: values wait as
  // f32.
  __device__ __forceinline__ void finish_fp8(const Packets& x, float r,
                                             const Angles<C, kPacket>& angles,
                                             const RowPlace& place, bool is_row, bool writes_scale,
                                             float* exchange) const {
    float values[kItems][kPackets][kPacket];
    float tops[kItems];
#pragma unroll
    for (int k = 0; k < kItems; k++) {
      tops[k] = 0;
#pragma unroll
      for (int i = 0; i < kPacket; i += 2) {
        float v[2][2];
        finish_two(x, k, i, r, angles, v);
#pragma unroll
        for (int j = 0; j < kPackets; j++) {
#pragma unroll
          for (int e = 0; e < 2; e++) {
            values[k][j][i + e] = v[j][e];
            // A slot that does not exist has x = 0 but may lie over angles that are no numbers.
            tops[k] = fmaxf(tops[k], slots_.has(k) ? finite_magnitude(v[j][e]) : 0.0f);
          }
        }
      }
    }
    const float own = combine_slots<Max, kItems>(tops);
    const float top = combine_row<Max>(own, static_cast<int>(p_.steps.thread_mask) + 1, exchange);
    if (p_.e5m2) {
      store_codes<f8e5m2>(values, top, place, is_row, writes_scale);
    } else {
      store_codes<f8e4m3>(values, top, place, is_row, writes_scale);
    }
  }

 private:
  template <class Code>
  __device__ __forceinline__ void store_codes(const float (&values)[kItems][kPackets][kPacket],
                                              float top, const RowPlace& place, bool is_row,
                                              bool writes_scale) const {
    const RowScale quantum(top, kLargest<Code>);
    SlotPackets<Code, kPacket, kItems, kPackets> codes;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
#pragma unroll
      for (int j = 0; j < kPackets; j++) {
#pragma unroll
        for (int i = 0; i < kPacket; i += 2) {
          const float two[2] = {quantum(values[k][j][i]), quantum(values[k][j][i + 1])};
          narrow_two<true>(codes.at[k][j], i, two);
        }
      }
    }
    if (!is_row) return;
    codes.template store_to<kStreamed>(in_row<Code>(p_.out, place(p_.out_pitch), slots_.first),
                                       slots_);
    if (writes_scale) *in_row<float>(p_.scale, place(p_.scale_pitch), 0) = quantum.scale;
  }
};

// What a thread holds while its loads are under way, and room for addresses and for two neighbours
// of each slot in f32. More would only let fewer rows reside; less lets loads wait for each other.
template <class T, class W, class C, class Plan>
inline constexpr int kRegisters = [] {
  constexpr int kPacket = kPerVector<T>;
  constexpr int kX = Packet<T, kPacket>::kWords * (1 + Plan::residual);
  constexpr int kWeight = Plan::norm ? Packet<W, kPacket>::kWords : 0;
  constexpr int kAngles = Plan::turn == Turn::kNone ? 0 : 4 * Packet<C, kPacket>::kWords;
  constexpr int kHeld = Plan::items * Plan::packets * (kX + kWeight) + kAngles;
  // 8-bit outputs wait as f32 when everything else is done.
  constexpr int kWaiting = Plan::fp8 ? Plan::items * Plan::packets * kPacket : 0;
  constexpr int kMost = kHeld > kWaiting ? kHeld : kWaiting;
  return (kMost + (Plan::items > 2 || kHeld > 48 || Plan::fp8 ? 32 : 24) + (Plan::rounds ? 8 : 0) +
          (Plan::either ? (Plan::rounds ? 16 : 8) : 0) + (!Plan::norm && Plan::items > 2 ? 8 : 0) +
          7) /
         8 * 8;
}();

template <class T, class W, class C, class Plan>
__global__ void __maxnreg__((kRegisters<T, W, C, Plan>)) norm_rope_kernel(const NormRopeParams p) {
  constexpr int kPacket = kPerVector<T>;
  using Packets = SlotPackets<T, kPacket, Plan::items, Plan::packets>;
  constexpr bool kTurns = Plan::turn != Turn::kNone;
  const uint32_t row = blockIdx.x * p.steps.rows_per_block + (threadIdx.x >> p.steps.thread_bits);
  const bool is_row = row < p.steps.rows;  // threads of a block stay together
  const RowPlace place = RowPlace::of(p.steps.inner, min(row, p.steps.rows - 1));
  const ThreadSlots slots(p.steps, threadIdx.x & p.steps.thread_mask);
  float* exchange = shared_memory<float>();
  NormRope<T, W, C, Plan> work(p, slots);

  // Blocks of the next launch come in where blocks of this one have ended.
  allow_next_kernel();
  wait_for_previous_kernel();
  const uint32_t position = kTurns ? load_position(p.tables, place) : 0;
  Packets x, residual;
  work.load_row(x, place);
  if constexpr (Plan::residual) work.load_residual(residual, place);
  work.load_weights();
  Angles<C, kPacket> angles;
  if constexpr (kTurns) angles.load_from(p.tables, place.outer, position, slots);
  work.issue_loads(x, angles);
  if constexpr (Plan::residual) work.add_residual(x, residual, place, is_row);
  const float r = Plan::norm ? work.inverse_rms(x, exchange) : 1.0f;
  if constexpr (Plan::fp8) {
    work.finish_fp8(x, r, angles, place, is_row, slots.first == 0, exchange + blockDim.x);
  } else {
    work.finish(x, r, angles, place, is_row);
  }
}

template <class T, class W, class C, class Plan>
cudaError_t launch_norm_rope(const NormRopeParams& p, Stream stream) {
  const uint32_t threads = (p.steps.thread_mask + 1) * p.steps.rows_per_block;
  return launch(norm_rope_kernel<T, W, C, Plan>,
                {.grid = p.blocks,
                 .block = threads,
                 .shared_bytes = 2 * threads * sizeof(float),
                 .overlaps = kCanOverlap,
                 .stream = stream},
                p);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
