// SPDX-License-Identifier: MIT
// src/dispatch/devices.cpp
#include "dispatch/devices.h"

#include <fmt/format.h>

#include "dispatch/device_runtime.h"

namespace nrd {
namespace {

std::string line_of(int index, const DeviceSummary& d) {
  return fmt::format(
      "cuda:{} {} (sm_{}{}), {} multiprocessors, {:.0f} GiB at {:.0f} GB/s, L2 {} MiB, {}", index,
      d.name, d.major, d.minor, d.multiprocessors, static_cast<double>(d.memory_bytes) / (1 << 30),
      d.memory_gbps, d.l2_bytes >> 20,
      d.isa.empty() ? "no kernels: " + d.reason : "kernels for " + d.isa);
}

}  // namespace

std::vector<std::string> describe_devices() {
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return {"cuda: not built in (preset cuda)"};
  Expected<int> count = (*runtime)->device_count();
  if (!count) return {"cuda: " + count.error().message()};
  if (*count == 0) return {"cuda: built in, but this machine has no device"};
  std::vector<std::string> lines;
  for (int i = 0; i < *count; i++) {
    Expected<DeviceSummary> device = (*runtime)->describe(i);
    lines.push_back(device ? line_of(i, *device)
                           : fmt::format("cuda:{}: {}", i, device.error().message()));
  }
  return lines;
}

}  // namespace nrd
