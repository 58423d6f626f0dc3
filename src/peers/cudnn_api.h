// SPDX-License-Identifier: MIT
// src/peers/cudnn_api.h: the part of cuDNN 9 that is used, declared here so that a
// build needs none of its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cuda/operation.h"
#include "peers/library.h"

namespace nrd::cudnn {

using Handle = void*;
using Descriptor = void*;
using Status = int;  // 0 is success

constexpr int kFloat = 0, kHalf = 2, kBfloat16 = 9;  // cudnnDataType_t
constexpr int kNchw = 0;
constexpr int kSoftmaxAccurate = 1, kSoftmaxOverInstance = 0;
constexpr int kLayerNorm = 0, kRmsNorm = 4;
constexpr int kInference = 0;
constexpr int kHeuristicA = 3, kHeuristicFallback = 2;

// cudnnBackendDescriptorType_t
constexpr int kEngineConfigDescriptor = 3, kHeuristicDescriptor = 4, kPlanDescriptor = 5,
              kGraphDescriptor = 15, kVariantPackDescriptor = 16, kTensorDescriptor = 17,
              kNormForwardDescriptor = 29;
// cudnnBackendAttributeType_t
constexpr int kTypeHandle = 0, kTypeDataType = 1, kTypeBoolean = 2, kTypeInt64 = 3,
              kTypeVoidPointer = 6, kTypeHeuristicMode = 8, kTypeDescriptor = 15,
              kTypeNormMode = 27, kTypeNormPhase = 28;
// cudnnBackendAttributeName_t
constexpr int kHeuristicMode = 200, kHeuristicGraph = 201, kHeuristicResults = 202,
              kPlanHandle = 400, kPlanConfig = 401, kPlanWorkspace = 402, kGraphHandle = 800,
              kGraphOperations = 801, kTensorAlignment = 900, kTensorType = 901,
              kTensorDimensions = 902, kTensorStrides = 903, kTensorId = 906, kTensorByValue = 908,
              kPackIds = 1000, kPackPointers = 1001, kPackWorkspace = 1003, kNormMode = 2000,
              kNormPhase = 2001, kNormX = 2002, kNormScale = 2005, kNormBias = 2006,
              kNormEpsilon = 2007, kNormY = 2013;

struct Api {
  Status (*create)(Handle*) = nullptr;
  size_t (*version)() = nullptr;
  const char* (*error_text)(Status) = nullptr;
  Status (*set_stream)(Handle, cuda::Stream) = nullptr;
  Status (*tensor_create)(void**) = nullptr;
  Status (*tensor_destroy)(void*) = nullptr;
  Status (*tensor_set)(void*, int format, int type, int n, int c, int h, int w) = nullptr;
  Status (*softmax)(Handle, int algorithm, int mode, const void* alpha, const void* x_tensor,
                    const void* x, const void* beta, const void* y_tensor, void* y) = nullptr;
  Status (*descriptor_create)(int type, Descriptor*) = nullptr;
  Status (*descriptor_destroy)(Descriptor) = nullptr;
  Status (*descriptor_set)(Descriptor, int name, int type, int64_t count,
                           const void* elements) = nullptr;
  Status (*descriptor_get)(Descriptor, int name, int type, int64_t requested, int64_t* count,
                           void* elements) = nullptr;
  Status (*descriptor_finalize)(Descriptor) = nullptr;
  Status (*execute)(Handle, Descriptor plan, Descriptor pack) = nullptr;

  Expected<void> resolve(const Library& library);
  Error failed(const char* call, Status status) const;
};

// A rows x cols norm with a weight and, for layer_norm, a bias, as a graph of one operation.
struct NormRequest {
  int mode = kRmsNorm;
  int64_t rows = 0, cols = 0;
  int x_type = kFloat, weight_type = kFloat, y_type = kFloat;
  bool bias = false;
  float epsilon = 0;
};

class NormPlan {
 public:
  virtual ~NormPlan() = default;
  virtual size_t workspace_bytes() const = 0;
  virtual Expected<void> run(const void* x, const void* weight, const void* bias, void* y,
                             void* workspace, cuda::Stream stream) const = 0;
};
// The error is a refusal where no engine of the library takes it.
Expected<std::unique_ptr<NormPlan>> make_norm_plan(const NormRequest& request, const Api& api,
                                                   Handle handle);

}  // namespace nrd::cudnn
