// SPDX-License-Identifier: MIT
// tests/cuda/peer_headers_test.cpp: what we declare of cuBLASLt and cuDNN is what the toolkit's own
// headers say, where they are installed.
#include <gtest/gtest.h>

#include "peers/cublaslt_api.h"
#include "peers/cudnn_api.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

namespace nrd::cublaslt {
static_assert(kCompute32F == CUBLAS_COMPUTE_32F);
static_assert(kReal32F == CUDA_R_32F && kReal16F == CUDA_R_16F && kReal16BF == CUDA_R_16BF);
static_assert(kRealE4M3 == CUDA_R_8F_E4M3 && kRealE5M2 == CUDA_R_8F_E5M2);
static_assert(kOpN == CUBLAS_OP_N && kOpT == CUBLAS_OP_T);
static_assert(kEpilogueBias == CUBLASLT_EPILOGUE_BIAS);
static_assert(kTransA == static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(kTransB == static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(kEpilogue == static_cast<int>(CUBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(kBiasPointer == static_cast<int>(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(kAScalePointer == static_cast<int>(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
static_assert(kBScalePointer == static_cast<int>(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER));
static_assert(kFastAccumulation == static_cast<int>(CUBLASLT_MATMUL_DESC_FAST_ACCUM));
static_assert(kMaxWorkspaceBytes == static_cast<int>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(sizeof(MatmulDesc) == sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(MatrixLayout) == sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Preference) == sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(HeuristicResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
#if CUBLAS_VERSION >= 120900
static_assert(kScaleOuterVector == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
static_assert(kAScaleMode == static_cast<int>(CUBLASLT_MATMUL_DESC_A_SCALE_MODE));
static_assert(kBScaleMode == static_cast<int>(CUBLASLT_MATMUL_DESC_B_SCALE_MODE));
#endif
}  // namespace nrd::cublaslt
#endif

#if __has_include(<cudnn.h>)
#include <cudnn.h>

namespace nrd::cudnn {
static_assert(kFloat == CUDNN_DATA_FLOAT && kHalf == CUDNN_DATA_HALF);
static_assert(kBfloat16 == CUDNN_DATA_BFLOAT16 && kNchw == CUDNN_TENSOR_NCHW);
static_assert(kSoftmaxAccurate == CUDNN_SOFTMAX_ACCURATE);
static_assert(kSoftmaxOverInstance == CUDNN_SOFTMAX_MODE_INSTANCE);
static_assert(kLayerNorm == CUDNN_LAYER_NORM && kRmsNorm == CUDNN_RMS_NORM);
static_assert(kInference == CUDNN_NORM_FWD_INFERENCE);
static_assert(kHeuristicA == CUDNN_HEUR_MODE_A && kHeuristicFallback == CUDNN_HEUR_MODE_FALLBACK);
static_assert(kEngineConfigDescriptor == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
static_assert(kHeuristicDescriptor == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
static_assert(kPlanDescriptor == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
static_assert(kGraphDescriptor == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
static_assert(kVariantPackDescriptor == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
static_assert(kTensorDescriptor == CUDNN_BACKEND_TENSOR_DESCRIPTOR);
static_assert(kNormForwardDescriptor == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
static_assert(kTypeHandle == CUDNN_TYPE_HANDLE && kTypeDataType == CUDNN_TYPE_DATA_TYPE);
static_assert(kTypeBoolean == CUDNN_TYPE_BOOLEAN && kTypeInt64 == CUDNN_TYPE_INT64);
static_assert(kTypeVoidPointer == CUDNN_TYPE_VOID_PTR);
static_assert(kTypeHeuristicMode == CUDNN_TYPE_HEUR_MODE);
static_assert(kTypeDescriptor == CUDNN_TYPE_BACKEND_DESCRIPTOR);
static_assert(kTypeNormMode == CUDNN_TYPE_NORM_MODE && kTypeNormPhase == CUDNN_TYPE_NORM_FWD_PHASE);
static_assert(kHeuristicMode == CUDNN_ATTR_ENGINEHEUR_MODE);
static_assert(kHeuristicGraph == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
static_assert(kHeuristicResults == CUDNN_ATTR_ENGINEHEUR_RESULTS);
static_assert(kPlanConfig == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
static_assert(kPlanWorkspace == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
static_assert(kGraphOperations == CUDNN_ATTR_OPERATIONGRAPH_OPS);
static_assert(kTensorAlignment == CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
static_assert(kTensorType == CUDNN_ATTR_TENSOR_DATA_TYPE);
static_assert(kTensorDimensions == CUDNN_ATTR_TENSOR_DIMENSIONS);
static_assert(kTensorStrides == CUDNN_ATTR_TENSOR_STRIDES);
static_assert(kTensorId == CUDNN_ATTR_TENSOR_UNIQUE_ID);
static_assert(kTensorByValue == CUDNN_ATTR_TENSOR_IS_BY_VALUE);
static_assert(kPackIds == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
static_assert(kPackPointers == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
static_assert(kPackWorkspace == CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
static_assert(kNormMode == CUDNN_ATTR_OPERATION_NORM_FWD_MODE);
static_assert(kNormPhase == CUDNN_ATTR_OPERATION_NORM_FWD_PHASE);
static_assert(kNormX == CUDNN_ATTR_OPERATION_NORM_FWD_XDESC);
static_assert(kNormScale == CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC);
static_assert(kNormBias == CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC);
static_assert(kNormEpsilon == CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC);
static_assert(kNormY == CUDNN_ATTR_OPERATION_NORM_FWD_YDESC);
}  // namespace nrd::cudnn
#endif

// The rest is checked by the compiler.
TEST(PeerHeaders, WereThere) {
#if !__has_include(<cublasLt.h>) || !__has_include(<cudnn.h>)
  GTEST_SKIP() << "the headers of cuBLASLt or cuDNN are not installed";
#endif
}
