// SPDX-License-Identifier: MIT
// src/base/threads.h: the one parallel_for.
//
// Workers spin at most 30 us after work, then sleep. Small work runs inline, a nested call too.
// A forked child rebuilds the pool on its first use. A caller may bring an executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace nrd {

// Runs body(context, index) for every index in [0, count), each exactly once, and returns when
// all are done. Must not throw.
using ParallelBody = void (*)(void* context, int64_t index);

class Executor {
 public:
  virtual ~Executor() = default;
  virtual int width() const = 0;
  virtual void run(int64_t count, ParallelBody body, void* context) = 0;
};

// Cores this process may use: affinity mask, cut by the cgroup's CPU quota. At least 1. Asked of
// the system once.
int available_cores();
// The CPU quota of this process's cgroup (v2 or v1) and its parents in cores, rounded up; 0 when
// there is none. `root` is "" but in tests.
int cgroup_quota(const std::string& root);
// NEREID_THREADS, else available_cores(). Asked once; does not start the pool.
int default_threads();

// The library's own pool of default_threads() threads, the caller among them, started on first
// use. One call at a time has the workers; a concurrent or nested call runs in its own thread.
Executor& default_executor();
// For locks.cpp, in a forked child: the workers exist in the parent only.
void forget_workers();

// How a call executes: how many threads, and whose; on a device, in which stream.
struct Exec {
  int threads = 1;
  Executor* executor = nullptr;  // null: the default pool
  void* stream = nullptr;        // a CUstream; null: the default one
};

// Cuts [0, count) into at most exec.threads contiguous ranges of at least `grain` and calls
// body(begin, end) for each. Which range an index falls in must not change a result.
void parallel_ranges(const Exec& exec, int64_t count, int64_t grain,
                     void (*body)(void* context, int64_t begin, int64_t end), void* context);

template <class Body>  // void(int64_t begin, int64_t end)
void parallel_for(const Exec& exec, int64_t count, int64_t grain, Body&& body) {
  parallel_ranges(
      exec, count, grain,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace nrd
