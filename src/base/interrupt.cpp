// SPDX-License-Identifier: MIT
// src/base/interrupt.cpp: a flag and a pipe that a signal handler may touch.
#include "base/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace nrd {
namespace {

std::atomic<bool> stop{false};
std::atomic<int> pipe_out{-1}, pipe_in{-1};
const char* announcement = "";

void ask_to_stop(int) {
  const int saved = errno;
  if (!stop.exchange(true)) {
    // Nothing is lost if these fail: the flag is set, and the message is a courtesy.
    [[maybe_unused]] ssize_t n = write(STDERR_FILENO, announcement, std::strlen(announcement));
    n = write(pipe_in, "", 1);
  }
  errno = saved;
}

}  // namespace

InterruptGuard::InterruptGuard(const char* message) {
  announcement = message;
  stop = false;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    pipe_out = ends[0];
    pipe_in = ends[1];
  }
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (int i = 0; i < 3; i++) {
    sigaction(kStopSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kStopSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (int i = 0; i < 3; i++) sigaction(kStopSignals[i], &before_[i], nullptr);
  close(pipe_out.exchange(-1));
  close(pipe_in.exchange(-1));
}

bool interrupted() { return stop; }
int interrupt_descriptor() { return pipe_out; }

}  // namespace nrd
