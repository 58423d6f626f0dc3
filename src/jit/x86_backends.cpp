// SPDX-License-Identifier: MIT
// src/jit/x86_backends.cpp: the back ends of a build for x86-64.
#include "jit/encode.h"

namespace nrd::jit {

extern const Backend kAvx512Backend, kAvx2Backend;

std::span<const Backend* const> backends() {
  static constexpr const Backend* kBackends[] = {&kAvx512Backend, &kAvx2Backend};
  return kBackends;
}

}  // namespace nrd::jit
