// SPDX-License-Identifier: MIT
// tests/cuda/emulator/launch.h: launch() of launch/launch.cuh for the emulated target.
#pragma once

#include <tuple>

#include "emulator/scheduler.h"

namespace nrd::cuda::NRD_CUDA_TARGET {

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), const LaunchShape& shape,
                   const Arguments&... arguments) {
  // Parameters are copied for every thread, as a device keeps them: a kernel cannot change them
  // for others.
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<std::remove_const_t<Parameters>...> parameters;
  } call{kernel, {Parameters(arguments)...}};
  emulator::LaunchRequest request;
  request.grid = shape.grid;
  request.block = shape.block;
  request.shared_bytes = shape.shared_bytes;
  request.cluster = shape.cluster;
  request.cooperative = shape.cooperative;
  request.overlaps = shape.overlaps;
  request.call = [](void* p) {
    const Call& call = *static_cast<const Call*>(p);
    std::apply(call.kernel, call.parameters);
  };
  request.arguments = &call;
  return emulator::run(request);
}

}  // namespace nrd::cuda::NRD_CUDA_TARGET
