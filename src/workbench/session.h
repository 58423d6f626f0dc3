// SPDX-License-Identifier: MIT
// src/workbench/session.h: what a worker does: loads a case, runs it for a check, times it.
//
// The supervisor sends one JSON object a line and gets one back:
//   {"do": "load", "case": {...}}  chooses the kernel
//   {"do": "outputs"}              runs it on guarded, poisoned memory; outputs go to a shared file
//   {"do": "slice", "ms": 20}      warms up and samples
// A worker of a device's backends is asked with a "backend" too, and times them in one go:
//   {"do": "race", "case": {...}, "backends": [...], "rounds": 10, "ms": 20}
//   {"do": "roofs", "device": "cuda:0"}   what streams and a large product reach there
// A reply has "ok", and when that is false "code" and "reason".
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "workbench/profile.h"

namespace nrd {

// Answers the requests; lives in the worker, or in the supervisor with --in-process. What is common
// to all devices; how calls are timed is not.
class Session {
 public:
  explicit Session(KernelRegistry& registry) : registry_(registry) {}
  virtual ~Session() = default;
  // Nothing that is thrown below gets out.
  nlohmann::json handle(const nlohmann::json& request);
  const std::vector<Output>& outputs() const { return outputs_; }

 protected:
  // Whose kernel a load is about.
  virtual std::string backend_of(const nlohmann::json& request) const = 0;
  // The requests that time something.
  virtual nlohmann::json time(const std::string& verb, const nlohmann::json& request) = 0;
  // Before another case is loaded.
  virtual void forget() {}

  KernelRegistry& registry_;
  std::unique_ptr<Case> case_;  // the one that is loaded
  KernelChoice choice_;

 private:
  nlohmann::json load(const nlohmann::json& request);
  nlohmann::json run_outputs();
  std::vector<Output> outputs_;
};

// One backend on the CPU: slices, one at a time.
class WorkerSession final : public Session {
 public:
  WorkerSession(KernelRegistry& registry, std::string backend)
      : Session(registry), backend_(std::move(backend)) {}

 private:
  std::string backend_of(const nlohmann::json&) const override { return backend_; }
  nlohmann::json time(const std::string& verb, const nlohmann::json& request) override;
  void forget() override;
  nlohmann::json slice(const nlohmann::json& request);
  Expected<void> renew_runner();

  std::string backend_;
  std::unique_ptr<KernelRunner> runner_;  // made on the first slice; checks have their own
  std::unique_ptr<Profiler> profiler_;
};

nlohmann::json failed_reply(const Error& error);
Error error_of_reply(const nlohmann::json& reply);  // what a reply without "ok" says
nlohmann::json unknown_request(const std::string& verb, const std::string& allowed);
std::vector<double> thinned_samples(std::vector<double> samples);

// The worker's main: requests on descriptor 3, replies on 4, outputs into the file at 5. `shared`:
// the backends of a device, a list; those that cannot be loaded are told and left out.
int worker_main(KernelRegistry& registry, const std::string& backends, bool shared);

}  // namespace nrd
