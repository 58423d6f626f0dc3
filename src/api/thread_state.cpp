// SPDX-License-Identifier: MIT
// src/api/thread_state.cpp: the life of the state.
#include "api/thread_state.h"

#include <memory>

namespace nrd {

constinit thread_local ThreadState* t_thread_state = nullptr;

namespace {

constinit thread_local bool t_has_ended = false;

// The state is reached by a plain pointer, which costs less than an object with a destructor;
// this is the object whose destructor ends it.
struct Keeper {
  std::unique_ptr<ThreadState> state = std::make_unique<ThreadState>();
  ~Keeper() {
    t_has_ended = true;
    t_thread_state = nullptr;
  }
};

}  // namespace

ThreadState* make_thread_state() {
  if (t_has_ended) return nullptr;
  thread_local Keeper keeper;
  t_thread_state = keeper.state.get();
  return t_thread_state;
}

}  // namespace nrd
