// SPDX-License-Identifier: MIT
// src/gemm/code_cache.h: generated kernels by what they were made from, kept for the process.
#pragma once

#include "gemm/gemv_kernel.h"
#include "gemm/micro_kernel.h"
#include "gemm/pack_kernel.h"
#include "gemm/stream_kernel.h"
#include "jit/code.h"

namespace nrd::gemm {

// Written, encoded and mapped when first asked for. The entry stays valid for the process.
Expected<jit::Code::Entry> micro_kernel(const MicroKernelSpec& spec);
Expected<jit::Code::Entry> pack_kernel(const PackSpec& spec);
Expected<jit::Code::Entry> tile_configure(const jit::Target& target, bool is_release);
Expected<jit::Code::Entry> gemv_kernel(const GemvSpec& spec);
Expected<jit::Code::Entry> stream_kernel(const StreamSpec& spec);

}  // namespace nrd::gemm
