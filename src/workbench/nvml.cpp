// SPDX-License-Identifier: MIT
// src/workbench/nvml.cpp: the few calls of NVML that are used, declared here.
#include "workbench/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>

namespace nrd {
namespace {

using Handle = struct nvmlDevice_st*;
constexpr int kSuccess = 0;
constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
// nvmlClocksEventReasons: power cap, hardware slowdown, thermal (software, hardware), power brake.
constexpr unsigned long long kHeldDown = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
constexpr unsigned kPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT: nvmlDeviceGetPowerUsage is a
                                         // mean over a second on Hopper, longer than a race

// nvmlFieldValue_t.
struct FieldValue {
  unsigned field_id;
  unsigned scope_id;
  long long timestamp;
  long long latency_us;
  int value_type;
  int status;
  union {
    double d;
    unsigned u;
    unsigned long ul;
    unsigned long long ull;
    signed long long sll;
    int s;
    unsigned short us;
  } value;
};

Error absent(const std::string& library, std::string got) {
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = library,
                     .got = std::move(got),
                     .hint = "the clock and the power of the GPU are not logged"});
}

class LoadedNvml final : public Nvml {
 public:
  Expected<void> open(const std::string& bus_id, const std::string& library) {
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays: it keeps threads
    if (library_ == nullptr) {
      const char* why = dlerror();
      return absent(library, why != nullptr ? why : "not found");
    }
    int (*init)() = nullptr;
    int (*by_bus)(const char*, Handle*) = nullptr;
    resolve("nvmlInit_v2", init);
    resolve("nvmlDeviceGetHandleByPciBusId_v2", by_bus);
    resolve("nvmlDeviceGetClockInfo", clock_);
    resolve("nvmlDeviceGetMaxClockInfo", max_clock_);
    resolve("nvmlDeviceGetPowerUsage", power_);
    resolve("nvmlDeviceGetEnforcedPowerLimit", power_limit_);
    resolve("nvmlDeviceGetFieldValues", fields_);
    resolve("nvmlDeviceGetCurrentClocksEventReasons", reasons_);
    if (reasons_ == nullptr) resolve("nvmlDeviceGetCurrentClocksThrottleReasons", reasons_);
    resolve("nvmlSystemGetDriverVersion", driver_);
    if (init == nullptr || by_bus == nullptr)
      return absent(library, "a library without nvmlInit_v2");
    if (const int code = init(); code != kSuccess)
      return absent(library, fmt::format("nvmlInit_v2: code {}", code));
    if (const int code = by_bus(bus_id.c_str(), &device_); code != kSuccess)
      return absent(library, fmt::format("no device {}: code {}", bus_id, code));
    return {};
  }

  GpuReading read() const override {
    GpuReading reading;
    unsigned mhz = 0;
    if (clock_ != nullptr && clock_(device_, kSmClock, &mhz) == kSuccess) reading.sm_mhz = mhz;
    reading.watts = watts();
    unsigned long long reasons = 0;
    if (reasons_ != nullptr && reasons_(device_, &reasons) == kSuccess)
      reading.throttled = (reasons & kHeldDown) != 0;
    return reading;
  }

  GpuLimits limits() const override {
    GpuLimits limits;
    unsigned value = 0;
    if (max_clock_ != nullptr && max_clock_(device_, kSmClock, &value) == kSuccess)
      limits.max_sm_mhz = value;
    if (max_clock_ != nullptr && max_clock_(device_, kMemoryClock, &value) == kSuccess)
      limits.max_memory_mhz = value;
    if (power_limit_ != nullptr && power_limit_(device_, &value) == kSuccess)
      limits.power_limit_watts = value * 1e-3;
    char text[128] = {};
    if (driver_ != nullptr && driver_(text, sizeof text) == kSuccess) limits.driver = text;
    return limits;
  }

 private:
  template <class Function>
  void resolve(const char* symbol, Function*& out) {
    out = reinterpret_cast<Function*>(dlsym(library_, symbol));
  }

  std::optional<double> watts() const {
    FieldValue field{};
    field.field_id = kPowerInstant;
    if (fields_ != nullptr && fields_(device_, 1, &field) == kSuccess && field.status == kSuccess &&
        field.value.u > 0)
      return field.value.u * 1e-3;
    unsigned milliwatts = 0;
    if (power_ != nullptr && power_(device_, &milliwatts) == kSuccess) return milliwatts * 1e-3;
    return std::nullopt;
  }

  void* library_ = nullptr;
  Handle device_ = nullptr;
  int (*clock_)(Handle, int, unsigned*) = nullptr;
  int (*max_clock_)(Handle, int, unsigned*) = nullptr;
  int (*power_)(Handle, unsigned*) = nullptr;
  int (*power_limit_)(Handle, unsigned*) = nullptr;
  int (*fields_)(Handle, int, FieldValue*) = nullptr;
  int (*reasons_)(Handle, unsigned long long*) = nullptr;
  int (*driver_)(char*, unsigned) = nullptr;
};

}  // namespace

Expected<std::unique_ptr<Nvml>> Nvml::open(const std::string& bus_id, const std::string& library) {
  auto loaded = std::make_unique<LoadedNvml>();
  NRD_TRY(loaded->open(bus_id, library));
  return std::unique_ptr<Nvml>(std::move(loaded));
}

void GpuReadings::add(const GpuReading& reading) {
  if (reading.sm_mhz) mhz_ += *reading.sm_mhz, mhz_count_++;
  if (reading.watts) watts_ += *reading.watts, watts_count_++;
  if (reading.throttled) throttled_ = throttled_.value_or(false) || *reading.throttled;
}

void GpuReadings::add(const GpuReadings& others) {
  mhz_ += others.mhz_;
  watts_ += others.watts_;
  mhz_count_ += others.mhz_count_;
  watts_count_ += others.watts_count_;
  if (others.throttled_) throttled_ = throttled_.value_or(false) || *others.throttled_;
}

GpuReading GpuReadings::mean() const {
  GpuReading mean;
  if (mhz_count_ > 0) mean.sm_mhz = mhz_ / mhz_count_;
  if (watts_count_ > 0) mean.watts = watts_ / watts_count_;
  mean.throttled = throttled_;
  return mean;
}

namespace {

constexpr std::chrono::milliseconds kBetweenReadings{5};

}  // namespace

ClockLog::ClockLog(const Nvml& nvml) : nvml_(nvml), thread_([this] { read_on(); }) {}

ClockLog::~ClockLog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ClockLog::read_on() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return logging_ || ending_; });
    if (ending_) return;
    lock.unlock();
    const GpuReading reading = nvml_.read();
    lock.lock();
    if (logging_) readings_.add(reading);
    changed_.wait_for(lock, kBetweenReadings, [this] { return !logging_ || ending_; });
  }
}

void ClockLog::start() {
  {
    const std::lock_guard lock(mutex_);
    readings_ = {};
    logging_ = true;
  }
  changed_.notify_one();
}

GpuReadings ClockLog::stop() {
  const std::lock_guard lock(mutex_);
  logging_ = false;
  return readings_;
}

}  // namespace nrd
