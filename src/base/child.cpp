// SPDX-License-Identifier: MIT
// src/base/child.cpp: fork, a pipe back, and how the child ended.
#include "base/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/interrupt.h"

namespace nrd {
namespace {

using Clock = std::chrono::steady_clock;

struct SignalName {
  int number;
  std::string_view name;
};
constexpr SignalName kFatal[] = {{SIGILL, "SIGILL"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
                                 {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}};

Error system_error(const ChildWork& about, const char* call) {
  return make_error({.code = ErrorCode::kEnvironment,
                     .op = about.op,
                     .argument = call,
                     .got = std::strerror(errno)});
}

Error ended(const ChildWork& about, const std::string& how) {
  return make_error({.code = ErrorCode::kEnvironment,
                     .op = about.op,
                     .argument = fmt::format("the function {} {}", how, about.during)});
}

// The first byte of an answer: 0 in front of what the work returned, else the error's code in front
// of its message.
constexpr char kDone = 0;

std::string answer_of(const std::function<Expected<std::string>()>& work) {
  auto failed = [](ErrorCode code, const std::string& message) {
    return static_cast<char>(code) + message;
  };
  try {
    Expected<std::string> result = work();
    if (!result) return failed(result.error().code, result.error().message());
    return kDone + *result;
  } catch (const std::exception& e) {  // must not unwind into the parent's frames
    return failed(ErrorCode::kEnvironment, std::string("an exception: ") + e.what());
  }
}

// Ends the child by _exit: buffers and handlers belong to the parent.
[[noreturn]] void run_and_answer(int to, const std::function<Expected<std::string>()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent tells a crash by its signal: no handler of a sanitizer in between.
  for (const SignalName& fatal : kFatal) signal(fatal.number, SIG_DFL);
  for (int stop : kStopSignals)  // nor of the parent
    if (signal(stop, SIG_DFL) == SIG_IGN) signal(stop, SIG_IGN);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const std::string bytes = answer_of(work);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(to, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    done += static_cast<size_t>(n);
  }
  _exit(0);
}

// Everything until the child closes its end; false when the time is over or the run is to stop.
bool read_all(int from, double timeout_s, std::string& bytes) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting[2] = {{.fd = from, .events = POLLIN, .revents = 0},
                         {.fd = interrupt_descriptor(), .events = POLLIN, .revents = 0}};
    const int ready = left > 0 ? poll(waiting, 2, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || interrupted()) return false;
    char chunk[65536];
    const ssize_t n = read(from, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    bytes.append(chunk, static_cast<size_t>(n));
  }
}

}  // namespace

std::string death_text(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  std::string name = fmt::format("signal {}", number);
  for (const SignalName& fatal : kFatal)
    if (fatal.number == number) name = fatal.name;
  return fmt::format("died of {} ({})", name, strsignal(number));
}

Expected<std::string> run_in_child(const ChildWork& about,
                                   const std::function<Expected<std::string>()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error(about, "pipe");
  const pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    return system_error(about, "fork");
  }
  if (pid == 0) run_and_answer(ends[1], work);
  close(ends[1]);
  std::string bytes;
  const bool in_time = read_all(ends[0], about.timeout_s, bytes);
  close(ends[0]);
  if (!in_time) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!in_time && interrupted()) return ended(about, "was stopped");
  if (!in_time) return ended(about, fmt::format("gave no answer within {:g} s", about.timeout_s));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return ended(about, death_text(status));
  // A function that calls exit(0) ends the child before it has said anything.
  if (bytes.empty()) return ended(about, "ended the process");
  if (bytes.front() == kDone) return bytes.substr(1);
  return make_error({.code = static_cast<ErrorCode>(bytes.front()), .hint = bytes.substr(1)});
}

}  // namespace nrd
