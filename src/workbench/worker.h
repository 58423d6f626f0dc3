// SPDX-License-Identifier: MIT
// src/workbench/worker.h: one backend in a process of its own.
//
// The supervisor sends one JSON object a line and gets one back:
//   {"do": "load", "case": {...}}  makes inputs, prepares the kernel
//   {"do": "outputs"}              runs it on guarded, poisoned memory; outputs go to a shared file
//   {"do": "slice", "ms": 20}      warms up and samples
// A worker of a device's backends is asked with a "backend" too, and times them in one go:
//   {"do": "race", "case": {...}, "backends": [...], "rounds": 10, "ms": 20}
//   {"do": "roofs", "device": "cuda:0"}   what streams and a large product reach there
// A reply has "ok", and when that is false "code" and "reason". A worker that crashes, hangs or
// dies of SIGILL is one failed row for the supervisor, which starts another.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workbench/profile.h"

namespace nrd {

// Answers the requests; lives in the worker, or in the supervisor with --in-process.
class Session {
 public:
  virtual ~Session() = default;
  // Nothing that is thrown below gets out.
  nlohmann::json handle(const nlohmann::json& request);
  const std::vector<Output>& outputs() const { return outputs_; }

 protected:
  virtual nlohmann::json answer(const std::string& verb, const nlohmann::json& request) = 0;
  std::vector<Output> outputs_;
};

// One backend on the CPU.
class WorkerSession final : public Session {
 public:
  WorkerSession(KernelRegistry& registry, std::string backend)
      : registry_(registry), backend_(std::move(backend)) {}

 private:
  nlohmann::json answer(const std::string& verb, const nlohmann::json& request) override;
  nlohmann::json load(const nlohmann::json& request);
  nlohmann::json run_outputs();
  nlohmann::json slice(const nlohmann::json& request);
  Expected<void> renew_runner();

  KernelRegistry& registry_;
  std::string backend_;
  std::unique_ptr<Case> case_;
  KernelChoice choice_;
  std::unique_ptr<KernelRunner> runner_;  // made on the first slice; checks have their own
  std::unique_ptr<Profiler> profiler_;
};

// What both kinds of session say.
nlohmann::json failed_reply(const Error& error);
Error error_of_reply(const nlohmann::json& reply);  // what a reply without "ok" says
nlohmann::json outputs_reply(const RunOutputs& ran, const std::vector<Output>& outputs);
std::vector<double> thinned_samples(std::vector<double> samples);

// The worker's main: requests on descriptor 3, replies on 4, outputs into the file at 5. `shared`:
// the backends of a device, a list; those that cannot be loaded are told and left out.
int worker_main(KernelRegistry& registry, const std::string& backends, bool shared);

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
