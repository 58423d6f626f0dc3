// SPDX-License-Identifier: MIT
// src/dispatch/devices.cpp: CUDA devices, where that part is built in.
#include "dispatch/devices.h"

#include <fmt/format.h>

#ifdef NEREID_WITH_CUDA
#include "cuda/devices.h"
#endif

namespace nrd {

std::vector<std::string> describe_devices() {
#ifdef NEREID_WITH_CUDA
  Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
  if (!devices) return {"cuda: " + devices.error().message()};
  if (devices->empty()) return {"cuda: built in, but this machine has no device"};
  std::vector<std::string> lines;
  for (const cuda::DeviceInfo& d : *devices)
    lines.push_back(fmt::format(
        "cuda:{} {} (sm_{}{}), {} multiprocessors, {:.0f} GiB at {:.0f} GB/s, L2 {} MiB", d.index,
        d.name, d.major, d.minor, d.multiprocessors, d.memory_gib, d.memory_gbps,
        d.l2_bytes >> 20));
  return lines;
#else
  return {"cuda: not built in (preset cuda)"};
#endif
}

}  // namespace nrd
