// SPDX-License-Identifier: MIT
// src/cuda/kernels/norm_rope_backward.cu: gradients of rmsnorm_rope, for regular and for any rows.
#include "cuda/kernels/norm_rope_backward.cuh"
#include "cuda/kernels/row_any.cuh"
#include "cuda/kernels/rows.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

// ---- any dtype, stride and alignment: as norm_rope_any.cu; dw is added up in the workspace ----

template <int kPacket>
class AnyBackward {
  using Slots = AnySlots<kPacket>;
  using Slot = typename Slots::Slot;
  const NormRopeBackwardAnyParams& p_;
  const Slots& slots_;
  const AnyAngles<kPacket, NormRopeBackwardAnyParams> angles_;
  int64_t x_, weight_, dy_, dx_;

 public:
  struct Values {
    float g[2][kPacket], x[2][kPacket], w[2][kPacket];
  };

  __device__ __forceinline__ AnyBackward(const NormRopeBackwardAnyParams& p, const Slots& slots,
                                         int64_t row)
      : p_(p), slots_(slots), angles_(p, row) {
    x_ = row_start(p.outer, p.x, row);
    weight_ = row_start(p.outer, p.weight, row);
    dy_ = row_start(p.outer, p.dy, row);
    dx_ = row_start(p.outer, p.dx, row);
  }

  __device__ __forceinline__ void read_slot(const Slot& slot, Values& v) const {
#pragma unroll
    for (int j = 0; j < 2; j++) {
      if (j >= slots_.packets()) continue;
      read<kPacket>(p_.dy, dy_ + slots_.offset(p_.dy, slot, j), slot.count, v.g[j]);
      read<kPacket>(p_.x, x_ + slots_.offset(p_.x, slot, j), slot.count, v.x[j]);
      read<kPacket>(p_.weight, weight_ + slots_.offset(p_.weight, slot, j), slot.count, v.w[j]);
    }
    if (slots_.is_turned) angles_.template turn<UnturnPair>(slots_, slot.in_head, v.g);
  }

  __device__ __forceinline__ void write_slot(const Slot& slot, const Values& v,
                                             const RowGradient& gradient, float* parts) const {
#pragma unroll
    for (int j = 0; j < 2; j++) {
      if (j >= slots_.packets()) continue;
      float dx[kPacket];
#pragma unroll
      for (int i = 0; i < kPacket; i++) dx[i] = gradient.dx(v.g[j][i], v.w[j][i], v.x[j][i]);
      write<kPacket>(p_.dx, dx_ + slots_.offset(p_.dx, slot, j), slot.count, dx);
      float* part = parts + slot.head * p_.cut.head_dim + slot.in_head + j * slots_.apart;
#pragma unroll
      for (int i = 0; i < kPacket; i++)
        if (i < slot.count) part[i] = gradient.add_dw(part[i], v.g[j][i], v.x[j][i]);
    }
  }
};

template <int kPacket>
__global__ void __launch_bounds__(kMostRowThreads, 1)
    norm_rope_backward_any_kernel(const NormRopeBackwardAnyParams p) {
  float* shared = shared_memory<float>();
  TreeSlots squares(shared, p.tree, p.threads), dots(shared, p.tree, p.threads);
  const AnySlots<kPacket> slots(p, p.turn);
  const int64_t count = p.cut.slots();
  float* parts = p.parts + int64_t{blockIdx.x} * p.cols;
  for (int64_t i = threadIdx.x; i < p.cols; i += p.threads) parts[i] = 0;
  __syncthreads();
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const AnyBackward<kPacket> work(p, slots, row);
    typename AnyBackward<kPacket>::Values v;
    auto sum = [&](TreeSlots& tree, bool is_dot) {
      tree.clear<Sum>();
      for (int64_t s = threadIdx.x; s < count; s += p.threads) {
        const auto slot = slots.find(s);
        if (slot.count == 0) continue;
        work.read_slot(slot, v);
        float sums[2] = {0, 0};
        for (int j = 0; j < slots.packets(); j++) {
#pragma unroll
          for (int i = 0; i < kPacket; i++)
            sums[j] = is_dot ? fmaf(v.g[j][i] * v.w[j][i], v.x[j][i], sums[j])
                             : fmaf(v.x[j][i], v.x[j][i], sums[j]);
        }
        tree.add<Sum>(s, slots.is_turned ? sums[0] + sums[1] : sums[0]);
      }
      return tree.combine<Sum>();
    };
    const float square = sum(squares, false), dot = sum(dots, true);
    const RowGradient gradient(square, dot, p.inverse_cols, p.eps);
    for (int64_t s = threadIdx.x; s < count; s += p.threads) {
      const auto slot = slots.find(s);
      if (slot.count == 0) continue;
      work.read_slot(slot, v);
      work.write_slot(slot, v, gradient, parts);
    }
  }
}

// ---- the parts of dw ----

