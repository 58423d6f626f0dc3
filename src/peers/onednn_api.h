// SPDX-License-Identifier: MIT
// src/peers/onednn_api.h: the part of oneDNN's C interface (version 3) that we call.
//
// Names and values are those of oneapi/dnnl/dnnl_types.h and dnnl_common_types.h, checked against
// 3.2 and 3.13; the interface is stable within a major version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/dtype.h"
#include "peers/library.h"

namespace nrd {

// Opaque to us.
struct DnnlEngine;
struct DnnlStream;
struct DnnlMemoryDesc;
struct DnnlMemory;
struct DnnlAttributes;
struct DnnlPrimitiveDesc;
struct DnnlPrimitive;

struct DnnlVersion {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};
struct DnnlExecArg {
  int arg;
  DnnlMemory* memory;
};
constexpr int kDnnlMaxDims = 12;
using DnnlDims = int64_t[kDnnlMaxDims];

enum : int { kDnnlSuccess = 0, kDnnlOutOfMemory = 1, kDnnlInvalid = 2, kDnnlUnimplemented = 3 };
enum : unsigned { kDnnlRuntimeSeq = 1, kDnnlRuntimeOmp = 2 };
enum : int {
  kDnnlCpu = 1,
  kDnnlFormatAny = 1,
  kDnnlForwardInference = 96,
  kDnnlScratchpadUser = 1
};
enum : int { kDnnlQueryImplementation = 8, kDnnlQueryWeights = 131, kDnnlQueryScratchpad = 136 };
enum : int {
  kDnnlArgSrc = 1,
  kDnnlArgFrom = 1,
  kDnnlArgDst = 17,
  kDnnlArgTo = 17,
  kDnnlArgWeights = 33,
  kDnnlArgBias = 41,
  kDnnlArgScale = 51,
  kDnnlArgShift = 52,
  kDnnlArgScratchpad = 80,
};
enum : int {
  kDnnlRelu = 32,
  kDnnlTanh = 33,
  kDnnlLogistic = 41,
  kDnnlExp = 42,
  kDnnlGeluTanh = 43,
  kDnnlSwish = 44,
  kDnnlGeluErf = 49,
  kDnnlSoftmaxAccurate = 0x30000,
};
enum : unsigned { kDnnlUseScale = 2, kDnnlUseShift = 4, kDnnlRmsNorm = 0x20 };  // rms: since 3.9
constexpr int kDnnlIsaAvx512Fp16 = 0x1ef;

// name, result, parameters
#define NRD_DNNL_FUNCTIONS(X)                                                                    \
  X(set_max_cpu_isa, int, (int isa))                                                             \
  X(engine_create, int, (DnnlEngine**, int kind, size_t index))                                  \
  X(engine_destroy, int, (DnnlEngine*))                                                          \
  X(stream_create, int, (DnnlStream**, DnnlEngine*, unsigned flags))                             \
  X(stream_wait, int, (DnnlStream*))                                                             \
  X(stream_destroy, int, (DnnlStream*))                                                          \
  X(memory_desc_create_with_strides, int,                                                        \
    (DnnlMemoryDesc**, int ndims, const int64_t* dims, int dtype, const int64_t* strides))       \
  X(memory_desc_create_with_tag, int,                                                            \
    (DnnlMemoryDesc**, int ndims, const int64_t* dims, int dtype, int tag))                      \
  X(memory_desc_clone, int, (DnnlMemoryDesc**, const DnnlMemoryDesc*))                           \
  X(memory_desc_destroy, int, (DnnlMemoryDesc*))                                                 \
  X(memory_desc_get_size, size_t, (const DnnlMemoryDesc*))                                       \
  X(memory_create, int, (DnnlMemory**, const DnnlMemoryDesc*, DnnlEngine*, void* handle))        \
  X(memory_set_data_handle, int, (DnnlMemory*, void* handle))                                    \
  X(memory_destroy, int, (DnnlMemory*))                                                          \
  X(primitive_attr_create, int, (DnnlAttributes**))                                              \
  X(primitive_attr_destroy, int, (DnnlAttributes*))                                              \
  X(primitive_attr_set_scratchpad_mode, int, (DnnlAttributes*, int mode))                        \
  X(primitive_desc_query, int, (const DnnlPrimitiveDesc*, int what, int index, void* result))    \
  X(primitive_desc_query_md, const DnnlMemoryDesc*,                                              \
    (const DnnlPrimitiveDesc*, int what, int index))                                             \
  X(primitive_desc_destroy, int, (DnnlPrimitiveDesc*))                                           \
  X(primitive_create, int, (DnnlPrimitive**, const DnnlPrimitiveDesc*))                          \
  X(primitive_execute, int, (const DnnlPrimitive*, DnnlStream*, int count, const DnnlExecArg*))  \
  X(primitive_destroy, int, (DnnlPrimitive*))                                                    \
  X(reorder_primitive_desc_create, int,                                                          \
    (DnnlPrimitiveDesc**, const DnnlMemoryDesc* from, DnnlEngine*, const DnnlMemoryDesc* to,     \
     DnnlEngine*, const DnnlAttributes*))                                                        \
  X(matmul_primitive_desc_create, int,                                                           \
    (DnnlPrimitiveDesc**, DnnlEngine*, const DnnlMemoryDesc* src, const DnnlMemoryDesc* weights, \
     const DnnlMemoryDesc* bias, const DnnlMemoryDesc* dst, const DnnlAttributes*))              \
  X(eltwise_forward_primitive_desc_create, int,                                                  \
    (DnnlPrimitiveDesc**, DnnlEngine*, int prop, int algorithm, const DnnlMemoryDesc* src,       \
     const DnnlMemoryDesc* dst, float alpha, float beta, const DnnlAttributes*))                 \
  X(softmax_forward_primitive_desc_create, int,                                                  \
    (DnnlPrimitiveDesc**, DnnlEngine*, int prop, int algorithm, const DnnlMemoryDesc* src,       \
     const DnnlMemoryDesc* dst, int axis, const DnnlAttributes*))                                \
  X(layer_normalization_forward_primitive_desc_create, int,                                      \
    (DnnlPrimitiveDesc**, DnnlEngine*, int prop, const DnnlMemoryDesc* src,                      \
     const DnnlMemoryDesc* dst, const DnnlMemoryDesc* statistics, float eps, unsigned flags,     \
     const DnnlAttributes*))

// The library, its functions by their names without "dnnl_", and what every call needs.
struct OneDnn {
  OneDnn() = default;
  ~OneDnn();
  OneDnn(const OneDnn&) = delete;
  OneDnn& operator=(const OneDnn&) = delete;

#define NRD_DNNL_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  NRD_DNNL_FUNCTIONS(NRD_DNNL_MEMBER)
#undef NRD_DNNL_MEMBER
  // Since 3.3: weights of a normalisation that are not f32.
  int (*layer_normalization_forward_primitive_desc_create_v2)(
      DnnlPrimitiveDesc**, DnnlEngine*, int prop, const DnnlMemoryDesc* src,
      const DnnlMemoryDesc* dst, const DnnlMemoryDesc* statistics, int scale_dtype, float eps,
      unsigned flags, const DnnlAttributes*) = nullptr;
  void (*omp_set_num_threads)(int) = nullptr;  // null in a sequential build

