// SPDX-License-Identifier: MIT
// src/cuda/launch/tables.h: the kernels of one target, as plain functions.
//
// The sources of kernels/ are compiled three times: for sm_90a (`sm90`), for sm_80 as machine code
// and PTX that every later device can run (`sm80`), and by the host's compiler for the tests
// (`emulated`: threads are fibers, see tests/cuda/emulator/). Each family has a header here with
// its argument structs and a struct of launch functions, which a kernels/*.cu file defines as
// NRD_CUDA_TABLE(RowKernels, row_kernels) = {...}.
#pragma once

namespace nrd::cuda {

#define NRD_CUDA_JOIN_(a, b) a##_##b
#define NRD_CUDA_JOIN(a, b) NRD_CUDA_JOIN_(a, b)
#define NRD_CUDA_TABLE(type, name) extern const type NRD_CUDA_JOIN(name, NRD_CUDA_TARGET)

struct ElementKernels;
struct Fp8GemmKernels;
struct Fp8Kernels;
struct GlueKernels;
struct PlaceKernels;
struct PortableGemmKernels;
struct RowKernels;
struct TrafficKernels;

// Null where a target has no such kernels.
struct KernelTables {
  const ElementKernels* elements = nullptr;
  const Fp8Kernels* fp8 = nullptr;
  const Fp8GemmKernels* fp8_gemm = nullptr;  // wgmma
  const GlueKernels* glue = nullptr;
  const PlaceKernels* place = nullptr;
  const PortableGemmKernels* portable_gemm = nullptr;
  const RowKernels* rows = nullptr;
  const TrafficKernels* traffic = nullptr;
};

// NEREID_CUDA_ARCH=sm_80 takes the second where the first would do.
const KernelTables& tables_sm90();
const KernelTables& tables_sm80();

}  // namespace nrd::cuda
