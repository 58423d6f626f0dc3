// SPDX-License-Identifier: MIT
// src/workbench/worker_main.cpp: the loop of a worker: a line in, a line out.
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/interrupt.h"
#include "workbench/device_session.h"
#include "workbench/json_fields.h"
#include "workbench/session.h"

namespace nrd {
namespace {

constexpr int kRequests = 3, kReplies = 4, kOutputs = 5;

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
