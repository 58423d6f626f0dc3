// SPDX-License-Identifier: MIT
// src/workbench/worker.cpp: starting, asking and burying workers.
#include "workbench/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/child.h"
#include "base/interrupt.h"
#include "workbench/device_session.h"
#include "workbench/json_fields.h"

extern char** environ;

namespace nrd {
namespace {

Error system_error(const std::string& call) {
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = "worker",
                     .got = fmt::format("{}: {}", call, std::strerror(errno))});
}

// The environment of the worker: ours, and the backend's best settings where the user has not set
// the same variable. Plug-ins are handed over as arguments, not twice.
std::vector<std::string> worker_environment(const std::vector<EnvSetting>& settings) {
  std::vector<std::string> list;
  for (char** e = environ; *e; e++)
    if (!std::string_view(*e).starts_with("NEREID_PLUGINS=")) list.emplace_back(*e);
  for (const EnvSetting& s : settings) {
    bool set = false;
    for (const std::string& e : list) set = set || e.starts_with(s.name + "=");
    if (!set) list.push_back(s.name + "=" + s.value);
  }
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& s : strings) list.push_back(s.data());
  list.push_back(nullptr);
  return list;
}

// How long a worker may go on with what it does when the run is to stop: a slice ends in time, and
// is kept.
constexpr double kGraceSeconds = 2;

// In the child: only calls that are safe after fork.
[[noreturn]] void exec_worker(pid_t supervisor, int requests, int replies, int outputs,
                              const char* program, char* const* arguments,
                              char* const* environment) {
  // It ends with its supervisor, however that ends, and Ctrl-C is the supervisor's business.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(127);
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  // Move our ends out of the way first: one of them may sit on 3, 4 or 5.
  int high[3] = {fcntl(requests, F_DUPFD, 10), fcntl(replies, F_DUPFD, 10),
                 fcntl(outputs, F_DUPFD, 10)};
  for (int i = 0; i < 3; i++) dup2(high[i], 3 + i);
  for (int fd = 6; fd < 256; fd++) close(fd);
  execve(program, arguments, environment);
  _exit(127);
}

}  // namespace

Expected<void> Worker::spawn(std::vector<std::string> arguments,
                             const std::vector<EnvSetting>& settings) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) return system_error("pipe");
  file_ = memfd_create("nereid-outputs", MFD_CLOEXEC);
  if (file_ < 0) return system_error("memfd_create");
  for (const std::string& plugin : options_.plugins) {
    arguments.push_back("--plugin");
    arguments.push_back(plugin);
  }
  for (const std::string& op : options_.user_ops) {
    arguments.push_back("--op");
    arguments.push_back(op);
  }
  arguments.insert(arguments.end(), {"--prove", options_.prove});
  std::vector<std::string> environment = worker_environment(settings);
  std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  signal(SIGPIPE, SIG_IGN);  // a dead worker is an error value
  const pid_t supervisor = getpid();
  pid_ = fork();
  if (pid_ < 0) return system_error("fork");
  if (pid_ == 0)
    exec_worker(supervisor, to[0], from[1], file_, options_.program.c_str(), argv.data(),
                envp.data());
  close(to[0]);
  close(from[1]);
  to_ = to[1];
  from_ = from[0];
  return {};
}

Expected<std::unique_ptr<Worker>> Worker::start(KernelRegistry& registry, Backend& backend,
                                                const WorkerOptions& options) {
  std::unique_ptr<Worker> worker(new Worker);
  worker->options_ = options;
  worker->backend_ = backend.name();
  if (options.in_process) {
    NRD_TRY(backend.load());
    worker->version_ = backend.version();
    worker->session_ = std::make_unique<WorkerSession>(registry, backend.name());
    return worker;
  }
  NRD_TRY(worker->spawn({"nereid", "worker", "--backend", backend.name()},
                        backend.environment(registry.machine().profile)));
  Expected<nlohmann::json> reply = worker->greeting();
  if (!reply) return reply.error();
  worker->version_ = reply->value("version", "");
  return worker;
}

// What a worker says when it starts; the error is its reason not to.
Expected<nlohmann::json> Worker::greeting() {
  Expected<std::string> hello = read_line();
  if (!hello) return hello.error();
  nlohmann::json reply = nlohmann::json::parse(*hello, nullptr, false);
  if (reply.is_object() && reply.value("ok", false)) return reply;
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = "backend " + backend_,
                     .hint = reply.is_object() ? reply.value("reason", "did not start")
                                               : "answered with no JSON: " + *hello});
}

Expected<std::unique_ptr<Worker>> Worker::start_shared(KernelRegistry& registry,
                                                       const std::vector<Backend*>& backends,
                                                       const WorkerOptions& options) {
  std::unique_ptr<Worker> worker(new Worker);
  worker->options_ = options;
  std::vector<std::string> names;
  std::vector<EnvSetting> settings;
  for (Backend* backend : backends) {
    names.push_back(backend->name());
    for (EnvSetting& s : backend->environment(registry.machine().profile))
      settings.push_back(std::move(s));
  }
  worker->backend_ = fmt::format("{}", fmt::join(names, ","));
  if (options.in_process) {
    for (Backend* backend : backends)
      if (Expected<void> loaded = backend->load(); !loaded)
        worker->absent_.emplace(backend->name(), loaded.error());
    worker->session_ = std::make_unique<DeviceSession>(registry);
    return worker;
  }
  worker->shared_ = true;
  NRD_TRY(worker->spawn({"nereid", "worker", "--shared", "--backend", worker->backend_}, settings));
  Expected<nlohmann::json> reply = worker->greeting();
  if (!reply) return reply.error();
  for (const auto& [name, reason] : reply->at("absent").items())
    worker->absent_.emplace(name, make_error({.code = ErrorCode::kEnvironment,
                                              .argument = "backend " + name,
                                              .hint = reason.get<std::string>()}));
  return worker;
}

