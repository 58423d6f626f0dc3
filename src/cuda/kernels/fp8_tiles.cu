// SPDX-License-Identifier: MIT
// src/cuda/kernels/fp8_tiles.cu: starts the kernels of fp8_tiles.cuh.
#include "cuda/kernels/fp8_launch.cuh"
#include "cuda/kernels/fp8_tiles.cuh"
#include "cuda/launch/launch.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

__global__ void __launch_bounds__(256) clear_kernel(uint32_t* words, int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) words[i] = 0;
}

// At least one: scales of an empty matrix are written too.
unsigned tiles(int64_t rows, int64_t cols) {
  const int64_t down = (rows + kTile - 1) / kTile, across = (cols + kTile - 1) / kTile;
  return static_cast<unsigned>((down > 0 ? down : 1) * (across > 0 ? across : 1));
}

// Loads and stores use the same bytes, one after the other.
template <class T>
size_t shared_bytes(bool vector_loads, Fp8Stores stores) {
  const size_t stage = vector_loads ? 0 : kStageBytes<T>;
  const size_t codes = stores == Fp8Stores::kDown ? kTileBytes : 0;
  return stage > codes ? stage : codes;
}

template <class X, class Q, Fp8Lines kLines>
cudaError_t start(const Fp8QuantizeArgs& args, const Fp8TilesPlan& plan, Stream stream) {
  Fp8TilesPlan of_part = plan;
  return for_batches(args, [&](const Fp8QuantizeArgs& part) {
    LaunchShape shape;
    shape.grid = {tiles(part.rows, part.cols), static_cast<unsigned>(part.batch), 1};
    shape.block = kTileThreads;
    shape.shared_bytes = kCodesAt + shared_bytes<X>(plan.vector_loads, plan.stores);
    shape.stream = stream;
    const cudaError_t code = launch(quantize_tiles_kernel<X, Q, kLines>, shape, part, of_part);
    of_part.tops += part.batch * plan.tops_of_matrix;
    return code;
  });
}

}  // namespace

cudaError_t fp8_quantize_tiles(const Fp8QuantizeArgs& args, const Fp8TilesPlan& plan,
                               Stream stream) {
  return for_types(args, [&]<class X, class Q>(X, Q) {
    switch (plan.lines) {
      case Fp8Lines::kOne: return start<X, Q, Fp8Lines::kOne>(args, plan, stream);
      case Fp8Lines::kRows: return start<X, Q, Fp8Lines::kRows>(args, plan, stream);
      default: return start<X, Q, Fp8Lines::kColumns>(args, plan, stream);
    }
  });
}

cudaError_t fp8_clear(uint32_t* words, int64_t count, Stream stream) {
  LaunchShape shape;
  shape.block = 256;
  shape.grid = static_cast<unsigned>((count + 255) / 256);
  shape.stream = stream;
  return launch(clear_kernel, shape, words, count);
}

cudaError_t fp8_copy_tiles(const Fp8CopyArgs& args, Fp8Stores stores, bool vector_loads,
                           Stream stream) {
  const auto advance = [](Fp8CopyArgs& part, int64_t count) {
    part.from += count * part.from_strides.batch;
    part.to += count * part.to_strides.batch;
  };
  return for_batches(args, advance, [&](const Fp8CopyArgs& part) {
    LaunchShape shape;
    shape.grid = {tiles(part.rows, part.cols), static_cast<unsigned>(part.batch), 1};
    shape.block = kTileThreads;
    shape.shared_bytes = shared_bytes<f8e4m3>(vector_loads, stores);
    shape.stream = stream;
    return launch(copy_tiles_kernel, shape, part, stores, vector_loads);
  });
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
