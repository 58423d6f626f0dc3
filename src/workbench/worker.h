// SPDX-License-Identifier: MIT
// src/workbench/worker.h: one backend in a process of its own.
//
// What is said between them: session.h. A worker that crashes, hangs or dies of SIGILL is one
// failed row for the supervisor, which starts another.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workbench/session.h"

namespace nrd {

struct WorkerOptions {
  std::string program = "/proc/self/exe";  // a nereid binary
  std::vector<std::string> plugins;
  std::vector<std::string> user_ops;  // as parse_library_function reads them
  std::string prove = "child";        // --prove, for these
  double timeout_s = 120;
  bool in_process = false;
};

// The supervisor's end of one worker.
class Worker {
 public:
  // Starts it with the backend's environment; the error is the backend's reason not to load.
  static Expected<std::unique_ptr<Worker>> start(KernelRegistry& registry, Backend& backend,
                                                 const WorkerOptions& options);
  // One for several backends of a device.
  static Expected<std::unique_ptr<Worker>> start_shared(KernelRegistry& registry,
                                                        const std::vector<Backend*>& backends,
                                                        const WorkerOptions& options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The reply, or an error when the kernel refused, the worker died or took too long.
  Expected<nlohmann::json> request(const nlohmann::json& request);
  // The outputs of the last "outputs" request.
  Expected<std::vector<Output>> outputs(const nlohmann::json& reply);
  bool alive() const { return session_ != nullptr || pid_ > 0; }
  pid_t pid() const { return pid_; }
  const std::string& version() const { return version_; }  // of the backend
  // Of a shared worker: why it does without this backend.
  std::optional<Error> absent(const std::string& backend) const;

 private:
  Worker() = default;
  Expected<void> spawn(std::vector<std::string> arguments,
                       const std::vector<EnvSetting>& environment);
  Expected<nlohmann::json> greeting();
  Expected<std::string> read_line();
  Error death(const std::string& during);

  WorkerOptions options_;
  std::string backend_, version_;
  pid_t pid_ = 0;
  bool shared_ = false;  // holds the backends of a device
  int to_ = -1, from_ = -1, file_ = -1;
  std::string buffered_;
  std::map<std::string, Error> absent_;
  std::unique_ptr<Session> session_;  // in process
};

// Lets the process's main thread run on one of its cores only, the turn-th, while this lives: a
// worker that sleeps between slices would else keep waking on "its" core, and on a shared machine
// cores differ. Does nothing for pid 0.
class CoreTurn {
 public:
  CoreTurn(pid_t pid, int turn);
  ~CoreTurn();
  CoreTurn(const CoreTurn&) = delete;
  CoreTurn& operator=(const CoreTurn&) = delete;

 private:
  pid_t pid_;
  cpu_set_t all_;
};

// Waits until no thread of the process runs (a peer's threads may spin after a call), at most
// a tenth of a second.
void wait_until_idle(pid_t pid);

}  // namespace nrd
