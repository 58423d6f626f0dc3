// SPDX-License-Identifier: MIT
// src/dispatch/cuda_backend.h: our CUDA kernels as a backend.
#pragma once

#include <memory>

#include "dispatch/backend.h"

namespace nrd {

// load() fails, with the reason, where this build has no CUDA, the machine no driver or no device,
// or no device that can run the kernels that NEREID_CUDA_ARCH asks for.
std::unique_ptr<Backend> make_cuda_backend();

}  // namespace nrd
