// SPDX-License-Identifier: MIT
// src/workbench/device_queue.h: a stream of a device, with marks that have a time.
//
// What the profiler needs of a device beside its memory. Tests put one made of host clocks in its
// place.
#pragma once

#include <functional>
#include <memory>

#include "base/tensor.h"
#include "workbench/gpu_peaks.h"
#include "workbench/nvml.h"

namespace nrd {

class DeviceRecording {
 public:
  virtual ~DeviceRecording() = default;
  virtual Expected<void> replay() const = 0;
};

class DeviceQueue {
 public:
  // A queue of its own on that device; the error of a build without CUDA says so.
  static Expected<std::unique_ptr<DeviceQueue>> open(const Device& device);
  // For tests: what open() gives from now on; null is the build's own again.
  using Maker = Expected<std::unique_ptr<DeviceQueue>> (*)(const Device& device);
  static void set_maker(Maker maker);
  virtual ~DeviceQueue() = default;

  virtual void* stream() const = 0;
  // Marks are numbered from 0; setting one again moves it.
  virtual Expected<void> mark(size_t number) = 0;
  virtual Expected<void> wait(size_t number) = 0;  // the host waits until it is reached
  virtual Expected<double> microseconds(size_t from, size_t to) = 0;  // both were reached

  // A batch of calls, put by `enqueue` on the stream it is given, to be replayed as one on this
  // queue. An error where something in it cannot be recorded.
  virtual Expected<std::unique_ptr<DeviceRecording>> record(
      const std::function<Expected<void>(void* stream)>& enqueue) = 0;

  // Enqueues a kernel that reads more than the L2 holds, so that nothing of the operands stays
  // there and no line of it waits to be written back.
  virtual Expected<void> flush() = 0;

  // The clock and the power between the two calls.
  virtual void start_readings() = 0;
  virtual GpuReadings stop_readings() = 0;
  // What the device is; the rates are measured elsewhere.
  virtual GpuRoofs describe() const = 0;
};

// The build's own.
Expected<std::unique_ptr<DeviceQueue>> open_built_in_queue(const Device& device);

}  // namespace nrd
