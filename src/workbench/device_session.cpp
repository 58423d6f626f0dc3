// SPDX-License-Identifier: MIT
// src/workbench/device_session.cpp: checks by backend, races of all, the roofs of the device.
#include "workbench/device_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/device.h"
#include "base/interrupt.h"
#include "workbench/device_roofs.h"
#include "workbench/stats.h"

namespace nrd {
namespace {

constexpr int kFewestRounds = 3;
// A race is over early when more rounds would not change its medians: half of a racer's slices lie
// within this share of their median.
constexpr int kFewestSteadyRounds = 6;
constexpr double kSteady = 0.002;

nlohmann::json or_null(std::optional<double> value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// One backend in a race.
class Racer {
 public:
  Racer(std::string backend, const KernelChoice& choice, const Case& c, DeviceQueue& queue)
      : backend_(std::move(backend)) {
    const bool cold = c.spec.cache == CacheState::kCold;
    const int sets = cold ? cold_device_sets(c, queue.describe().facts.l2_bytes) : 1;
    Expected<KernelRunner> runner = KernelRunner::create(choice, c, MemoryMode::kTimed, sets);
    if (!runner) {
      failure_ = runner.error();
      return;
    }
    runner_ = std::make_unique<KernelRunner>(std::move(*runner));
    profiler_ = std::make_unique<DeviceProfiler>(*runner_, queue, c.spec.regime);
  }

  const std::string& backend() const { return backend_; }
  bool running() const { return !failure_; }
  bool is_steady() const {
    return failure_ ||
           percentile(slices_, 0.75) - percentile(slices_, 0.25) <= kSteady * median(slices_);
  }

  void slice(double milliseconds) {
    Expected<Slice> slice = profiler_->slice(milliseconds);
    if (!slice) {
      failure_ = slice.error();
      return;
    }
    slices_.push_back(median(slice->samples_us));
    samples_.insert(samples_.end(), slice->samples_us.begin(), slice->samples_us.end());
  }

  nlohmann::json reply() const {
    if (failure_) return failed_reply(*failure_);
    const GpuReading reading = profiler_->readings().mean();
    return {{"ok", true},
            {"slices", slices_},
            {"samples", thinned_samples(samples_)},
            {"prepare_us", runner_->prepare_us()},
            {"workspace_bytes", runner_->workspace_bytes()},
            {"peak_bytes", static_cast<double>(runner_->operand_bytes()) * runner_->sets() +
                               static_cast<double>(runner_->workspace_bytes())},
            {"note", runner_->note()},
            {"timing", profiler_->timing()},
            {"sm_mhz", or_null(reading.sm_mhz)},
            {"watts", or_null(reading.watts)},
            {"throttled",
             reading.throttled ? nlohmann::json(*reading.throttled) : nlohmann::json(nullptr)}};
  }

 private:
  std::string backend_;
  std::unique_ptr<KernelRunner> runner_;
  std::unique_ptr<DeviceProfiler> profiler_;
  std::optional<Error> failure_;
  std::vector<double> slices_, samples_;
};

}  // namespace

std::string DeviceSession::backend_of(const nlohmann::json& request) const {
  return request.at("backend");
}

nlohmann::json DeviceSession::time(const std::string& verb, const nlohmann::json& request) {
  if (verb == "race") return race(request);
  if (verb == "roofs") return roofs(request);
  return unknown_request(verb, "race, roofs");
}

Expected<DeviceQueue*> DeviceSession::queue(const Device& device) {
  auto found = queues_.find(device.index);
  if (found != queues_.end()) return found->second.get();
  Expected<std::unique_ptr<DeviceQueue>> opened = DeviceQueue::open(device);
  if (!opened) return opened.error();
  return (queues_[device.index] = std::move(*opened)).get();
}

nlohmann::json DeviceSession::race(const nlohmann::json& request) {
  Expected<Case> c = make_case(case_spec_from_json(request.at("case")));
  if (!c) return failed_reply(c.error());
  Expected<DeviceQueue*> queue = this->queue(c->desc.device);
  if (!queue) return failed_reply(queue.error());
  std::vector<Racer> racers;
  nlohmann::json rows = nlohmann::json::object();
  for (const std::string name : request.at("backends")) {
    Expected<KernelChoice> choice = registry_.select(name, c->desc);
    if (choice)
      racers.emplace_back(name, *choice, *c, **queue);
    else
      rows[name] = failed_reply(choice.error());
  }
  const int rounds = request.at("rounds");
  const double milliseconds = request.at("ms");
  const auto budget = std::chrono::duration<double>(request.at("seconds").get<double>() *
                                                    static_cast<double>(racers.size()));
  const auto start = std::chrono::steady_clock::now();
  bool in_time = true;
  for (int round = 0; round < rounds; round++) {
    in_time = !interrupted() &&
              (round < kFewestRounds || std::chrono::steady_clock::now() - start <= budget);
    if (!in_time) break;
    if (round >= kFewestSteadyRounds &&
        std::all_of(racers.begin(), racers.end(), [](const Racer& r) { return r.is_steady(); }))
      break;
    for (Racer& racer : racers)
      if (racer.running()) racer.slice(milliseconds);
  }
  for (const Racer& racer : racers) rows[racer.backend()] = racer.reply();
  return {{"ok", true}, {"rows", rows}, {"in_time", in_time}};
}

nlohmann::json DeviceSession::roofs(const nlohmann::json& request) {
  Expected<Device> device = parse_device(request.at("device").get<std::string>());
  if (!device) return failed_reply(device.error());
  Expected<DeviceQueue*> queue = this->queue(*device);
  if (!queue) return failed_reply(queue.error());
  Expected<GpuRoofs> measured = measure_roofs(registry_, *device, **queue);
  if (!measured) return failed_reply(measured.error());
  return {{"ok", true}, {"roofs", to_json(*measured)}};
}

}  // namespace nrd
