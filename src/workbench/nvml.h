// SPDX-License-Identifier: MIT
// src/workbench/nvml.h: the clock and the power of a GPU while it works.
//
// NVML is the driver's library; it is opened at run time, and where it is not there (a container
// without it, another vendor) figures are simply not taken.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"

namespace nrd {

struct GpuReading {
  std::optional<double> sm_mhz;
  std::optional<double> watts;
  std::optional<bool> throttled;  // the clock is held down by power or heat
};

struct GpuLimits {
  std::optional<double> max_sm_mhz;
  std::optional<double> max_memory_mhz;
  std::optional<double> power_limit_watts;
  std::optional<std::string> driver;
};

class Nvml {
 public:
  // `bus_id` as CUDA gives it ("0000:3b:00.0"). The error says what is missing. `library` is
  // another one than the driver's in tests.
  static Expected<std::unique_ptr<Nvml>> open(const std::string& bus_id,
                                              const std::string& library = "libnvidia-ml.so.1");
  virtual ~Nvml() = default;
  virtual GpuReading read() const = 0;
  virtual GpuLimits limits() const = 0;
};

// The mean over the readings of a slice or a race.
class GpuReadings {
 public:
  void add(const GpuReading& reading);
  void add(const GpuReadings& others);
  GpuReading mean() const;

 private:
  double mhz_ = 0, watts_ = 0;
  int mhz_count_ = 0, watts_count_ = 0;
  std::optional<bool> throttled_;
};

// Reads every few milliseconds between start() and stop(), in a thread of its own: a reading can
// take longer than the work that is enqueued meanwhile.
class ClockLog {
 public:
  explicit ClockLog(const Nvml& nvml);
  ~ClockLog();
  void start();
  GpuReadings stop();  // those since start(); the thread sleeps again

 private:
  void read_on();

  const Nvml& nvml_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool logging_ = false, ending_ = false;
  GpuReadings readings_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace nrd
