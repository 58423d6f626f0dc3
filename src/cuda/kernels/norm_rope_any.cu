// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope_any.cu: norm and rotary embedding of rows of any dtype and layout.
//
// Work: a block a row, a thread a slot at a time (row_any.cuh). Passes over the row: the sum of
// squares, the largest value where the output is 8-bit, the output. A thread reads and writes the
// same slots in every pass, so that outputs may lie where inputs did. Shared memory: one f32 a slot
// of the tree. Bound: as norm_rope.cuh, with the second pass from L1 or L2; element by element
// where packets are not aligned.
#include "cuda/kernels/norm_rope_choose.cuh"
#include "cuda/kernels/row_any.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

template <int kPacket>
class AnyRow {
  using Slots = AnySlots<kPacket>;
  using Slot = typename Slots::Slot;
  const NormRopeAnyParams& p_;
  const Slots& slots_;
  const AnyAngles<kPacket, NormRopeAnyParams> angles_;
  int64_t x_, residual_, weight_, out_, sum_;

 public:
  __device__ __forceinline__ AnyRow(const NormRopeAnyParams& p, const Slots& slots, int64_t row)
      : p_(p), slots_(slots), angles_(p, row) {
    x_ = row_start(p.outer, p.x, row);
    residual_ = row_start(p.outer, p.residual, row);
    weight_ = row_start(p.outer, p.weight, row);
    out_ = row_start(p.outer, p.out, row);
    sum_ = row_start(p.outer, p.sum, row);
  }

  // x, or the sum as it is stored.
  __device__ __forceinline__ void read_input(const Slot& slot, int j, float* values) const {
    read<kPacket>(p_.x, x_ + slots_.offset(p_.x, slot, j), slot.count, values);
    if (!p_.residual.present) return;
    float other[kPacket];
    read<kPacket>(p_.residual, residual_ + slots_.offset(p_.residual, slot, j), slot.count, other);
#pragma unroll
    for (int i = 0; i < kPacket; i++) values[i] += other[i];
    round_to_type<kPacket>(p_.sum.dtype, values);
  }

  // The two packets of a slot (one where nothing is turned): normed and turned.
  __device__ __forceinline__ void compute(const Slot& slot, float r, float (*v)[kPacket],
                                          bool writes_sum) const {
#pragma unroll
    for (int j = 0; j < 2; j++) {
      if (j >= slots_.packets()) continue;
      read_input(slot, j, v[j]);
      if (writes_sum && p_.sum.present)
        write<kPacket>(p_.sum, sum_ + slots_.offset(p_.sum, slot, j), slot.count, v[j]);
      if (p_.norm) weigh(slot, j, r, v[j]);
    }
    if (slots_.is_turned) angles_.template turn<TurnPair>(slots_, slot.in_head, v);
  }

  __device__ __forceinline__ void write_out(const Slot& slot, int j, const float* values) const {
    write<kPacket>(p_.out, out_ + slots_.offset(p_.out, slot, j), slot.count, values);
  }

 private:
  __device__ __forceinline__ void weigh(const Slot& slot, int j, float r, float* v) const {
    float w[kPacket];
    read<kPacket>(p_.weight, weight_ + slots_.offset(p_.weight, slot, j), slot.count, w);
#pragma unroll
    for (int i = 0; i < kPacket; i++) v[i] *= r;
    if (p_.before_weight) round_to_type<kPacket>(p_.x.dtype, v);
#pragma unroll
    for (int i = 0; i < kPacket; i++) v[i] *= w[i];
    if (p_.round_between) round_to_type<kPacket>(p_.x.dtype, v);
  }
};

template <int kPacket>
__global__ void __launch_bounds__(kMostRowThreads, 1)
    norm_rope_any_kernel(const NormRopeAnyParams p) {
  TreeSlots tree(shared_memory<float>(), p.tree, p.threads);
  const AnySlots<kPacket> slots(p, p.turn);
  const int64_t count = p.cut.slots();
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const AnyRow<kPacket> work(p, slots, row);
    float r = 1.0f;
    if (p.norm) {
      tree.clear<Sum>();
      for (int64_t s = threadIdx.x; s < count; s += p.threads) {
        const auto slot = slots.find(s);
        if (slot.count == 0) continue;
        float sum = 0;
#pragma unroll
        for (int j = 0; j < 2; j++) {
          if (j >= slots.packets()) continue;
          float values[kPacket];
          work.read_input(slot, j, values);
          const float squares = sum_squares<kPacket>(values);
          sum = j == 0 ? squares : sum + squares;
        }
        tree.add<Sum>(s, sum);
      }
      r = inverse_root(tree.combine<Sum>(), p.inverse_cols, p.eps);
    }
    RowScale quantum(0.0f, 1.0f);
    if (p.scale.present) {
      tree.clear<Max>();
      for (int64_t s = threadIdx.x; s < count; s += p.threads) {
        const auto slot = slots.find(s);
        if (slot.count == 0) continue;
        float v[2][kPacket], top = 0;
        work.compute(slot, r, v, false);
        for (int j = 0; j < slots.packets(); j++)
#pragma unroll
          for (int i = 0; i < kPacket; i++) top = fmaxf(top, finite_magnitude(v[j][i]));
        tree.add<Max>(s, top);
      }
      const float top = tree.combine<Max>();
      quantum = RowScale(top, p.out.dtype == DType::kF8E4M3 ? kLargest<f8e4m3> : kLargest<f8e5m2>);
      if (threadIdx.x == 0)
        static_cast<float*>(p.scale.data)[row_start(p.outer, p.scale, row)] = quantum.scale;
    }
    for (int64_t s = threadIdx.x; s < count; s += p.threads) {
      const auto slot = slots.find(s);
      if (slot.count == 0) continue;
      float v[2][kPacket];
      work.compute(slot, r, v, true);
#pragma unroll
      for (int j = 0; j < 2; j++) {
        if (j >= slots.packets()) continue;
        if (p.scale.present) {
#pragma unroll
          for (int i = 0; i < kPacket; i++) v[j][i] = quantum(v[j][i]);
        }
        work.write_out(slot, j, v[j]);
      }
    }
  }
}

}  // namespace

cudaError_t norm_rope_any(const NormRopeAnyParams& p, Stream stream) {
  const LaunchShape shape{.grid = any_row_blocks(p.rows),
                          .block = static_cast<unsigned>(p.threads),
                          .shared_bytes = TreeSlots::bytes(p.tree, p.threads),
                          .stream = stream};
  if (p.cut.packet == 8) return launch(norm_rope_any_kernel<8>, shape, p);
  if (p.cut.packet == 4) return launch(norm_rope_any_kernel<4>, shape, p);
  return launch(norm_rope_any_kernel<1>, shape, p);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
