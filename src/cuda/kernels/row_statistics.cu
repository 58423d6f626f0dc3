// SPDX-License-Identifier: MIT
// src/cuda/kernels/row_statistics.cu: layer_norm and softmax, for contiguous and for any rows.
#include "cuda/kernels/row_any.cuh"
#include "cuda/kernels/row_statistics.cuh"
#include "cuda/kernels/rows.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

template <class T, bool kSoftmax, int... kItems>
cudaError_t launch_items(int items, const RowStatisticsParams& p, Stream stream) {
  const uint32_t threads = (p.steps.thread_mask + 1) * p.steps.rows_per_block;
  const LaunchShape shape{.grid = p.blocks,
                          .block = threads,
                          .shared_bytes = 2 * threads * sizeof(float),
                          .stream = stream};
  cudaError_t code = cudaErrorInvalidConfiguration;
  const bool found =
      ((items <= kItems &&
        (code = launch(row_statistics_kernel<T, kItems, kSoftmax>, shape, p), true)) ||
       ...);
  return found ? code : cudaErrorInvalidConfiguration;
}

template <class T>
cudaError_t launch_typed(int items, const RowStatisticsParams& p, Stream stream) {
  if (p.softmax) return launch_items<T, true, 1, 2, 4, 8>(items, p, stream);
  return launch_items<T, false, 1, 2, 4>(items, p, stream);
}

// ---- any dtype, stride and alignment: a block a row, passes as in norm_rope_any.cu ----

template <int kPacket>
class AnyStatistics {
  const RowStatisticsAnyParams& p_;
  int64_t x_, weight_, bias_, out_;

 public:
  __device__ __forceinline__ AnyStatistics(const RowStatisticsAnyParams& p, int64_t row) : p_(p) {
    x_ = row_start(p.outer, p.x, row);
    weight_ = row_start(p.outer, p.weight, row);
    bias_ = row_start(p.outer, p.bias, row);
    out_ = row_start(p.outer, p.out, row);
  }

  // part(values, count) of each slot, combined.
  template <class Combine, class Part>
  __device__ __forceinline__ float combine(TreeSlots& tree, Part part) const {
    tree.template clear<Combine>();
    for (int64_t s = threadIdx.x; s < p_.cut.slots(); s += p_.threads) {
      float values[kPacket];
      const int count = elements(s);
      read<kPacket>(p_.x, x_ + s * kPacket * p_.x.step, count, values);
      tree.template add<Combine>(s, part(values, count));
    }
    return tree.template combine<Combine>();
  }

  __device__ __forceinline__ void softmax(TreeSlots& tree) const {
    const float top = combine<Max>(tree, [](const float* v, int count) {
      float most = v[0];
#pragma unroll
      for (int i = 1; i < kPacket; i++)
        if (i < count) most = Max::combine(most, v[i]);
      return most;
    });
    const float sum = combine<Sum>(tree, [&](const float* v, int count) {
      float e[kPacket];
#pragma unroll
      for (int i = 0; i < kPacket; i++) e[i] = i < count ? exponential_below(v[i], top) : 0.0f;
      return sum_values<kPacket>(e);
    });
    const float inverse = 1.0f / sum;
    write_each([&](int64_t, int, float* v) {
#pragma unroll
      for (int i = 0; i < kPacket; i++) v[i] = exponential_below(v[i], top) * inverse;
    });
  }

  __device__ __forceinline__ void layer_norm(TreeSlots& tree) const {
    const float mean =
        combine<Sum>(tree, [](const float* v, int) { return sum_values<kPacket>(v); }) /
        static_cast<float>(p_.cols);
    const float squares = combine<Sum>(tree, [&](const float* v, int count) {
      float d[kPacket];
#pragma unroll
      for (int i = 0; i < kPacket; i++) d[i] = i < count ? v[i] - mean : 0.0f;
      return sum_squares<kPacket>(d);
    });
    const float r = inverse_root(squares, p_.inverse_cols, p_.eps);
    write_each([&](int64_t s, int count, float* v) {
      float w[kPacket], b[kPacket];
      read<kPacket>(p_.weight, weight_ + s * kPacket * p_.weight.step, count, w);
      read<kPacket>(p_.bias, bias_ + s * kPacket * p_.bias.step, count, b);
#pragma unroll
      for (int i = 0; i < kPacket; i++) v[i] = (v[i] - mean) * r;
      if (p_.before_weight) round_to_type<kPacket>(p_.x.dtype, v);
#pragma unroll
      for (int i = 0; i < kPacket; i++) v[i] = fmaf(v[i], w[i], b[i]);
    });
  }

 private:
  __device__ __forceinline__ int elements(int64_t slot) const {
    const int64_t left = p_.cols - slot * kPacket;
    return left < kPacket ? static_cast<int>(left) : kPacket;
  }

  template <class Each>
  __device__ __forceinline__ void write_each(Each each) const {
    for (int64_t s = threadIdx.x; s < p_.cut.slots(); s += p_.threads) {
      float values[kPacket];
      const int count = elements(s);
      read<kPacket>(p_.x, x_ + s * kPacket * p_.x.step, count, values);
      each(s, count, values);
      write<kPacket>(p_.out, out_ + s * kPacket * p_.out.step, count, values);
    }
  }
};

template <int kPacket>
__global__ void __launch_bounds__(kMostRowThreads, 1)
    row_statistics_any_kernel(const RowStatisticsAnyParams p) {
  TreeSlots tree(shared_memory<float>(), p.tree, p.threads);
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const AnyStatistics<kPacket> work(p, row);
    if (p.softmax) {
      work.softmax(tree);
    } else {
      work.layer_norm(tree);
    }
  }
}

cudaError_t launch_any(const RowStatisticsAnyParams& p, Stream stream) {
  const LaunchShape shape{.grid = any_row_blocks(p.rows),
                          .block = static_cast<unsigned>(p.threads),
                          .shared_bytes = TreeSlots::bytes(p.tree, p.threads),
                          .stream = stream};
  if (p.cut.packet == 8) return launch(row_statistics_any_kernel<8>, shape, p);
  return launch(row_statistics_any_kernel<4>, shape, p);
}

}  // namespace

cudaError_t row_statistics(const RowStatisticsArgs& args, const RowConfig& config, Stream stream) {
  const RowStatisticsAnyParams any = make_any_params(args);
  if (any.rows == 0 || any.cols == 0) return cudaSuccess;
  RowStatisticsParams p;
  int items = 0;
  if (!make_params(args, config, p, items)) return launch_any(any, stream);
  if (args.x.dtype == DType::kBF16) return launch_typed<bf16>(items, p, stream);
  if (args.x.dtype == DType::kF16) return launch_typed<f16>(items, p, stream);
  return launch_typed<f32>(items, p, stream);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
