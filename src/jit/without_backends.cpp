// SPDX-License-Identifier: MIT
// src/jit/without_backends.cpp: a build without AsmJit, or for a machine that has no back end.
#include "jit/encode.h"

namespace nrd::jit {

std::span<const Backend* const> backends() { return {}; }

}  // namespace nrd::jit
