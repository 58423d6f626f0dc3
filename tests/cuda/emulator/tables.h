// SPDX-License-Identifier: MIT
// tests/cuda/emulator/tables.h: the kernels of the emulated target.
#pragma once

#include "cuda/operation.h"

namespace nrd::cuda {

// What sm90 and sm80 have, emulated.
const KernelTables& tables_emulated();
const KernelTables& tables_emulated_sm80();

// Four multiprocessors, compute capability `major`.0.
DeviceInfo emulated_device(int major);

}  // namespace nrd::cuda
