// SPDX-License-Identifier: MIT
// src/workbench/worker_session.cpp: what a worker does with a request.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/interrupt.h"
#include "workbench/device_session.h"
#include "workbench/json_fields.h"
#include "workbench/stats.h"
#include "workbench/worker.h"

namespace nrd {
namespace {

constexpr int kRequests = 3, kReplies = 4, kOutputs = 5;
constexpr size_t kSamplesInReply = 200;
// Up to here every slice gets fresh memory. Where its pages lie physically makes the same code up
// to a tenth faster or slower, the same all through a process; a ratio must have seen several
// such throws. Larger operands average over many pages, and take long to fill.
constexpr size_t kRenewedBytes = size_t{4} << 20;

// The kernel counts the peak from here on.
void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024;
  return 0;
}

}  // namespace

nlohmann::json failed_reply(const Error& error) {
  return {{"ok", false}, {"code", static_cast<int>(error.code)}, {"reason", error.message()}};
}

nlohmann::json outputs_reply(const RunOutputs& ran, const std::vector<Output>& outputs) {
  nlohmann::json sizes = nlohmann::json::array();
  for (const Output& output : outputs)
    sizes.push_back({{"operand", output.operand}, {"bytes", output.data.size()}});
  return {{"ok", true}, {"unwritten", ran.unwritten}, {"damaged", ran.damaged}, {"outputs", sizes}};
}

// Every n-th of the sorted samples: enough for percentiles over all slices.
std::vector<double> thinned_samples(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  if (samples.size() <= kSamplesInReply) return samples;
  std::vector<double> kept;
  for (size_t i = 0; i < kSamplesInReply; i++)
    kept.push_back(samples[i * (samples.size() - 1) / (kSamplesInReply - 1)]);
  return kept;
}

nlohmann::json Session::handle(const nlohmann::json& request) {
  auto thrown = [](const std::string& what) {
    return failed_reply(make_error(
        {.code = ErrorCode::kEnvironment, .op = "worker", .got = "an exception: " + what}));
  };
  try {
    return answer(request.at("do"), request);
  } catch (const std::exception& e) {  // a peer or a plug-in that throws; bad_alloc
    return thrown(e.what());
  } catch (...) {
    return thrown("of unknown type");
  }
}

nlohmann::json WorkerSession::answer(const std::string& verb, const nlohmann::json& request) {
  if (verb == "load") return load(request);
  if (verb == "outputs") return run_outputs();
  if (verb == "slice") return slice(request);
  return failed_reply(make_error({.code = ErrorCode::kInternal,
                                  .argument = "request",
                                  .got = fmt::format("'{}'", verb),
                                  .allowed = "load, outputs, slice"}));
}

nlohmann::json WorkerSession::load(const nlohmann::json& request) {
  profiler_.reset();
  runner_.reset();
  outputs_.clear();
  reset_peak_memory();
  Expected<Case> c = make_case(case_spec_from_json(request.at("case")));
  if (!c) return failed_reply(c.error());
  case_ = std::make_unique<Case>(std::move(*c));
  Expected<KernelChoice> choice = registry_.select(backend_, case_->desc);
  if (!choice) return failed_reply(choice.error());
  choice_ = *choice;
  return {{"ok", true},
          {"kernel", choice_.kernel->name()},
          {"isa", choice_.kernel->isa()},
          {"numerics", choice_.kernel->numerics(case_->desc)}};
}

nlohmann::json WorkerSession::run_outputs() {
  Expected<KernelRunner> runner = KernelRunner::create(choice_, *case_, MemoryMode::kGuarded);
  if (!runner) return failed_reply(runner.error());
  Expected<RunOutputs> ran = runner->run_checked();
  if (!ran) return failed_reply(ran.error());
  outputs_ = std::move(ran->outputs);
  return outputs_reply(*ran, outputs_);
}

Expected<void> WorkerSession::renew_runner() {
  const bool cold = case_->spec.cache == CacheState::kCold;
  const int sets =
      cold ? cold_sets(*case_, last_level_cache_bytes(registry_.machine().profile)) : 1;
  Expected<KernelRunner> runner = KernelRunner::create(choice_, *case_, MemoryMode::kTimed, sets);
  if (!runner) return runner.error();
  // The old memory is given back only now, so that the new one lies elsewhere.
  runner_ = std::make_unique<KernelRunner>(std::move(*runner));
  profiler_ = std::make_unique<Profiler>(*runner_, cold);
  return {};
}

