// SPDX-License-Identifier: MIT
// src/cuda/device/math.cuh: the elementwise definitions of src/ops/scalar in f32.
//
// expf, tanhf and erff are the toolkit's, within 2 units of the last place. A quotient 1 / (1 + e)
// takes the approximate reciprocal (one unit): what is divided by is never subnormal, and only
// results below 2^-126 become 0. NaN propagates, in clamps too.
#pragma once

#include "cuda/ptx/approximate.cuh"

namespace nrd::cuda::NRD_CUDA_TARGET {

// NaN wins, as m_max and m_min of the definitions.
__device__ __forceinline__ float max_of(float a, float b) { return (a > b || a != a) ? a : b; }
__device__ __forceinline__ float min_of(float a, float b) { return (a < b || a != a) ? a : b; }

__device__ __forceinline__ float sigmoid(float x) {
  return approximate_reciprocal(1.0f + expf(-x));
}

__device__ __forceinline__ float gelu(float x) {
  return 0.5f * x * (1.0f + erff(x * 0.70710678118654752440f));
}

// (1 + tanh(u)) / 2 is sigmoid(2u).
__device__ __forceinline__ float gelu_tanh(float x) {
  const float inner = 0.79788456080286535588f * (x + 0.044715f * x * x * x);
  return x * sigmoid(2.0f * inner);
}

// Functors; `number` is the attribute of those that have one.
struct Exp {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return expf(x); }
};
struct Tanh {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return tanhf(x); }
};
struct Sigmoid {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return sigmoid(x); }
};
struct Relu {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return max_of(x, 0.0f); }
};
struct Silu {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return x * sigmoid(x); }
};
struct Gelu {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return gelu(x); }
};
struct GeluTanh {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return gelu_tanh(x); }
};
struct Scale {
  float number;
  __device__ __forceinline__ float operator()(float x) const { return x * number; }
};

struct Swiglu {
  float number;
  __device__ __forceinline__ float operator()(float gate, float up) const {
    return gate * sigmoid(gate) * up;
  }
};
struct Geglu {
  float number;
  __device__ __forceinline__ float operator()(float gate, float up) const {
    return gelu(gate) * up;
  }
};
struct SwigluOai {
  float number;
  __device__ __forceinline__ float operator()(float gate, float up) const {
    const float g = min_of(gate, 7.0f);
    const float u = max_of(min_of(up, 7.0f), -7.0f);
    return g * sigmoid(1.702f * g) * (u + 1.0f);
  }
};
struct Add {
  float number;
  __device__ __forceinline__ float operator()(float x, float y) const { return x + y; }
};
struct Sub {
  float number;
  __device__ __forceinline__ float operator()(float x, float y) const { return x - y; }
};
struct Mul {
  float number;
  __device__ __forceinline__ float operator()(float x, float y) const { return x * y; }
};
struct Axpy {
  float number;
  __device__ __forceinline__ float operator()(float x, float y) const { return fmaf(number, x, y); }
};

}  // namespace nrd::cuda::NRD_CUDA_TARGET
