// SPDX-License-Identifier: MIT
// src/workbench/device_roofs.h: what the device reaches in this run: streams and a large product.
#pragma once

#include "workbench/device_queue.h"
#include "workbench/worker.h"

namespace nrd {

// Copies and reads of 256 MiB and 2 GiB by the backends `copy` and `read`; one product of 8192^3 in
// 8 bits and one in 16, by cublaslt where it is, else by ours. What cannot be measured stays 0.
Expected<GpuRoofs> measure_roofs(const KernelRegistry& registry, const Device& device,
                                 DeviceQueue& queue);

}  // namespace nrd