nlohmann::json WorkerSession::slice(const nlohmann::json& request) {
  const bool small = runner_ && runner_->sets() == 1 && runner_->operand_bytes() <= kRenewedBytes;
  if (!runner_ || small)
    if (Expected<void> renewed = renew_runner(); !renewed) return failed_reply(renewed.error());
  Expected<Slice> slice = profiler_->slice(request.at("ms"));
  if (!slice) return failed_reply(slice.error());
  return {{"ok", true},
          {"median", median(slice->samples_us)},
          {"samples", thinned_samples(slice->samples_us)},
          {"prepare_us", runner_->prepare_us()},
          {"workspace_bytes", runner_->workspace_bytes()},
          {"peak_bytes", peak_memory_bytes()},
          {"note", runner_->note()}};
}

namespace {

bool write_all(int fd, const char* data, size_t bytes) {
  while (bytes > 0) {
    ssize_t n = write(fd, data, bytes);
    if (n <= 0) return false;
    data += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool send_outputs(const std::vector<Output>& outputs) {
  if (ftruncate(kOutputs, 0) != 0 || lseek(kOutputs, 0, SEEK_SET) != 0) return false;
  for (const Output& output : outputs)
    if (!write_all(kOutputs, output.data.data(), output.data.size())) return false;
  return true;
}

}  // namespace

namespace {

// A session, and what the worker says of it first.
struct Started {
  std::unique_ptr<Session> session;
  nlohmann::json greeting;
};

Started start_one(KernelRegistry& registry, const std::string& backend) {
  Expected<Backend*> found = registry.find_backend(backend);
  Expected<void> loaded = found ? (*found)->load() : Expected<void>(found.error());
  if (!loaded) return {nullptr, failed_reply(loaded.error())};
  nlohmann::json greeting = {{"ok", true}, {"version", (*found)->version()}};
  if ((*found)->runs_on(DeviceKind::kCuda))
    return {std::make_unique<DeviceSession>(registry), std::move(greeting)};
  return {std::make_unique<WorkerSession>(registry, backend), std::move(greeting)};
}

Started start_shared(KernelRegistry& registry, const std::string& backends) {
  nlohmann::json absent = nlohmann::json::object();
  std::istringstream names(backends);
  for (std::string name; std::getline(names, name, ',');) {
    Expected<Backend*> found = registry.find_backend(name);
    Expected<void> loaded = found ? (*found)->load() : Expected<void>(found.error());
    if (!loaded) absent[name] = loaded.error().message();
  }
  return {std::make_unique<DeviceSession>(registry), {{"ok", true}, {"absent", absent}}};
}

}  // namespace

int worker_main(KernelRegistry& registry, const std::string& backends, bool shared) {
  FILE* requests = fdopen(kRequests, "r");
  if (!requests || lseek(kOutputs, 0, SEEK_SET) != 0) {
    std::cerr << "nereid worker: it is started by `nereid bench`, not by hand\n";
    return 2;
  }
  auto reply = [](const nlohmann::json& json) {
    const std::string line = dump_line(json) + "\n";  // a peer's words may be in any encoding
    return write_all(kReplies, line.data(), line.size());
  };
  Started started = shared ? start_shared(registry, backends) : start_one(registry, backends);
  // The supervisor tells a crash by its signal: no handler of a sanitizer or a peer in between.
  for (int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) signal(fatal, SIG_DFL);
  // A race ends after the round in which its supervisor asks for that.
  std::optional<InterruptGuard> guard;
  if (shared) guard.emplace();
  if (!reply(started.greeting)) return 1;
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, requests) > 0) {
    if (!started.session) break;
    nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
    nlohmann::json answer = started.session->handle(request);
    if (answer.value("ok", false) && request.value("do", "") == "outputs" &&
        !send_outputs(started.session->outputs()))
      answer = failed_reply(make_error({.code = ErrorCode::kEnvironment,
                                        .argument = "outputs",
                                        .got = "a file that could not be written"}));
    if (!reply(answer)) break;
  }
  std::free(line);
  return 0;
}

}  // namespace nrd
