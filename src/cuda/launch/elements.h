// SPDX-License-Identifier: MIT
// src/cuda/launch/elements.h: operators that take each element for itself.
#pragma once

#include <driver_types.h>

#include <cstdint>

#include "base/dtype.h"
#include "base/tensor.h"
#include "cuda/operation.h"

namespace nrd::cuda {

// Each operator once: the catalogue's name and the functor of device/math.cuh.
#define NRD_CUDA_UNARY_OPS(op)                                                                  \
  op(exp, Exp) op(tanh, Tanh) op(sigmoid, Sigmoid) op(relu, Relu) op(silu, Silu) op(gelu, Gelu) \
      op(gelu_tanh, GeluTanh) op(vec_scale, Scale)
#define NRD_CUDA_BINARY_OPS(op)                                                                   \
  op(swiglu, Swiglu) op(geglu, Geglu) op(swiglu_oai, SwigluOai) op(vec_add, Add) op(vec_sub, Sub) \
      op(vec_mul, Mul) op(vec_axpy, Axpy)

enum class ElementOp : int {
#define NRD_CUDA_ENUMERATOR(name, functor) k##functor,
  NRD_CUDA_UNARY_OPS(NRD_CUDA_ENUMERATOR) NRD_CUDA_BINARY_OPS(NRD_CUDA_ENUMERATOR)
#undef NRD_CUDA_ENUMERATOR
      kCast
};

struct ElementOperand {
  void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t steps[kMaxRank] = {};  // elements along each axis; 0: broadcast
};

// out[i] = op(in[0][i], in[1][i]) over axes of which the last is innermost, folded as far as they
// go (launch/loops.h). f32, f16 and bf16; a cast takes every dtype that it may have.
struct ElementArgs {
  ElementOp op = ElementOp::kExp;
  int rank = 0;
  int64_t sizes[kMaxRank] = {};
  ElementOperand in[2], out;  // the second input of a pair alone
  float number = 0;           // of vec_scale and vec_axpy
  bool saturate = false;      // of a cast
  int multiprocessors = 1;
};

struct ElementKernels {
  cudaError_t (*unary)(const ElementArgs& args, Stream stream);
  cudaError_t (*binary)(const ElementArgs& args, Stream stream);
  cudaError_t (*cast)(const ElementArgs& args, Stream stream);
};

}  // namespace nrd::cuda
