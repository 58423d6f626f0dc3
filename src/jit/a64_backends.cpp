// SPDX-License-Identifier: MIT
// src/jit/a64_backends.cpp: the back end of a build for aarch64.
#include "jit/encode.h"

namespace nrd::jit {

extern const Backend kNeonBackend;

std::span<const Backend* const> backends() {
  static constexpr const Backend* kBackends[] = {&kNeonBackend};
  return kBackends;
}

}  // namespace nrd::jit
