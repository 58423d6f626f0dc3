// SPDX-License-Identifier: MIT
// tests/cuda/emulator/tables.cpp: as src/cuda/launch/tables.cpp, for the emulated target.
#include "emulator/tables.h"

#include "cuda/launch/tables.h"
#include "emulator/scheduler.h"

namespace nrd::cuda {

extern const ElementKernels element_kernels_emulated;
extern const Fp8GemmKernels fp8_gemm_kernels_emulated;
extern const Fp8Kernels fp8_kernels_emulated;
extern const GlueKernels glue_kernels_emulated;
extern const PlaceKernels place_kernels_emulated;
extern const PortableGemmKernels portable_gemm_kernels_emulated;
extern const RowKernels row_kernels_emulated;
extern const TrafficKernels traffic_kernels_emulated;

const KernelTables& tables_emulated() {
  static const KernelTables tables{
      .elements = &element_kernels_emulated,
      .fp8 = &fp8_kernels_emulated,
      .fp8_gemm = &fp8_gemm_kernels_emulated,
      .glue = &glue_kernels_emulated,
      .place = &place_kernels_emulated,
      .rows = &row_kernels_emulated,
      .traffic = &traffic_kernels_emulated,
  };
  return tables;
}

const KernelTables& tables_emulated_sm80() {
  static const KernelTables tables{
      .elements = &element_kernels_emulated,
      .fp8 = &fp8_kernels_emulated,
      .glue = &glue_kernels_emulated,
      .place = &place_kernels_emulated,
      .portable_gemm = &portable_gemm_kernels_emulated,
      .rows = &row_kernels_emulated,
      .traffic = &traffic_kernels_emulated,
  };
  return tables;
}

DeviceInfo emulated_device(int major) {
  DeviceInfo device;
  device.name = "emulated";
  device.major = major;
  device.multiprocessors = emulator::kMultiprocessors;
  device.memory_gib = 1;
  device.memory_gbps = 100;
  device.l2_bytes = 1 << 20;
  device.shared_bytes = emulator::kSharedOfBlock;
  return device;
}

}  // namespace nrd::cuda
