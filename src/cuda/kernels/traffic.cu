// SPDX-License-Identifier: MIT
// src/cuda/kernels/traffic.cu: a copy and a read of memory, for the roofs of the benchmarks.
//
// Work: a step is kVectors * blockDim vectors of 16 bytes; in a step a thread has kVectors loads in
// flight, blockDim vectors apart, so that a warp's load is 512 contiguous bytes. Blocks take a step
// each, or, where their number is given, step on together (copy) or each through a slice of its own
// (read). Registers: 4 a vector. Bound: the memory's bandwidth, which these kernels define.
// Order: words are added modulo 2^32, which has none.
#include "cuda/device/reduce.cuh"
#include "cuda/launch/launch.cuh"
#include "cuda/launch/tables.h"
#include "cuda/launch/traffic.h"
#include "cuda/ptx/memory.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

struct Vector {
  uint32_t words[4];
};

template <Touch kTouch, int kVectors>
__device__ __forceinline__ void load_step(Vector (&v)[kVectors], const Vector* from, size_t first,
                                          size_t end) {
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    const size_t at = first + k * blockDim.x;
    v[k] = {};
    if (at < end) load_words<16, kTouch>(from + at, v[k].words);
  }
}

template <Touch kTouch, int kVectors>
__global__ void __launch_bounds__(1024)
    copy_kernel(const Vector* from, Vector* to, size_t vectors, size_t bytes) {
  const size_t step = size_t{kVectors} * blockDim.x;
  for (size_t block = blockIdx.x * step; block < vectors; block += gridDim.x * step) {
    const size_t first = block + threadIdx.x;
    Vector v[kVectors];
    load_step<kTouch>(v, from, first, vectors);
#pragma unroll
    for (int k = 0; k < kVectors; k++) {
      const size_t at = first + k * blockDim.x;
      if (at < vectors) store_words<16, kTouch>(to + at, v[k].words);
    }
  }
  const size_t tail = vectors * sizeof(Vector) + threadIdx.x;  // fewer bytes than threads
  if (blockIdx.x == 0 && tail < bytes)
    reinterpret_cast<char*>(to)[tail] = reinterpret_cast<const char*>(from)[tail];
}

// Words of 16-byte vectors [first, end) of this block; the last block adds the words behind them.
template <Touch kTouch, int kVectors>
__global__ void __launch_bounds__(1024)
    read_kernel(const Vector* from, uint32_t* sums, size_t vectors, size_t slice, size_t bytes) {
  const size_t begin = blockIdx.x * slice, end = min(begin + slice, vectors);
  uint32_t sum = 0;
  for (size_t first = begin + threadIdx.x; first < end; first += size_t{kVectors} * blockDim.x) {
    Vector v[kVectors];
    load_step<kTouch>(v, from, first, end);
#pragma unroll
    for (int k = 0; k < kVectors; k++)
      sum += v[k].words[0] + v[k].words[1] + v[k].words[2] + v[k].words[3];
  }
  const size_t tail = vectors * sizeof(Vector) + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && tail < bytes)
    sum += static_cast<uint32_t>(reinterpret_cast<const unsigned char*>(from)[tail])
           << (tail % 4 * 8);
#pragma unroll
  for (int apart = kWarp / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(kAllLanes, sum, apart);
  uint32_t* warps = shared_memory<uint32_t>();
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = sum;
  __syncthreads();
  if (threadIdx.x != 0 || !sums) return;
  for (unsigned w = 1; w < blockDim.x / kWarp; w++) sum += warps[w];
  sums[blockIdx.x] = sum;
}

bool is_possible(const TrafficConfig& c) {
  return c.threads >= kWarp && c.threads <= 1024 && c.threads % kWarp == 0 && c.blocks >= 0;
}

