// SPDX-License-Identifier: MIT
// src/workbench/device_queue.cpp
#include "workbench/device_queue.h"

#include <atomic>

namespace nrd {
namespace {

std::atomic<DeviceQueue::Maker> g_maker{nullptr};

}  // namespace

Expected<std::unique_ptr<DeviceQueue>> DeviceQueue::open(const Device& device) {
  const Maker maker = g_maker.load();
  return maker != nullptr ? maker(device) : open_built_in_queue(device);
}

void DeviceQueue::set_maker(Maker maker) { g_maker.store(maker); }

}  // namespace nrd
