// SPDX-License-Identifier: MIT
// src/workbench/device_session.h: the worker of a device's backends.
#pragma once

#include <map>

#include "workbench/device_profile.h"
#include "workbench/worker.h"

namespace nrd {

class DeviceSession final : public Session {
 public:
  explicit DeviceSession(KernelRegistry& registry) : registry_(registry) {}

 private:
  nlohmann::json answer(const std::string& verb, const nlohmann::json& request) override;
  nlohmann::json load(const nlohmann::json& request);
  nlohmann::json run_outputs();
  nlohmann::json race(const nlohmann::json& request);
  nlohmann::json roofs(const nlohmann::json& request);
  Expected<DeviceQueue*> queue(const Device& device);

  KernelRegistry& registry_;
  std::unique_ptr<Case> case_;
  KernelChoice choice_;
  std::map<int, std::unique_ptr<DeviceQueue>> queues_;  // by device
};

}  // namespace nrd
