// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/device.cu
#include <cuda_fp8.h>

#include "device.h"

namespace nrd::bench {
namespace {

__device__ uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ float uniform(uint32_t bits) {
  return (static_cast<float>(bits >> 8) + 0.5f) / 16777216;
}

__global__ void fill_codes_kernel(uint8_t* codes, int64_t count, uint64_t seed) {
  constexpr float kLargest = 5.4f;  // of some ten million normal values
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    const uint64_t draw = mix(seed * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(i));
    const float radius = sqrtf(-2 * logf(uniform(static_cast<uint32_t>(draw))));
    const float value = radius * cospif(2 * uniform(static_cast<uint32_t>(draw >> 32)));
    codes[i] = __nv_cvt_float_to_fp8(value * (448 / kLargest), __NV_SATFINITE, __NV_E4M3);
  }
}

__global__ void fill_scales_kernel(float* scales, int64_t count, uint64_t seed) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < count)
    scales[i] =
        (0.5f + uniform(static_cast<uint32_t>(mix(seed + static_cast<uint64_t>(i))))) / 1024;
}

__device__ double decode(const void* codes, int64_t i) {
  __nv_fp8_e4m3 code;
  code.__x = static_cast<const uint8_t*>(codes)[i];
  return static_cast<double>(static_cast<float>(code));
}

// One warp a sample.
__global__ void reference_kernel(const cuda::Fp8GemmArgs args, Sample* samples, int count) {
  const int warp = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (warp >= count) return;
  Sample& sample = samples[warp];
  const bool is_block = args.scales == cuda::Fp8Scales::kBlock;
  double value = 0, magnitude = 0;
  for (int64_t k = threadIdx.x % 32; k < args.k; k += 32) {
    const int64_t kb = is_block ? k / 128 : 0, nb = is_block ? sample.col / 128 : sample.col;
    double term =
        decode(args.a, sample.row * args.a_row + k) * decode(args.b, sample.col * args.b_row + k);
    term *= static_cast<double>(args.a_scale[sample.row * args.a_scale_row + kb * args.a_scale_k]);
    term *= static_cast<double>(args.b_scale[nb * args.b_scale_column + kb * args.b_scale_k]);
    value += term;
    magnitude += fabs(term);
  }
  for (int apart = 16; apart > 0; apart /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, apart);
    magnitude += __shfl_xor_sync(0xffffffffu, magnitude, apart);
  }
  if (threadIdx.x % 32 != 0) return;
  sample.value = value, sample.magnitude = magnitude;
  sample.got = static_cast<const uint16_t*>(args.c)[sample.row * args.c_row + sample.col];
}

template <int kAtOnce>
__global__ void read_kernel(const uint4* data, int64_t packets, float* sink) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  uint32_t all = 0;
  for (; i + (kAtOnce - 1) * step < packets; i += kAtOnce * step) {
    uint4 x[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; j++) x[j] = __ldcs(data + i + j * step);
#pragma unroll
    for (int j = 0; j < kAtOnce; j++) all |= x[j].x ^ x[j].y ^ x[j].z ^ x[j].w;
  }
  for (; i < packets; i += step) {
    const uint4 x = __ldcs(data + i);
    all |= x.x ^ x.y ^ x.z ^ x.w;
  }
  if (all == 0x12345678) *sink = 1;  // so that the loads are needed
}

unsigned blocks(int64_t items, int each) {
  return static_cast<unsigned>((items + each - 1) / each);
}

}  // namespace

void fill_codes(void* codes, int64_t count, uint64_t seed, cuda::Stream stream) {
  fill_codes_kernel<<<1024, 256, 0, stream>>>(static_cast<uint8_t*>(codes), count, seed);
}

void fill_scales(float* scales, int64_t count, uint64_t seed, cuda::Stream stream) {
  fill_scales_kernel<<<blocks(count, 256), 256, 0, stream>>>(scales, count, seed);
}

void reference(const cuda::Fp8GemmArgs& args, Sample* samples, int count, cuda::Stream stream) {
  reference_kernel<<<blocks(count, 8), 256, 0, stream>>>(args, samples, count);
}

void read_all(const void* bytes, int64_t count, int variant, int multiprocessors, float* sink,
              cuda::Stream stream) {
  const auto* data = static_cast<const uint4*>(bytes);
  const auto sms = static_cast<unsigned>(multiprocessors);
  const int64_t packets = count / 16;
  if (variant == 0)
    read_kernel<4><<<sms * 8, 256, 0, stream>>>(data, packets, sink);
  else
    read_kernel<8><<<sms * 2, 1024, 0, stream>>>(data, packets, sink);
}

}  // namespace nrd::bench
