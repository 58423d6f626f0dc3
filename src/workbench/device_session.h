// SPDX-License-Identifier: MIT
// src/workbench/device_session.h: the worker of a device's backends, which race in it.
#pragma once

#include <map>

#include "workbench/device_profile.h"
#include "workbench/session.h"

namespace nrd {

class DeviceSession final : public Session {
 public:
  using Session::Session;

 private:
  std::string backend_of(const nlohmann::json& request) const override;
  nlohmann::json time(const std::string& verb, const nlohmann::json& request) override;
  nlohmann::json race(const nlohmann::json& request);
  nlohmann::json roofs(const nlohmann::json& request);
  Expected<DeviceQueue*> queue(const Device& device);

  std::map<int, std::unique_ptr<DeviceQueue>> queues_;  // by device
};

}  // namespace nrd