// A block adds 32 columns: 8 threads of four columns each, 32 chains of every 32nd part.
constexpr int kChains = 32, kColumns = 32, kPerThread = 4;

struct PartsParams {
  const float* parts;
  int64_t groups, cols;
  AnyOperand dw;
};

__global__ void __launch_bounds__(kChains* kColumns / kPerThread, 1)
    add_parts_kernel(const PartsParams p) {
  float* sums = shared_memory<float>();
  const int across = static_cast<int>(threadIdx.x) % (kColumns / kPerThread);
  const int chain = static_cast<int>(threadIdx.x) / (kColumns / kPerThread);
  const int64_t column = int64_t{blockIdx.x} * kColumns + across * kPerThread;
  float own[kPerThread] = {};
  for (int64_t g = chain; g < p.groups; g += kChains) {
#pragma unroll
    for (int i = 0; i < kPerThread; i++)
      if (column + i < p.cols) own[i] += p.parts[g * p.cols + column + i];
  }
#pragma unroll
  for (int i = 0; i < kPerThread; i++) sums[chain * kColumns + across * kPerThread + i] = own[i];
  for (int half = kChains / 2; half > 0; half /= 2) {
    __syncthreads();
    if (chain >= half) continue;
#pragma unroll
    for (int i = 0; i < kPerThread; i++) {
      const int at = chain * kColumns + across * kPerThread + i;
      sums[at] += sums[at + half * kColumns];
    }
  }
  if (chain != 0) return;
#pragma unroll
  for (int i = 0; i < kPerThread; i++)
    if (column + i < p.cols)
      write<1>(p.dw, (column + i) * p.dw.step, 1, sums + across * kPerThread + i);
}

template <class T, Turn kTurn, int kItems>
cudaError_t launch_rows(const NormRopeBackwardParams& p, LaunchShape shape) {
  constexpr int kFloats =
      BackwardRows<T, kTurn, kItems>::kDwFloats + 4;  // two exchanges of two sums
  shape.shared_bytes = shape.block.x * kFloats * sizeof(float);
  return launch(norm_rope_backward_kernel<T, kTurn, kItems>, shape, p);
}

template <class T, Turn kTurn>
cudaError_t launch_items(int items, const NormRopeBackwardParams& p, const LaunchShape& shape) {
  return items <= 1 ? launch_rows<T, kTurn, 1>(p, shape) : launch_rows<T, kTurn, 2>(p, shape);
}

template <class T>
cudaError_t launch_typed(Turn turn, int items, const NormRopeBackwardParams& p,
                         const LaunchShape& shape) {
  if (turn == Turn::kHalf) return launch_items<T, Turn::kHalf>(items, p, shape);
  if (turn == Turn::kInterleaved) return launch_items<T, Turn::kInterleaved>(items, p, shape);
  return launch_items<T, Turn::kNone>(items, p, shape);
}

cudaError_t launch_regular(const NormRopeBackwardArgs& args, int items,
                           const NormRopeBackwardParams& p, Stream stream) {
  const LaunchShape shape{.grid = static_cast<unsigned>(backward_groups(args)),
                          .block = p.steps.thread_mask + 1,
                          .stream = stream};
  if (args.x.dtype == DType::kBF16) return launch_typed<bf16>(args.turn, items, p, shape);
  if (args.x.dtype == DType::kF16) return launch_typed<f16>(args.turn, items, p, shape);
  return launch_typed<f32>(args.turn, items, p, shape);
}

cudaError_t launch_any(const NormRopeBackwardArgs& args, Stream stream) {
  const NormRopeBackwardAnyParams p = make_any_params(args);
  const LaunchShape shape{.grid = static_cast<unsigned>(backward_groups(args)),
                          .block = static_cast<unsigned>(p.threads),
                          .shared_bytes = TreeSlots::bytes(p.tree, p.threads),
                          .stream = stream};
  if (p.cut.packet == 8) return launch(norm_rope_backward_any_kernel<8>, shape, p);
  if (p.cut.packet == 4) return launch(norm_rope_backward_any_kernel<4>, shape, p);
  return launch(norm_rope_backward_any_kernel<1>, shape, p);
}

}  // namespace

cudaError_t norm_rope_backward(const NormRopeBackwardArgs& args, Stream stream) {
  if (args.cols == 0) return cudaSuccess;
  const int groups = backward_groups(args);
  if (groups > 0) {
    NormRopeBackwardParams p;
    int items = 0;
    const cudaError_t code = make_params(args, p, items) ? launch_regular(args, items, p, stream)
                                                         : launch_any(args, stream);
    if (code != cudaSuccess) return code;
  }
  return launch(add_parts_kernel,
                {.grid = static_cast<unsigned>((args.cols + kColumns - 1) / kColumns),
                 .block = kChains * kColumns / kPerThread,
                 .shared_bytes = kChains * kColumns * sizeof(float),
                 .stream = stream},
                PartsParams{args.parts, groups, args.cols, AnyOperand{args.dw, false}});
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
