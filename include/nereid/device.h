// SPDX-License-Identifier: MIT
// nereid/device.h: where memory lies, and which devices there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nereid/error.h"

namespace nereid {

// The CPU, or a CUDA device by its number.
struct Device {
  nereid_device kind = NEREID_CPU;
  int index = 0;

  static constexpr Device cpu() { return {}; }
  static constexpr Device cuda(int index = 0) { return {NEREID_CUDA, index}; }
  bool is_cpu() const { return kind == NEREID_CPU; }
  std::string text() const { return is_cpu() ? "cpu" : "cuda:" + std::to_string(index); }
  friend bool operator==(const Device&, const Device&) = default;
};

struct DeviceInfo {
  Device device;
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  uint64_t memory_bytes = 0, l2_bytes = 0;
  std::string isa;     // of the kernels it runs: "sm_90a", "sm_80"; empty if there are none for it
  std::string reason;  // why there are none
};

// The CUDA devices; the error says why they cannot be asked for: not built in, or no driver.
inline Expected<std::vector<DeviceInfo>> cuda_devices() {
  int32_t count = 0;
  if (nereid_device_count(NEREID_CUDA, &count) != NEREID_OK) return last_error();
  std::vector<DeviceInfo> list;
  for (int32_t i = 0; i < count; i++) {
    nereid_device_info d{};
    d.struct_size = sizeof d;
    if (nereid_describe_device(NEREID_CUDA, i, &d) != NEREID_OK) return last_error();
    list.push_back({Device::cuda(i), d.name, d.major, d.minor, d.multiprocessors, d.memory_bytes,
                    d.l2_bytes, d.isa, d.reason});
  }
  return list;
}

// Waits until everything in a stream (null: the default one) is done; throws what went wrong there.
inline void synchronize(Device device, void* stream = nullptr) {
  check(nereid_stream_synchronize(device.kind, device.index, stream));
}

}  // namespace nereid
