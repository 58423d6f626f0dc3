// SPDX-License-Identifier: MIT
// src/workbench/device_profile.cpp: batches between marks, ahead of the device.
#include "workbench/device_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace nrd {
namespace {

using Clock = std::chrono::steady_clock;

// Marks have a resolution of half a microsecond: 0.2 % of this.
constexpr double kBatchUs = 250;
// A launch costs the host about 4 us; calls that are not several times longer are replayed.
constexpr double kReplayedUs = 50;
constexpr int kMostCallsRecorded = 256;
constexpr int kMostRecordings = 512;
// Batches that are enqueued before the host waits. More would only delay the end of a slice.
constexpr int kAhead = 32;
constexpr double kWarmShare = 0.5;  // as on the CPU

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

int cold_device_sets(const Case& c, double l2_bytes) {
  constexpr double kMaxBytes = 12e9, kFewest = 4, kMost = 8192;
  const double bytes = std::max(256.0, cost(c.desc).bytes());
  // Three times the cache between two uses of a set: its replacement is not strictly by age.
  const double wanted = std::max(kFewest, 1 + std::ceil(3 * l2_bytes / bytes));
  const double fit = std::max(2.0, std::floor(kMaxBytes / bytes));
  return static_cast<int>(std::min({wanted, fit, kMost}));
}

Expected<void> DeviceProfiler::enqueue_calls(int calls, void* stream) {
  for (int i = 0; i < calls; i++) {
    NRD_TRY(runner_.run(next_set_, stream));
    if (++next_set_ == runner_.sets()) next_set_ = 0;
  }
  return {};
}

// The time of a call, each set once.
Expected<double> DeviceProfiler::warm_call_us() {
  const int calls = std::max(runner_.sets(), 8);
  NRD_TRY(enqueue_calls(std::min(calls, 8), queue_.stream()));
  NRD_TRY(queue_.mark(0));
  NRD_TRY(enqueue_calls(calls, queue_.stream()));
  NRD_TRY(queue_.mark(1));
  NRD_TRY(queue_.wait(1));
  Expected<double> us = queue_.microseconds(0, 1);
  if (!us) return us.error();
  return *us / calls;
}

// Short calls: as many recordings as it takes to use every set.
void DeviceProfiler::record() {
  const int recordings = std::clamp((runner_.sets() + batch_ - 1) / batch_, 1, kMostRecordings);
  for (int i = 0; i < recordings; i++) {
    Expected<std::unique_ptr<DeviceRecording>> recorded =
        queue_.record([this](void* stream) { return enqueue_calls(batch_, stream); });
    if (!recorded) {
      not_recorded_ = recorded.error().message();
      recordings_.clear();
      break;
    }
    recordings_.push_back(std::move(*recorded));
  }
}

Expected<void> DeviceProfiler::plan() {
  Expected<double> us = warm_call_us();
  if (!us) return us.error();
  call_us_ = std::max(*us, 0.1);
  if (regime_ == Regime::kGapped) {
    batch_ = 1;
    return {};
  }
  batch_ = static_cast<int>(std::ceil(kBatchUs / call_us_));
  if (call_us_ >= kReplayedUs) return {};
  batch_ = std::min(batch_, kMostCallsRecorded);
  record();
  return {};
}

Expected<void> DeviceProfiler::enqueue_batch() {
  if (recordings_.empty()) return enqueue_calls(batch_, queue_.stream());
  const DeviceRecording& recording = *recordings_[next_recording_];
  if (++next_recording_ == recordings_.size()) next_recording_ = 0;
  return recording.replay();
}

// Marks 2i and 2i + 1 stand around batch i.
Expected<int> DeviceProfiler::sample_batches(int batches, std::vector<double>& samples) {
  for (int i = 0; i < batches; i++) {
    if (regime_ == Regime::kGapped) NRD_TRY(queue_.flush());
    NRD_TRY(queue_.mark(static_cast<size_t>(2 * i)));
    NRD_TRY(enqueue_batch());
    NRD_TRY(queue_.mark(static_cast<size_t>(2 * i + 1)));
  }
  NRD_TRY(queue_.wait(static_cast<size_t>(2 * batches - 1)));
  for (int i = 0; i < batches; i++) {
    Expected<double> us =
        queue_.microseconds(static_cast<size_t>(2 * i), static_cast<size_t>(2 * i + 1));
    if (!us) return us.error();
    samples.push_back(*us / batch_);
  }
  return batches;
}

Expected<Slice> DeviceProfiler::slice(double milliseconds) {
  if (runner_.needs_restoring())
    return make_error({.code = ErrorCode::kUnsupported,
                       .argument = "timing",
                       .got = "an operator that reads its outputs",
                       .allowed = "on a device, one that only writes them"});
  if (batch_ == 0) NRD_TRY(plan());
  const double slice_us = milliseconds * 1000;
  const double batch_us = batch_ * call_us_;
  const int ahead = std::clamp(static_cast<int>(std::ceil(slice_us / 4 / batch_us)), 1, kAhead);
  std::vector<double> warm;
  for (const auto start = Clock::now(); us_since(start) < kWarmShare * slice_us;)
    if (Expected<int> done = sample_batches(ahead, warm); !done) return done.error();
  Slice slice;
  const auto begin = Clock::now();
  queue_.start_readings();
  Expected<int> done = 0;
  do {
    done = sample_batches(ahead, slice.samples_us);
  } while (done && us_since(begin) < slice_us);
  readings_.add(queue_.stop_readings());
  if (!done) return done.error();
  return slice;
}

std::string DeviceProfiler::timing() const {
  if (regime_ == Regime::kGapped) return "events around 1 launch, a flush of the L2 before it";
  if (!recordings_.empty()) return fmt::format("events around a graph of {} calls", batch_);
  const std::string launches =
      fmt::format("events around {} launch{}", batch_, batch_ == 1 ? "" : "es");
  return not_recorded_.empty() ? launches : launches + ", as no graph: " + not_recorded_;
}

}  // namespace nrd
