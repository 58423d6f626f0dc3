// SPDX-License-Identifier: MIT
// src/gemm/pack_kernel.h: one panel of A or B from a matrix of any strides and dtype, as code.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "jit/ir.h"

namespace nrd::gemm {

// How a panel's source lies in memory. `across` is the panel's width: rows of A, columns of B.
// kGroups: likewise across, bytes of which `group` along k become one word.
enum class PackSource : uint8_t { kAlongK, kAcross, kStrided, kGroups };

// A panel is [k][step] f32, of which the first `width` of each step come from the source; the rest
// of a step is 0. Stores are whole vectors: up to one vector behind the panel is overwritten.
struct PackSpec {
  const jit::Target* target = nullptr;
  DType dtype = DType::kF32;
  PackSource source = PackSource::kStrided;
  int width = 0, step = 0;
  int group = 1;                  // of kGroups: 4, or 2 that widen to 16 bits
  bool inverts_top_bits = false;  // of each byte: a word is four of them
  bool has_scale = false;         // each element across has a factor

  std::string key() const;  // equal where the code is
};

struct PackArgs {
  const jit::Helper* helpers = nullptr;
  const void* from = nullptr;
  int64_t along_k = 0, across = 0;  // bytes from element to element
  float* to = nullptr;
  int64_t steps = 0;  // of k, or groups of it
  const float* scale = nullptr;
  int64_t scale_across = 0;  // bytes from factor to factor
};

Expected<jit::Program> write_pack_kernel(const PackSpec& spec);

}  // namespace nrd::gemm
