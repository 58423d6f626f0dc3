// SPDX-License-Identifier: MIT
// tests/cuda/emulator/tables.h: the kernels of the emulated target.
#pragma once

#include "cuda/operation.h"

namespace nrd::cuda {

const KernelTables& tables_emulated();

// Compute capability 9.0, four multiprocessors.
DeviceInfo emulated_device();

}  // namespace nrd::cuda