std::optional<Error> Worker::absent(const std::string& backend) const {
  auto found = absent_.find(backend);
  if (found == absent_.end()) return std::nullopt;
  return found->second;
}

Worker::~Worker() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  if (file_ >= 0) close(file_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);  // it holds nothing that outlives it
    waitpid(pid_, nullptr, 0);
  }
}

// Called when the pipe closed or the time is over: says how the worker ended.
Error Worker::death(const std::string& during) {
  std::string how = during;
  int status = 0;
  if (pid_ > 0) {
    if (!during.empty()) kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
    pid_ = 0;
    if (how.empty()) how = death_text(status);
  }
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = "backend " + backend_,
                     .hint = "its worker " + how});
}

Expected<std::string> Worker::read_line() {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const auto start = Clock::now();
  double limit = options_.timeout_s;
  bool told = false;  // to come to an end
  while (true) {
    if (size_t end = buffered_.find('\n'); end != buffered_.npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      return line;
    }
    if (interrupted() && !told) {
      told = true;
      limit = std::min(limit, Seconds(Clock::now() - start).count() + kGraceSeconds);
      if (shared_) kill(pid_, SIGTERM);  // ends its race after this round
    }
    const double left = std::clamp(limit - Seconds(Clock::now() - start).count(), 0.0, 1e6);
    // Whoever was told already need not be woken by it again.
    pollfd waiting[2] = {
        {.fd = from_, .events = POLLIN, .revents = 0},
        {.fd = told ? -1 : interrupt_descriptor(), .events = POLLIN, .revents = 0}};
    const int ready = poll(waiting, 2, static_cast<int>(left * 1e3));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 && left > 0) continue;
    if (ready <= 0)
      return death(told ? "was stopped"
                        : fmt::format("gave no answer within {:g} s", options_.timeout_s));
    if (waiting[0].revents == 0) continue;
    char chunk[65536];
    const ssize_t n = read(from_, chunk, sizeof chunk);
    if (n <= 0) return death("");
    buffered_.append(chunk, static_cast<size_t>(n));
  }
}

Expected<nlohmann::json> Worker::request(const nlohmann::json& request) {
  nlohmann::json reply;
  if (session_) {
    reply = session_->handle(request);
  } else {
    const std::string line = request.dump() + "\n";
    if (write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return death("");
    Expected<std::string> answer = read_line();
    if (!answer) return answer.error();
    reply = nlohmann::json::parse(*answer, nullptr, false);
  }
  if (reply.is_object() && reply.value("ok", false)) return reply;
  if (reply.is_object()) return error_of_reply(reply);
  return make_error({.code = ErrorCode::kInternal,
                     .argument = "backend " + backend_,
                     .hint = "its worker answered with no JSON"});
}

Expected<std::vector<Output>> Worker::outputs(const nlohmann::json& reply) {
  if (session_) return session_->outputs();
  std::vector<Output> outputs;
  off_t offset = 0;
  for (const nlohmann::json& item : reply.at("outputs")) {
    Output output{.operand = item.at("operand").get<size_t>(), .data = {}};
    output.data.resize(item.at("bytes").get<size_t>());
    size_t done = 0;
    while (done < output.data.size()) {
      const ssize_t n = pread(file_, output.data.data() + done, output.data.size() - done,
                              offset + static_cast<off_t>(done));
      if (n <= 0) return system_error("reading the outputs");
      done += static_cast<size_t>(n);
    }
    offset += static_cast<off_t>(output.data.size());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

CoreTurn::CoreTurn(pid_t pid, int turn) : pid_(pid) {
  if (pid_ <= 0 || sched_getaffinity(pid_, sizeof all_, &all_) != 0) {
    pid_ = 0;
    return;
  }
  int skip = turn % CPU_COUNT(&all_);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all_) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(pid_, sizeof one, &one);
    return;
  }
}

CoreTurn::~CoreTurn() {
  if (pid_ > 0) sched_setaffinity(pid_, sizeof all_, &all_);
}

void wait_until_idle(pid_t pid) {
  using namespace std::chrono_literals;
  if (pid <= 0) return;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (int attempt = 0; attempt < 50; attempt++) {
    bool running = false;
    std::error_code ignored;
    for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
      std::ifstream stat(task.path() / "stat");
      std::string text((std::istreambuf_iterator<char>(stat)), {});
      const size_t name_end = text.rfind(')');  // the name may hold anything, blanks too
      running = running || (name_end + 2 < text.size() && text[name_end + 2] == 'R');
    }
    if (!running) return;
    std::this_thread::sleep_for(2ms);
  }
}

}  // namespace nrd