  DnnlEngine* engine = nullptr;
  DnnlStream* stream = nullptr;
  DnnlAttributes* attributes = nullptr;  // the scratchpad is ours
  std::string version_text;
  int minor = 0;
  std::string note;  // "capped at AVX-512: CPUID hides AMX"

  Expected<void> resolve(const Library& library);
  Expected<void> start();  // engine, stream and attributes

  // OpenMP's count belongs to the calling thread; set only when it changes.
  void set_threads(int threads) const;
};

// oneDNN's number of a dtype; 0 for one that it lacks.
int dnnl_dtype(DType dtype);
// The CPU has AMX but the hypervisor hides its description (CPUID leaves 0x1D and 0x1E): oneDNN
// would build wrong tile code and die.
bool amx_is_hidden(bool has_amx);

// Owners. The function is one of OneDnn's.
template <class T>
struct DnnlDestroy {
  int (*destroy)(T*) = nullptr;
  void operator()(T* object) const { destroy(object); }
};
template <class T>
using DnnlOwner = std::unique_ptr<T, DnnlDestroy<T>>;
using DnnlMemoryDescOwner = DnnlOwner<DnnlMemoryDesc>;
using DnnlMemoryOwner = DnnlOwner<DnnlMemory>;
using DnnlPrimitiveDescOwner = DnnlOwner<DnnlPrimitiveDesc>;
using DnnlPrimitiveOwner = DnnlOwner<DnnlPrimitive>;

}  // namespace nrd
