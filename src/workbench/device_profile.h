// SPDX-License-Identifier: MIT
// src/workbench/device_profile.h: DeviceProfiler: times a prepared kernel on a device.
//
// back_to_back: samples are batches of calls between two marks, enqueued ahead of the device so
// that it never waits for the host. Short calls are recorded once and replayed, so that neither the
// host's launches nor their gaps count. Sets of operands rotate, so each call finds the L2 cold.
// gapped: before each call the L2 is flushed; the call alone stands between the marks.
#pragma once

#include <string>
#include <vector>

#include "workbench/device_queue.h"
#include "workbench/profile.h"

namespace nrd {

// How many operand sets a cold case cycles through on a device with such an L2: never less than
// four, but where memory ends.
int cold_device_sets(const Case& c, double l2_bytes);

class DeviceProfiler {
 public:
  DeviceProfiler(KernelRunner& runner, DeviceQueue& queue, Regime regime)
      : runner_(runner), queue_(queue), regime_(regime) {}

  Expected<Slice> slice(double milliseconds);
  std::string timing() const;  // "events around a graph of 64 calls"
  const GpuReadings& readings() const { return readings_; }

 private:
  Expected<void> plan();
  void record();
  Expected<double> warm_call_us();
  Expected<void> enqueue_calls(int calls, void* stream);
  Expected<void> enqueue_batch();
  Expected<int> sample_batches(int batches, std::vector<double>& samples);

  KernelRunner& runner_;
  DeviceQueue& queue_;
  Regime regime_;
  int next_set_ = 0;
  int batch_ = 0;  // calls a sample; found on the first slice
  double call_us_ = 0;
  // Each a batch; together they use every set.
  std::vector<std::unique_ptr<DeviceRecording>> recordings_;
  size_t next_recording_ = 0;
  std::string not_recorded_;  // why short calls are launched one by one
  GpuReadings readings_;
};

}  // namespace nrd
