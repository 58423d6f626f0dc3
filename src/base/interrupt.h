// SPDX-License-Identifier: MIT
// src/base/interrupt.h: Ctrl-C as a request to stop, so that what was measured is kept.
#pragma once

#include <csignal>

namespace nrd {

// The signals that ask a run to stop. One that the process ignores stays ignored: nohup, a job in
// the background.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

// While it lives, the first of these signals sets interrupted(), and a second one has its usual
// effect. There is one at a time.
class InterruptGuard {
 public:
  // `message` goes to standard error when the signal comes, which is before the run can stop.
  explicit InterruptGuard(const char* message = "");
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_[3];
};

bool interrupted();
// Becomes readable when interrupted() becomes true, to be waited for beside other descriptors;
// negative, which poll passes over, without a guard.
int interrupt_descriptor();

}  // namespace nrd
