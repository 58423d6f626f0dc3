// SPDX-License-Identifier: MIT
// src/base/locks.h: the library's locks, all of which a fork leaves free.
//
// A forked child has only the thread that forked: a lock that another one held would stay taken for
// ever, and what it guards half-changed. So every lock of the library is one of these, and a fork
// takes them all, in the order below and then those of objects: it waits until nobody holds one,
// and parent and child go on with all of them free.
//
// Hence the rule: a hold is short. Who holds one takes no other (asserted in debug builds), makes
// or destroys no Mutex, runs nothing of a user's, and neither compiles, proves, packs nor logs.
#pragma once

#include <mutex>

namespace nrd {

// The locks of the process, in the order in which a fork takes them.
enum class LockName : int {
  kBackends,      // those that plug-ins added
  kOperators,     // those that users registered
  kNames,         // texts and names that outlive the call that asked for them
  kTraces,        // the catalogue's, parsed
  kOperatorCode,  // generated from traces
  kProductCode,   // generated for products
  kLifted,        // traces of users' functions
  kModules,       // the loader's list of modules: glibc leaves its lock of that taken in a child
  kImage,         // the modules of the process, for the lifter
  kSymbols,       // of generated code, for gdb
  kLog,
};
inline constexpr int kLockCount = static_cast<int>(LockName::kLog) + 1;

// Holds a lock of the process as long as it lives.
class Locked {
 public:
  explicit Locked(LockName name);
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::mutex& mutex_;
};

// Once per process, before its first fork. The library does it when it is loaded; the pool of
// threads does it too, for programs that are linked with parts of the library.
void watch_forks();

// The lock of an object that comes and goes: a context's plans, a packed matrix's forms. Used with
// std::lock_guard.
class Mutex {
 public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  void unlock();

 private:
  friend struct ForkHandlers;
  std::mutex mutex_;
  Mutex *previous_ = nullptr, *next_ = nullptr;  // all there are
};

}  // namespace nrd
