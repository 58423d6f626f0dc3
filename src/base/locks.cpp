// SPDX-License-Identifier: MIT
// src/base/locks.cpp: the list of locks, and what happens to them around a fork.
#include "base/locks.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cassert>

#include "base/threads.h"

namespace nrd {
namespace {

// Constant-initialised: usable before any constructor ran, and no guard for a fork to catch.
constinit std::array<std::mutex, kLockCount> g_locks{};
constinit std::mutex g_list;
constinit Mutex* g_first = nullptr;  // under g_list

constinit thread_local bool t_holds_one = false;

void note_taken() {
  assert(!t_holds_one && "who holds a lock takes no other");
  t_holds_one = true;
}

}  // namespace

struct ForkHandlers {
  static void before() {
    for (std::mutex& lock : g_locks) lock.lock();
    g_list.lock();
    for (Mutex* at = g_first; at != nullptr; at = at->next_) at->mutex_.lock();
  }
  static void after() {
    for (Mutex* at = g_first; at != nullptr; at = at->next_) at->mutex_.unlock();
    g_list.unlock();
    for (std::mutex& lock : g_locks) lock.unlock();
  }
  static void in_child() {
    after();
    forget_workers();
  }
};

[[gnu::constructor]] void watch_forks() {
  static constinit std::atomic<bool> is_watching{false};
  if (is_watching.exchange(true)) return;
  pthread_atfork(ForkHandlers::before, ForkHandlers::after, ForkHandlers::in_child);
}

Locked::Locked(LockName name) : mutex_(g_locks[static_cast<size_t>(name)]) {
  note_taken();
  mutex_.lock();
}

Locked::~Locked() {
  mutex_.unlock();
  t_holds_one = false;
}

Mutex::Mutex() {
  assert(!t_holds_one && "a lock is made while none is held");
  const std::lock_guard lock(g_list);
  next_ = g_first;
  if (next_ != nullptr) next_->previous_ = this;
  g_first = this;
}

Mutex::~Mutex() {
  assert(!t_holds_one && "a lock is destroyed while none is held");
  const std::lock_guard lock(g_list);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : g_first) = next_;
}

void Mutex::lock() {
  note_taken();
  mutex_.lock();
}

void Mutex::unlock() {
  mutex_.unlock();
  t_holds_one = false;
}

}  // namespace nrd
