// SPDX-License-Identifier: MIT
// src/cuda/launch/error.cpp
#include "cuda/launch/error.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string_view>

namespace nrd::cuda {

Error cuda_error(const char* call, cudaError_t code) {
  cudaGetLastError();  // a sticky copy of it would be blamed on the next call
  const std::string_view text = call;
  return make_error(
      {.code = ErrorCode::kEnvironment,
       .argument = std::string(text.substr(0, text.find('('))),
       .got = fmt::format("{} ({})", cudaGetErrorName(code), cudaGetErrorString(code))});
}

}  // namespace nrd::cuda
