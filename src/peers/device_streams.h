// SPDX-License-Identifier: MIT
// src/peers/device_streams.h: kernels that move bytes and compute nothing.
#pragma once

#include "cuda/operation.h"

namespace nrd {

// Enqueues a kernel that reads `bytes` of device memory.
Expected<void> enqueue_read(const void* memory, size_t bytes, const cuda::DeviceInfo& device,
                            cuda::Stream stream);
// Enqueues a kernel that copies `bytes`: it moves twice as many.
Expected<void> enqueue_copy(void* to, const void* from, size_t bytes,
                            const cuda::DeviceInfo& device, cuda::Stream stream);

}  // namespace nrd