template <Touch kTouch, int kVectors>
cudaError_t copy_with(const void* from, void* to, size_t bytes, const TrafficConfig& c,
                      Stream stream) {
  const size_t vectors = bytes / sizeof(Vector), step = size_t{kVectors} * c.threads;
  const size_t blocks = c.blocks > 0 ? c.blocks : max((vectors + step - 1) / step, size_t{1});
  return launch(copy_kernel<kTouch, kVectors>,
                {.grid = static_cast<unsigned>(blocks),
                 .block = static_cast<unsigned>(c.threads),
                 .stream = stream},
                static_cast<const Vector*>(from), static_cast<Vector*>(to), vectors, bytes);
}

template <Touch kTouch, int kVectors>
cudaError_t read_with(const void* from, size_t bytes, uint32_t* sums, const TrafficConfig& c,
                      Stream stream) {
  const size_t vectors = bytes / sizeof(Vector), blocks = read_blocks(bytes, c);
  const size_t slice = (vectors + blocks - 1) / blocks;
  return launch(read_kernel<kTouch, kVectors>,
                {.grid = static_cast<unsigned>(blocks),
                 .block = static_cast<unsigned>(c.threads),
                 .shared_bytes = c.threads / kWarp * sizeof(uint32_t),
                 .stream = stream},
                static_cast<const Vector*>(from), sums, vectors, slice, bytes);
}

template <Touch kTouch>
cudaError_t copy_touching(const void* from, void* to, size_t bytes, const TrafficConfig& c,
                          Stream stream) {
  switch (c.vectors) {
    case 1: return copy_with<kTouch, 1>(from, to, bytes, c, stream);
    case 2: return copy_with<kTouch, 2>(from, to, bytes, c, stream);
    case 4: return copy_with<kTouch, 4>(from, to, bytes, c, stream);
    case 8: return copy_with<kTouch, 8>(from, to, bytes, c, stream);
    default: return cudaErrorInvalidConfiguration;
  }
}

template <Touch kTouch>
cudaError_t read_touching(const void* from, size_t bytes, uint32_t* sums, const TrafficConfig& c,
                          Stream stream) {
  switch (c.vectors) {
    case 1: return read_with<kTouch, 1>(from, bytes, sums, c, stream);
    case 2: return read_with<kTouch, 2>(from, bytes, sums, c, stream);
    case 4: return read_with<kTouch, 4>(from, bytes, sums, c, stream);
    case 8: return read_with<kTouch, 8>(from, bytes, sums, c, stream);
    default: return cudaErrorInvalidConfiguration;
  }
}

cudaError_t copy(const void* from, void* to, size_t bytes, const TrafficConfig& c, Stream stream) {
  if (bytes == 0) return cudaSuccess;
  if (!is_possible(c)) return cudaErrorInvalidConfiguration;
  switch (c.hint) {
    case TrafficHint::kOften: return copy_touching<Touch::kOften>(from, to, bytes, c, stream);
    case TrafficHint::kOnce: return copy_touching<Touch::kOnce>(from, to, bytes, c, stream);
    default: return copy_touching<Touch::kFirstOut>(from, to, bytes, c, stream);
  }
}

cudaError_t read(const void* from, size_t bytes, uint32_t* sums, const TrafficConfig& c,
                 Stream stream) {
  if (!is_possible(c)) return cudaErrorInvalidConfiguration;
  switch (c.hint) {
    case TrafficHint::kOften: return read_touching<Touch::kOften>(from, bytes, sums, c, stream);
    case TrafficHint::kOnce: return read_touching<Touch::kOnce>(from, bytes, sums, c, stream);
    default: return read_touching<Touch::kFirstOut>(from, bytes, sums, c, stream);
  }
}

}  // namespace
}  // namespace nrd::cuda::NRD_CUDA_TARGET

namespace nrd::cuda {

NRD_CUDA_TABLE(TrafficKernels, traffic_kernels) = {
    .copy = NRD_CUDA_TARGET::copy,
    .read = NRD_CUDA_TARGET::read,
};

}  // namespace nrd::cuda
