// SPDX-License-Identifier: MIT
// src/cuda/launch/tables.cpp: which kernels each target of the library has.
#include "cuda/launch/tables.h"

namespace nrd::cuda {

extern const ElementKernels element_kernels_sm80, element_kernels_sm90;
extern const Fp8GemmKernels fp8_gemm_kernels_sm90;
extern const Fp8Kernels fp8_kernels_sm80, fp8_kernels_sm90;
extern const GlueKernels glue_kernels_sm80, glue_kernels_sm90;
extern const PlaceKernels place_kernels_sm80, place_kernels_sm90;
extern const PortableGemmKernels portable_gemm_kernels_sm80;
extern const RowKernels row_kernels_sm80, row_kernels_sm90;
extern const TrafficKernels traffic_kernels_sm80, traffic_kernels_sm90;

const KernelTables& tables_sm90() {
  static const KernelTables tables{
      .elements = &element_kernels_sm90,
      .fp8 = &fp8_kernels_sm90,
      .fp8_gemm = &fp8_gemm_kernels_sm90,
      .glue = &glue_kernels_sm90,
      .place = &place_kernels_sm90,
      .rows = &row_kernels_sm90,
      .traffic = &traffic_kernels_sm90,
  };
  return tables;
}

const KernelTables& tables_sm80() {
  static const KernelTables tables{
      .elements = &element_kernels_sm80,
      .fp8 = &fp8_kernels_sm80,
      .glue = &glue_kernels_sm80,
      .place = &place_kernels_sm80,
      .portable_gemm = &portable_gemm_kernels_sm80,
      .rows = &row_kernels_sm80,
      .traffic = &traffic_kernels_sm80,
  };
  return tables;
}

}  // namespace nrd::cuda
