// SPDX-License-Identifier: MIT
// src/api/thread_state.h: what a thread keeps between calls: plans it ran, backends it pushed.
#pragma once

#include <string>
#include <vector>

#include "api/recent_plans.h"

namespace nrd {

struct ThreadState {
  RecentPlans plans;
  std::vector<std::string> backends;  // pushed, innermost last
  // Calls in progress: a caller's parallel_for may call an operator from inside one. Such a call
  // must not take the place of the plan that is running.
  int depth = 0;
};

extern constinit thread_local ThreadState* t_thread_state;
ThreadState* make_thread_state();

// Null only at the end of a thread, after its state went.
inline ThreadState* thread_state() { return t_thread_state ? t_thread_state : make_thread_state(); }

}  // namespace nrd
