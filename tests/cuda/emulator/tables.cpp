// SPDX-License-Identifier: MIT
// tests/cuda/emulator/tables.cpp: as src/cuda/launch/tables.cpp, for the emulated target.
#include "emulator/tables.h"

#include "cuda/launch/tables.h"
#include "emulator/scheduler.h"

namespace nrd::cuda {

const KernelTables& tables_emulated() {
  static const KernelTables tables{};
  return tables;
}

DeviceInfo emulated_device() {
  DeviceInfo device;
  device.name = "emulated";
  device.major = 9;
  device.multiprocessors = emulator::kMultiprocessors;
  device.memory_gib = 1;
  device.memory_gbps = 100;
  device.l2_bytes = 1 << 20;
  return device;
}

}  // namespace nrd::cuda
